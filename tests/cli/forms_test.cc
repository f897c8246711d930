// SPDX-License-Identifier: BSD-2-Clause-Patent
// One source in every form that cameras, encoders and tools give it, against itself in another: each pair of forms has
// the score that the rounding of the forms allows, or is refused. The files are made by ffmpeg, the rules below are
// written down anew and not taken from what is tested.
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "media/encode.h"
#include "media/meaning.h"

namespace acuity::test {
namespace {

using json = nlohmann::json;

constexpr int kWidth = 96, kHeight = 64;
constexpr double kWhite = 203, kPeak = 1000;  // in nit: of SDR in HDR, and of the display of HLG

// The axes of the matrix, by their places in these lists.
enum Axis : uint8_t { depth_axis, range_axis, matrix_axis, samples_axis, transfer_axis, container_axis, axes };
constexpr std::array<int, 3> kDepths{8, 10, 16};
constexpr std::array<const char*, 2> kRanges{"limited", "full"};
constexpr std::array<const char*, 3> kMatrices{"bt601", "bt709", "bt2020"};
constexpr std::array<const char*, 4> kSamples{"420", "422", "444", "rgb"};
constexpr std::array<const char*, 4> kTransfers{"srgb", "bt1886", "pq", "hlg"};
constexpr std::array<const char*, 4> kContainers{"png", "y4m", "mkv", "mp4"};
constexpr std::array<size_t, axes> kSizes{3, 2, 3, 4, 4, 4};

struct Form {
  std::array<size_t, axes> at{};

  int depth() const { return kDepths[at[depth_axis]]; }
  bool full() const { return at[range_axis] == 1; }
  std::string matrix() const { return kMatrices[at[matrix_axis]]; }
  std::string samples() const { return kSamples[at[samples_axis]]; }
  std::string transfer() const { return kTransfers[at[transfer_axis]]; }
  std::string container() const { return kContainers[at[container_axis]]; }
  bool rgb() const { return samples() == "rgb"; }
  bool hdr() const { return transfer() == "pq" || transfer() == "hlg"; }
  bool still() const { return container() == "png"; }
  bool says() const { return container() != "y4m"; }  // whose header knows the range alone

  // Whether there is such a file. RGB has neither range nor matrix, which count as the first of their kind.
  bool exists() const {
    if (rgb() && (!full() || at[matrix_axis] != 0)) return false;
    if (container() == "png") return rgb() && depth() != 10;
    if (container() == "y4m") return !rgb();
    if (container() == "mp4") return rgb() ? depth() == 8 : depth() != 16;  // H.264
    return true;
  }

  std::string name() const {
    return fmt::format("{}-{}-{}-{}-{}.{}", samples(), depth(), kRanges[at[range_axis]], matrix(), transfer(),
                       container());
  }
  bool operator<(const Form& other) const { return at < other.at; }
};

std::vector<Form> all_forms() {
  std::vector<Form> forms;
  size_t count = 1;
  for (const size_t size : kSizes) count *= size;
  for (size_t i = 0; i < count; ++i) {
    Form form;
    size_t rest = i;
    for (size_t axis = 0; axis < axes; ++axis) {
      form.at[axis] = rest % kSizes[axis];
      rest /= kSizes[axis];
    }
    if (form.exists()) forms.push_back(form);
  }
  return forms;
}

// ---------------------------------------------------------------------------------------------------------------------
// The source, by the definitions of the curves.

double linear_of_srgb(double x) { return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4); }

double pq(double nits) {
  const double power = std::pow(nits / 10000, 2610.0 / 16384);
  return std::pow((3424.0 / 4096 + 2413.0 / 128 * power) / (1 + 2392.0 / 128 * power), 2523.0 / 32);
}

double hlg(double scene) {
  const double a = 0.17883277, b = 1 - 4 * a, c = 0.5 - a * std::log(4 * a);
  return scene <= 1.0 / 12 ? std::sqrt(3 * scene) : a * std::log(12 * scene - b) + c;
}

using Pixel = std::array<double, 3>;

// HDR has BT.2020 primaries, by BT.2087.
Pixel in_bt2020(const Pixel& p) {
  return {0.627404 * p[0] + 0.329283 * p[1] + 0.043313 * p[2], 0.069097 * p[0] + 0.919541 * p[1] + 0.011362 * p[2],
          0.016391 * p[0] + 0.088013 * p[1] + 0.895595 * p[2]};
}

Pixel encoded(Pixel light, const std::string& transfer) {
  if (transfer == "bt1886") {
    for (double& value : light) value = std::pow(value, 1 / 2.4);
    return light;
  }
  light = in_bt2020(light);
  if (transfer == "pq") {
    for (double& value : light) value = pq(kWhite * value);
    return light;
  }
  // Display light to scene light: the inverse of the display's gain.
  for (double& value : light) value *= kWhite / kPeak;
  const double luminance = 0.2627 * light[0] + 0.6780 * light[1] + 0.0593 * light[2];
  for (double& value : light) value = hlg(value * std::pow(luminance, (1 - 1.2) / 1.2));
  return light;
}

// Smooth, so that little is lost with half of the colour samples, and colourful, so that a wrong matrix shows.
Pixel drawn(int x, int y) {
  const double light = 0.5 + 0.15 * std::sin(0.11 * x + 0.07 * y) + 0.05 * std::sin(0.9 * x - 0.7 * y);
  return {light + 0.22 * std::sin(0.05 * x + 0.03 * y), light + 0.08 * std::sin(0.04 * x - 0.06 * y),
          light - 0.22 * std::cos(0.045 * y + 0.02 * x)};
}

// Planes of 16 bits in libav's order: green, blue, red.
std::string source(const std::string& transfer) {
  const std::string path = scratch(transfer + ".raw");
  std::string planes;
  for (const size_t channel : {1, 2, 0}) {
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        Pixel pixel = drawn(x, y);
        if (transfer != "srgb") {
          for (double& value : pixel) value = linear_of_srgb(value);
          pixel = encoded(pixel, transfer);
        }
        const auto code = static_cast<uint16_t>(std::lround(65535 * pixel[channel]));
        planes += static_cast<char>(code & 255);
        planes += static_cast<char>(code >> 8);
      }
    }
  }
  write_file(path, planes);
  return path;
}

// ---------------------------------------------------------------------------------------------------------------------
// The files.

std::string pixel_format(const Form& form) {
  if (form.still()) return form.depth() == 8 ? "rgb24" : "rgb48be";
  const std::string kind = form.rgb() ? "gbrp" : "yuv" + form.samples() + "p";
  return form.depth() == 8 ? kind : fmt::format("{}{}le", kind, form.depth());
}

std::string zscale(const Form& form) {
  static const std::map<std::string, std::string> transfers{
      {"srgb", "iec61966-2-1"}, {"bt1886", "bt709"}, {"pq", "smpte2084"}, {"hlg", "arib-std-b67"}};
  static const std::map<std::string, std::string> matrices{{"bt601", "170m"}, {"bt709", "709"}, {"bt2020", "2020_ncl"}};
  const std::string transfer = transfers.at(form.transfer()), primaries = form.hdr() ? "2020" : "709";
  return fmt::format(
      "zscale=matrixin=gbr:rangein=full:transferin={0}:primariesin={1}:matrix={2}:range={3}:transfer={0}:primaries={1},"
      "format={4}",
      transfer, primaries, form.rgb() ? "gbr" : matrices.at(form.matrix()), form.full() ? "full" : "limited",
      pixel_format(form));
}

void tag_png(const std::string& path, const Form& form) {
  const std::map<std::string, uint8_t> codes{{"srgb", 13}, {"bt1886", 1}, {"pq", 16}, {"hlg", 18}};
  const std::string bytes = read_file(path);
  const tests::File tagged =
      tests::with_chunk({bytes.begin(), bytes.end()}, "cICP",
                        {static_cast<uint8_t>(form.hdr() ? 9 : 1), codes.at(form.transfer()), 0, 1});
  write_file(path, {tagged.begin(), tagged.end()});
}

std::string made(const Form& form) {
  static std::map<Form, std::string> files;
  static std::map<std::string, std::string> sources;
  std::string& path = files[form];
  if (!path.empty()) return path;
  std::string& raw = sources[form.transfer()];
  if (raw.empty()) raw = source(form.transfer());
  path = scratch(form.name());
  std::vector<std::string> words{"ffmpeg",    "-v",       "error",
                                 "-f",        "rawvideo", "-pix_fmt",
                                 "gbrp16le",  "-s",       fmt::format("{}x{}", kWidth, kHeight),
                                 "-i",        raw,        "-vf",
                                 zscale(form)};
  const auto add = [&](std::vector<std::string> more) { words.insert(words.end(), more.begin(), more.end()); };
  if (form.container() == "mkv") add({"-c:v", "ffv1", "-strict", "-2"});
  if (form.container() == "y4m") add({"-strict", "-1"});
  if (form.container() == "mp4") add({"-c:v", form.rgb() ? "libx264rgb" : "libx264", "-qp", "0"});
  add({"-y", path});
  const Outcome outcome = run(words);
  EXPECT_EQ(outcome.exit_code, 0) << form.name() << ": " << outcome.err;
  if (form.still()) tag_png(path, form);
  return path;
}

// ---------------------------------------------------------------------------------------------------------------------
// The rules.

// What acuity takes for the samples of `mine` beside `other`, where no option tells it.
struct Taken {
  std::string transfer, matrix, primaries;
};

std::string primaries(const Form& form) { return form.hdr() ? "bt2020" : "bt709"; }

Taken taken(const Form& mine, const Form& other) {
  if (mine.says()) return {mine.transfer(), mine.matrix(), primaries(mine)};
  if (other.says()) return {other.transfer(), other.rgb() ? "bt601" : other.matrix(), primaries(other)};
  return {"bt1886", "bt601", "bt709"};
}

// What has to be told of `mine`.
std::array<std::string, 3> told(const Form& mine, const Form& other) {
  const Taken without = taken(mine, other);
  return {without.transfer == mine.transfer() ? "" : mine.transfer(),
          mine.rgb() || without.matrix == mine.matrix() ? "" : mine.matrix(),
          without.primaries == primaries(mine) ? "" : primaries(mine)};
}

std::vector<std::string> options(const Form& a, const Form& b) {
  std::vector<std::string> words;
  // What is told of one side is known of it, so that the other may take it over: tell both in full then.
  std::array<std::string, 3> first = told(a, b), second = told(b, a);
  for (size_t i = 0; i < 3; ++i) {
    if (first[i].empty() && second[i].empty()) continue;
    const std::array<std::string, 3> all_first{a.transfer(), a.rgb() ? "" : a.matrix(), primaries(a)};
    const std::array<std::string, 3> all_second{b.transfer(), b.rgb() ? "" : b.matrix(), primaries(b)};
    words.insert(words.end(), {std::array{"--transfer", "--matrix", "--primaries"}[i],
                               (a.says() ? "" : all_first[i]) + "," + (b.says() ? "" : all_second[i])});
  }
  return words;
}

// Whether no metric may compare the two, and whether those of frames may not.
bool is_refused(const Form& a, const Form& b) { return a.hdr() != b.hdr(); }
bool is_refused_for_frames(const Form& a, const Form& b) {
  if (a.transfer() == b.transfer()) return false;
  return a.hdr() || b.hdr() || (!a.still() && !b.still());
}

// The least PSNR of RGB, in dB, by what is lost on the way. Rounding, by the coarser of the two sides: 8 bits have
// steps of 1 in 219, and one of colour counts up to 1.9 times; a step of HDR is four times as much light. 4:2:0 and
// 4:2:2 lose colour: less than 63 dB of this source in SDR; in HDR, whose curves are steeper, 48.
double allowed(const Form& a, const Form& b) {
  const int depth = std::min(a.depth(), b.depth());
  const bool hdr = a.hdr() || b.hdr();
  const auto subsampled = [](const Form& form) { return form.samples() == "420" || form.samples() == "422"; };
  const double rounding = depth == 8 ? (hdr ? 38 : 48) : depth == 10 ? (hdr ? 50 : 60) : 85;
  const double colour = !subsampled(a) && !subsampled(b) ? 100 : hdr ? 47 : 63;
  return std::min(rounding, colour);
}

// The same of planes in the form that metrics of frames compare: a step of the coarser side, and of the form itself.
double allowed_of_frames(const Form& a, const Form& b) {
  const bool converted = a.transfer() != b.transfer();
  return std::min({a.depth(), b.depth()}) == 8 ? (converted ? 46 : 50) : 60;
}

// ---------------------------------------------------------------------------------------------------------------------

struct Cell {
  Form a, b;
};

// Cells in which every value of every axis of one side meets every value of every axis of the same and the other side
// that it can meet. Greedy: of some cells at random the one that has most to add.
std::vector<Cell> cover() {
  const std::vector<Form> forms = all_forms();
  using Pair = std::tuple<size_t, size_t, size_t, size_t>;  // axis and value, twice
  const auto pairs_of = [](const Cell& cell) {
    std::vector<Pair> pairs;
    const auto value = [&](size_t axis) { return axis < axes ? cell.a.at[axis] : cell.b.at[axis - axes]; };
    for (size_t i = 0; i < 2 * axes; ++i) {
      for (size_t j = i + 1; j < 2 * axes; ++j) pairs.emplace_back(i, value(i), j, value(j));
    }
    return pairs;
  };
  uint64_t state = 14;
  const auto random = [&](size_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>(state >> 33) % below;
  };
  std::set<Pair> left;
  for (const Form& a : forms) {
    for (int i = 0; i < 40; ++i) {
      for (const Pair& pair : pairs_of({a, forms[random(forms.size())]})) left.insert(pair);
    }
  }
  std::vector<Cell> cells;
  while (!left.empty()) {
    Cell best;
    size_t most = 0;
    for (int i = 0; i < 200; ++i) {
      const Cell cell{forms[random(forms.size())], forms[random(forms.size())]};
      size_t adds = 0;
      for (const Pair& pair : pairs_of(cell)) adds += left.count(pair);
      if (adds > most) {
        most = adds;
        best = cell;
      }
    }
    if (most == 0) continue;
    for (const Pair& pair : pairs_of(best)) left.erase(pair);
    cells.push_back(best);
  }
  return cells;
}

Outcome scored(const Form& a, const Form& b, const std::string& metrics, std::vector<std::string> more = {}) {
  std::vector<std::string> words{"score", "--json", "-m", metrics};
  for (const std::string& word : options(a, b)) words.push_back(word);
  words.insert(words.end(), more.begin(), more.end());
  words.insert(words.end(), {made(a), made(b)});
  return acuity(words);
}

json metrics_of(const Outcome& outcome) {
  const json document = json::parse(outcome.out, nullptr, false);
  return document.is_discarded() ? json() : document["results"][0]["metrics"];
}

TEST(Forms, EveryPairScoresWhatItsRoundingAllowsOrIsRefused) {
  const std::vector<Cell> cells = cover();
  EXPECT_GT(cells.size(), 30u);
  for (const Cell& cell : cells) {
    const auto& [a, b] = cell;
    const std::string what = a.name() + " and " + b.name();
    const Outcome pictures = scored(a, b, "psnr,ssimulacra2");
    if (is_refused(a, b)) {
      EXPECT_EQ(pictures.exit_code, 3) << what;
      EXPECT_NE(pictures.err.find("HDR and SDR"), std::string::npos) << what << ": " << pictures.err;
    } else {
      ASSERT_EQ(pictures.exit_code, 0) << what << ": " << pictures.err;
      const json metrics = metrics_of(pictures);
      EXPECT_GE(metrics["psnr"]["value"].get<double>(), allowed(a, b)) << what;
      EXPECT_GE(metrics["ssimulacra2"]["value"].get<double>(), allowed(a, b) < 45 ? 70 : 88) << what;
    }
    const Outcome frames = scored(a, b, "psnr_yuv,vmaf");
    if (is_refused(a, b) || is_refused_for_frames(a, b)) {
      EXPECT_EQ(frames.exit_code, 3) << what;
      EXPECT_NE(frames.err.find("--colour-as-stored"), std::string::npos) << what << ": " << frames.err;
      continue;
    }
    ASSERT_EQ(frames.exit_code, 0) << what << ": " << frames.err;
    const json metrics = metrics_of(frames);
    for (const char* plane : {"psnr_y", "psnr_cb", "psnr_cr"}) {
      EXPECT_GE(metrics["psnr_yuv"]["outputs"][plane].get<double>(), allowed_of_frames(a, b)) << what << " " << plane;
    }
    // 97.4 is what one frame has against itself.
    EXPECT_GE(metrics["vmaf"]["value"].get<double>(), std::min(a.depth(), b.depth()) == 8 ? 95 : 97) << what;
  }
}

// What the bounds are worth: every way to misread one of the sides falls below them.
TEST(Forms, MisreadingsFallBelowTheBounds) {
  const Form form{{0, 0, 1, 0, 1, 2}};  // 8-bit 4:2:0 in limited range by BT.709, for a BT.1886 display, in Matroska
  const std::vector<std::vector<std::string>> misreadings{{"--range", ",full"},
                                                          {"--matrix", ",bt601"},
                                                          {"--transfer", ",srgb"},
                                                          {"--primaries", ",bt2020"},
                                                          {"--colour", "display-p3,bt2020"}};
  for (const std::vector<std::string>& misreading : misreadings) {
    const Outcome outcome = scored(form, form, "psnr", misreading);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_LT(metrics_of(outcome)["psnr"]["value"].get<double>(), allowed(form, form)) << misreading[1];
  }
  for (const size_t i : {0, 1}) {
    const json metrics = metrics_of(scored(form, form, "psnr_yuv", misreadings[i]));
    EXPECT_LT(metrics["psnr_yuv"]["value"].get<double>(), 40) << misreadings[i][1];
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// All cells of the matrix, on what readers say of such files.

constexpr std::array<Transfer, 4> kCurves{Transfer::srgb, Transfer::bt1886, Transfer::pq, Transfer::hlg};

VideoFormat format_of(const Form& form) {
  VideoFormat format;
  format.width = kWidth;
  format.height = kHeight;
  format.depth = form.depth();
  format.rgb = form.rgb();
  format.still = form.still();
  format.full_range = form.full();
  format.subsampling = std::array{Subsampling::yuv420, Subsampling::yuv422, Subsampling::yuv444,
                                  Subsampling::yuv444}[form.at[samples_axis]];
  format.says = {true, form.says(), false, form.says(), form.says()};
  format.matrix = form.says() ? *parse_matrix(form.matrix()) : Matrix::bt601;
  format.colour.transfer = form.says() ? kCurves[form.at[transfer_axis]] : Transfer::bt1886;
  format.colour.primaries = form.says() && form.hdr() ? Primaries::bt2020 : Primaries::bt709;
  return format;
}

// A form with the transfer function that is taken for it.
Form as_taken(Form form, const Taken& taken) {
  form.at[transfer_axis] =
      static_cast<size_t>(std::find(kTransfers.begin(), kTransfers.end(), taken.transfer) - kTransfers.begin());
  return form;
}

void expect_settled(const Form& mine, const Taken& expected, const VideoFormat& settled) {
  EXPECT_EQ(settled.colour.transfer, kCurves[as_taken(mine, expected).at[transfer_axis]]) << mine.name();
  EXPECT_EQ(settled.colour.primaries == Primaries::bt2020, expected.primaries == "bt2020") << mine.name();
  EXPECT_EQ(settled.full_range, mine.full()) << mine.name();
  EXPECT_EQ(settled.rgb ? expected.matrix : std::string(name_of(settled.matrix)), expected.matrix) << mine.name();
}

TEST(Forms, EveryCellIsSettledByTheRules) {
  const std::vector<Form> forms = all_forms();
  for (size_t i = 0; i < forms.size() && !HasFailure(); ++i) {
    const VideoFormat reference = format_of(forms[i]);
    // Each against a third of the others, another third each time.
    for (size_t j = i % 3; j < forms.size(); j += 3) {
      const Taken first = taken(forms[i], forms[j]), second = taken(forms[j], forms[i]);
      const Form a = as_taken(forms[i], first), b = as_taken(forms[j], second);
      const VideoFormat distorted = format_of(forms[j]);
      for (const bool frames : {false, true}) {
        const Result<PairMeaning> meaning =
            settle_meaning({"a", reference}, {"b", distorted}, MeaningOptions{.frames = frames});
        const bool refused = is_refused(a, b) || (frames && is_refused_for_frames(a, b));
        EXPECT_EQ(meaning.ok(), !refused) << forms[i].name() << " and " << forms[j].name();
        if (!meaning.ok()) continue;
        expect_settled(forms[i], first, meaning->reference);
        expect_settled(forms[j], second, meaning->distorted);
        const FrameForm form = choose_form(meaning->reference, meaning->distorted, {});
        EXPECT_EQ(form.depth, forms[i].depth());
        EXPECT_EQ(form.full_range, !forms[i].rgb() ? forms[i].full() : !forms[j].rgb() && forms[j].full());
      }
    }
  }
}

}  // namespace
}  // namespace acuity::test
