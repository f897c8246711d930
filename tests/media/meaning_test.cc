// SPDX-License-Identifier: BSD-2-Clause-Patent
// What two sides mean: every rule, on formats alone. tests/cli/meaning_test.cc runs the rules on files.
#include "media/meaning.h"

#include <gtest/gtest.h>

#include "media/encode.h"

namespace acuity::tests {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

testing::AssertionResult lists(const std::vector<std::string>& list, const std::string& part) {
  std::string all;
  for (const std::string& text : list) {
    if (contains(text, part)) return testing::AssertionSuccess();
    all += "\n  " + text;
  }
  return testing::AssertionFailure() << "'" << part << "' is not in" << all;
}

VideoFormat video(int width = 320, int height = 180) {
  VideoFormat format;
  format.width = width;
  format.height = height;
  format.colour.transfer = Transfer::bt1886;
  format.matrix = width >= 1280 ? Matrix::bt709 : Matrix::bt601;
  return format;
}

VideoFormat tagged_video() {
  VideoFormat format = video();
  format.matrix = Matrix::bt709;
  format.says = {true, true, true, true, true};
  return format;
}

VideoFormat rgb_video() {
  VideoFormat format;
  format.width = 320;
  format.height = 180;
  format.rgb = format.full_range = true;
  return format;
}

VideoFormat picture(bool says = false) {
  VideoFormat format = rgb_video();
  format.still = true;
  format.says.transfer = format.says.primaries = says;
  return format;
}

VideoFormat with(VideoFormat format, Transfer transfer, Primaries primaries = Primaries::bt709) {
  format.colour.transfer = transfer;
  format.colour.primaries = primaries;
  format.says.transfer = format.says.primaries = true;
  return format;
}

PairMeaning settled(const VideoFormat& a, const VideoFormat& b, const MeaningOptions& options = {}) {
  const Result<PairMeaning> meaning = settle_meaning({"a", a}, {"b", b}, options);
  EXPECT_TRUE(meaning.ok()) << meaning.status().message();
  return meaning.ok() ? *meaning : PairMeaning{};
}

std::string refusal(const VideoFormat& a, const VideoFormat& b, const MeaningOptions& options = {}) {
  const Result<PairMeaning> meaning = settle_meaning({"a", a}, {"b", b}, options);
  EXPECT_FALSE(meaning.ok());
  return meaning.status().message();
}

TEST(Meaning, ASideThatDoesNotSayTakesWhatTheOtherSays) {
  VideoFormat says = tagged_video();
  says.full_range = true;
  says.siting = Siting::top_left;
  const PairMeaning meaning = settled(video(), says);
  EXPECT_TRUE(meaning.reference.full_range);
  EXPECT_EQ(meaning.reference.matrix, Matrix::bt709);
  EXPECT_EQ(meaning.reference.siting, Siting::top_left);
  EXPECT_TRUE(lists(meaning.reference.assumed, "full range, as b states"));
  EXPECT_TRUE(lists(meaning.reference.assumed, "matrix bt709, as b states"));
  EXPECT_TRUE(lists(meaning.warnings, "a does not state its range: assumed full range"));
  EXPECT_TRUE(lists(meaning.warnings, "a does not state its matrix"));
  // Nothing to warn of where it is what would be assumed anyway.
  VideoFormat usual = tagged_video();
  usual.matrix = Matrix::bt601;
  EXPECT_TRUE(settled(video(), usual).warnings.empty());
  EXPECT_TRUE(lists(settled(usual, video()).distorted.assumed, "limited range, as a states"));
}

TEST(Meaning, WhereNeitherSaysBothTakeTheSameCurve) {
  for (const auto& [a, b, transfer] :
       {std::tuple(video(), video(), Transfer::bt1886), std::tuple(rgb_video(), video(), Transfer::srgb),
        std::tuple(video(), rgb_video(), Transfer::srgb), std::tuple(picture(), video(), Transfer::srgb),
        std::tuple(picture(), picture(), Transfer::srgb)}) {
    const PairMeaning meaning = settled(a, b);
    EXPECT_EQ(meaning.reference.colour.transfer, transfer);
    EXPECT_EQ(meaning.distorted.colour.transfer, transfer);
  }
  EXPECT_TRUE(settled(picture(), picture()).warnings.empty());
  EXPECT_TRUE(lists(settled(picture(), picture()).reference.assumed, "sRGB (the file names no colour space)"));
  // RGB against Y'CbCr hangs on the matrix, which is not known.
  EXPECT_TRUE(lists(settled(rgb_video(), video()).warnings, "b does not state its matrix and range"));
}

TEST(Meaning, APictureTakesTheCurveOfItsVideo) {
  const PairMeaning meaning = settled(tagged_video(), picture());
  EXPECT_EQ(meaning.distorted.colour.transfer, Transfer::bt1886);
  EXPECT_TRUE(meaning.warnings.empty());
  EXPECT_TRUE(lists(meaning.distorted.assumed, "BT.1886, as a states"));
}

TEST(Meaning, ColoursOutOfTheOrdinaryAreWarnedOf) {
  const PairMeaning p3 = settled(with(picture(), Transfer::srgb, Primaries::display_p3), picture());
  EXPECT_EQ(p3.distorted.colour.primaries, Primaries::display_p3);
  EXPECT_TRUE(lists(p3.warnings,
                    "b does not state its colours: assumed sRGB with Display P3 "
                    "primaries, as a states; use --colour if that is wrong"));
  EXPECT_EQ(settled(picture(true), picture()).distorted.colour.transfer, Transfer::srgb);
  EXPECT_TRUE(settled(picture(true), picture()).warnings.empty());
}

TEST(Meaning, GreyHasPrimariesOnlyBesideColour) {
  VideoFormat grey = with(picture(), Transfer::srgb, Primaries::display_p3);
  grey.grey = true;
  VideoFormat other = with(grey, Transfer::srgb, Primaries::bt2020);
  for (const VideoFormat& one : {settled(grey, other).reference, settled(grey, other).distorted}) {
    EXPECT_EQ(one.colour.primaries, Primaries::bt709);
  }
  EXPECT_EQ(settled(grey, picture(true)).reference.colour.primaries, Primaries::display_p3);
}

TEST(Meaning, AProfileIsTakenOverWhole) {
  VideoFormat profiled = picture(true);
  const std::vector<uint8_t> profile = rgb_profile();
  profiled.colour.icc = std::make_shared<const std::vector<uint8_t>>(profile);
  const PairMeaning meaning = settled(profiled, picture());
  EXPECT_EQ(meaning.distorted.colour.icc, profiled.colour.icc);
  EXPECT_TRUE(lists(meaning.warnings, "b does not state its colours"));
  // An original without a profile has not lost it on the way to a copy that has one.
  const PairMeaning original = settled(picture(), profiled);
  EXPECT_EQ(original.reference.colour.icc, nullptr);
  EXPECT_TRUE(lists(original.warnings, "a does not state its colours: assumed sRGB, although b has ICC profile"));
  EXPECT_TRUE(lists(settled(picture(), profiled, {.colour_as_stored = true}).warnings, "as they are stored"));
  // What says one of the two itself does not.
  VideoFormat half = picture();
  half.says.transfer = true;
  EXPECT_EQ(settled(profiled, half).distorted.colour.icc, nullptr);
}

TEST(Meaning, FloatsAreLightOnlyAmongThemselves) {
  VideoFormat floats = picture();
  floats.floats = true;
  floats.colour.transfer = Transfer::linear;
  EXPECT_EQ(settled(floats, floats).reference.colour.transfer, Transfer::linear);
  EXPECT_TRUE(settled(floats, floats).warnings.empty());
  const PairMeaning meaning = settled(picture(true), floats);
  EXPECT_EQ(meaning.distorted.colour.transfer, Transfer::srgb);
  EXPECT_TRUE(lists(meaning.warnings, "b has float samples and does not state their transfer function"));
  EXPECT_EQ(settled(picture(), floats).distorted.colour.transfer, Transfer::srgb);
  // Integers are not taken for light because their partner is.
  const PairMeaning beside = settled(picture(), with(picture(), Transfer::linear));
  EXPECT_EQ(beside.reference.colour.transfer, Transfer::srgb);
  EXPECT_TRUE(lists(beside.warnings, "a does not state its colours: assumed sRGB, although b is linear"));
  EXPECT_EQ(settled(floats, with(picture(), Transfer::linear)).reference.colour.transfer, Transfer::linear);
  MeaningOptions options;
  options.distorted.transfer = 8;
  EXPECT_EQ(settled(picture(true), floats, options).distorted.colour.transfer, Transfer::linear);
  EXPECT_EQ(settled(picture(true), floats, options).reference.colour.transfer, Transfer::srgb);
}

TEST(Meaning, OptionsComeFirst) {
  MeaningOptions options;
  options.reference.full_range = true;
  options.distorted.matrix = Matrix::bt2020;
  options.reference.transfer = 16;
  options.distorted.transfer = 16;
  const PairMeaning meaning = settled(tagged_video(), tagged_video(), options);
  EXPECT_TRUE(meaning.reference.full_range);
  EXPECT_FALSE(meaning.distorted.full_range);
  EXPECT_EQ(meaning.distorted.matrix, Matrix::bt2020);
  EXPECT_EQ(meaning.reference.colour.transfer, Transfer::pq);
  EXPECT_TRUE(lists(meaning.reference.found, "full range (by option)"));
  // What the user says of one side is not meant for the other.
  MeaningOptions one;
  one.reference.transfer = 4;
  EXPECT_EQ(settled(rgb_video(), rgb_video(), one).reference.colour.transfer, Transfer::gamma);
  EXPECT_EQ(settled(rgb_video(), rgb_video(), one).distorted.colour.transfer, Transfer::srgb);
  MeaningOptions space;
  space.reference.colour = Colour{.primaries = Primaries::display_p3};
  EXPECT_EQ(settled(picture(true), picture(true), space).reference.colour.primaries, Primaries::display_p3);
}

TEST(Meaning, ASmallCopyHasTheMatrixOfTheLargeOne) {
  EXPECT_EQ(settled(video(1920, 1080), video(640, 360)).distorted.matrix, Matrix::bt709);
  EXPECT_EQ(settled(video(640, 360), video(640, 360)).distorted.matrix, Matrix::bt601);
}

TEST(Meaning, HdrAndSdrAreRefused) {
  const VideoFormat pq = with(tagged_video(), Transfer::pq, Primaries::bt2020);
  EXPECT_TRUE(contains(refusal(tagged_video(), pq), "a is BT.1886 but b is PQ with BT.2020 primaries"));
  EXPECT_TRUE(contains(refusal(with(picture(), Transfer::hlg), picture(true)), "--colour-as-stored"));
  EXPECT_TRUE(settled(with(picture(), Transfer::pq), with(picture(), Transfer::hlg)).warnings.empty());
  EXPECT_TRUE(lists(settled(with(picture(), Transfer::pq), with(picture(), Transfer::linear)).warnings,
                    "b is linear light and a is PQ"));
  const PairMeaning stored = settled(tagged_video(), pq, {.colour_as_stored = true});
  EXPECT_EQ(stored.distorted.colour.transfer, Transfer::bt1886);
  EXPECT_TRUE(lists(stored.warnings, "code values are compared as they are stored"));
}

TEST(Meaning, MetricsOfFramesNeedOneColour) {
  const MeaningOptions frames{.frames = true};
  const VideoFormat p3 = with(tagged_video(), Transfer::bt1886, Primaries::display_p3);
  EXPECT_TRUE(contains(refusal(tagged_video(), p3, frames), "Display P3 primaries: frame metrics compare code"));
  EXPECT_TRUE(contains(refusal(tagged_video(), with(tagged_video(), Transfer::srgb), frames), "b is sRGB"));
  EXPECT_TRUE(settled(tagged_video(), p3).warnings.empty());
  EXPECT_TRUE(
      lists(settled(tagged_video(), p3, {.colour_as_stored = true, .frames = true}).warnings, "as they are stored"));
  // Pictures are converted: to the colours of the video, or to sRGB.
  const VideoFormat p3_picture = with(picture(), Transfer::srgb, Primaries::display_p3);
  EXPECT_EQ(settled(p3_picture, tagged_video(), frames).frame_colour.transfer, Transfer::bt1886);
  EXPECT_TRUE(same_colour(settled(p3_picture, picture(), frames).frame_colour, {}, false));
  const VideoFormat pq = with(picture(), Transfer::pq, Primaries::bt2020);
  EXPECT_EQ(settled(pq, pq, frames).frame_colour.transfer, Transfer::pq);
  EXPECT_TRUE(contains(refusal(pq, with(picture(), Transfer::pq, Primaries::display_p3), frames), "HDR"));
}

TEST(Meaning, DisplaysThatDifferAreWarnedOf) {
  EXPECT_TRUE(lists(settled(tagged_video(), picture(true)).warnings, "a is BT.1886 but b is sRGB"));
  EXPECT_TRUE(settled(with(picture(), Transfer::gamma), picture(true)).warnings.empty());
}

TEST(Meaning, TransparencyAndColourThatIsMissingAreWarnedOf) {
  VideoFormat clear = picture();
  clear.alpha = true;
  EXPECT_TRUE(lists(settled(clear, picture()).warnings, "a has transparency but b does not and counts as opaque"));
  VideoFormat grey = tagged_video();
  grey.subsampling = Subsampling::grey;
  EXPECT_TRUE(lists(settled(tagged_video(), grey).warnings, "b is grey but a has colour"));
}

TEST(Meaning, TheFormIsThatOfTheReferenceUnlessChosen) {
  VideoFormat ten = tagged_video();
  ten.subsampling = Subsampling::yuv422;
  ten.depth = 10;
  ten.full_range = true;
  const auto is = [](const FrameForm& form, Subsampling subsampling, int depth, bool full, Matrix matrix) {
    EXPECT_EQ(form.subsampling, subsampling);
    EXPECT_EQ(form.depth, depth);
    EXPECT_EQ(form.full_range, full);
    EXPECT_EQ(form.matrix, matrix);
  };
  is(choose_form(video(), ten, {}), Subsampling::yuv420, 8, false, Matrix::bt601);
  is(choose_form(video(), ten, *parse_form("dist")), Subsampling::yuv422, 10, true, Matrix::bt709);
  is(choose_form(video(), ten, *parse_form("yuv444p12")), Subsampling::yuv444, 12, false, Matrix::bt601);
  is(choose_form(video(), ten, *parse_form("gray")), Subsampling::grey, 8, false, Matrix::bt601);
  // RGB has no Y'CbCr of its own, so that of the other side is used, without losing colour samples.
  is(choose_form(picture(), ten, {}), Subsampling::yuv444, 8, true, Matrix::bt709);
  is(choose_form(ten, picture(), {}), Subsampling::yuv422, 10, true, Matrix::bt709);
  is(choose_form(picture(), picture(), {}), Subsampling::yuv444, 8, false, Matrix::bt709);
  VideoFormat floats = picture();
  floats.floats = true;
  is(choose_form(floats, picture(), {}), Subsampling::yuv444, 8, false, Matrix::bt709);
  is(choose_form(floats, floats, {}), Subsampling::yuv444, 16, false, Matrix::bt709);
}

TEST(Meaning, ThePreciseFormLosesNextToNothing) {
  VideoFormat ten = video();
  ten.depth = 10;
  const auto is = [](const FrameForm& form, Subsampling subsampling, int depth) {
    EXPECT_EQ(form.subsampling, subsampling);
    EXPECT_EQ(form.depth, depth);
  };
  is(choose_precise_form(video(), video(), {}), Subsampling::yuv420, 8);
  is(choose_precise_form(video(), ten, {}), Subsampling::yuv420, 10);
  is(choose_precise_form(ten, video(), *parse_form("dist")), Subsampling::yuv420, 10);
  is(choose_precise_form(video(), ten, *parse_form("yuv422p")), Subsampling::yuv422, 8);
  VideoFormat full = video(), full_ten = ten;
  full.full_range = full_ten.full_range = true;
  is(choose_precise_form(video(), full, {}), Subsampling::yuv420, 16);
  is(choose_precise_form(full, full_ten, {}), Subsampling::yuv420, 16);
  VideoFormat sited = video(), other = video(), whole = video(), grey = video();
  sited.siting = Siting::top_left;
  other.matrix = Matrix::bt2020;
  whole.subsampling = Subsampling::yuv444;
  grey.subsampling = Subsampling::grey;
  for (const VideoFormat& format : {sited, other, whole, grey, picture()}) {
    is(choose_precise_form(video(), format, {}), Subsampling::yuv444, 16);
    is(choose_precise_form(format, video(), {}), Subsampling::yuv444, 16);
  }
  // RGB stays as it is.
  VideoFormat deep = picture(), floats = picture();
  deep.depth = 10;
  floats.floats = true;
  is(choose_precise_form(picture(), picture(), {}), Subsampling::yuv444, 8);
  is(choose_precise_form(deep, deep, {}), Subsampling::yuv444, 10);
  is(choose_precise_form(picture(), deep, {}), Subsampling::yuv444, 16);
  is(choose_precise_form(floats, picture(), {}), Subsampling::yuv444, 16);
  for (const VideoFormat& format : {picture(), deep, floats}) {
    EXPECT_TRUE(choose_precise_form(picture(), format, {}).full_range);
    EXPECT_EQ(choose_precise_form(picture(), format, {}).matrix, Matrix::rgb);
  }
  EXPECT_EQ(choose_precise_form(picture(), picture(), *parse_form("yuv444p")).matrix, Matrix::bt709);
  EXPECT_TRUE(describe_conversion(deep, choose_precise_form(deep, deep, {}), deep.colour).empty());
  EXPECT_EQ(describe_conversion(deep, choose_precise_form(deep, picture(), {}), deep.colour),
            std::vector<std::string>{"converted to 16-bit RGB for frame metrics"});
  EXPECT_FALSE(choose_precise_form(picture(), video(), {}).full_range);
  is(choose_precise_form(grey, grey, {}), Subsampling::grey, 8);
}

TEST(Meaning, OneSideAloneHasWhatIsUsual) {
  const Result<VideoFormat> alone = settle_meaning({"a", video()}, SampleOptions{});
  ASSERT_TRUE(alone.ok());
  EXPECT_EQ(alone->assumed, (std::vector<std::string>{"limited range", "matrix bt601", "chroma sited left",
                                                      "BT.709 primaries", "BT.1886"}));
}

TEST(Meaning, DifferencesAreThoseThatBothSidesState) {
  VideoFormat other = tagged_video();
  other.full_range = true;
  other.colour.transfer = Transfer::pq;
  EXPECT_EQ(differences_in_meaning({"a", tagged_video()}, {"b", other}),
            (std::vector<std::string>{"a is limited range but b is full range", "a is BT.1886 but b is PQ"}));
  other.says = {};
  EXPECT_TRUE(differences_in_meaning({"a", tagged_video()}, {"b", other}).empty());
}

TEST(Meaning, NamesAreRead) {
  EXPECT_TRUE(parse_colour("file").ok() && !parse_colour("file")->has_value());
  EXPECT_EQ((*parse_colour("bt2100-pq"))->transfer, Transfer::pq);
  EXPECT_TRUE(contains(parse_colour("prophoto").status().message(), "display-p3"));
  for (const char* bad : {"", "yuv", "yuv420p7", "yuv420p17", "420", "10", "yuv420p10le"}) {
    EXPECT_FALSE(parse_form(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace acuity::tests
