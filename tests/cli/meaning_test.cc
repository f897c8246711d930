// SPDX-License-Identifier: BSD-2-Clause-Patent
// What samples mean, as the command takes them from files and options. tests/media/meaning_test.cc has every rule,
// forms_test.cc every form.
#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/pictures.h"
#include "colour/rows.h"
#include "media/encode.h"
#include "support/slow_machine.h"

namespace acuity::test {
namespace {

using json = nlohmann::json;
using tests::File;
using Picture8 = tests::Drawing;

std::string saved(const std::string& name, const File& file) {
  write_file(scratch(name), {file.begin(), file.end()});
  return scratch(name);
}

json scored(std::vector<std::string> words) {
  words.insert(words.begin(), {"score", "--json"});
  const Outcome outcome = acuity(words);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const json document = json::parse(outcome.out, nullptr, false);
  return outcome.exit_code == 0 ? document["results"][0] : json();
}

double value(const std::vector<std::string>& words, const std::string& metric) {
  std::vector<std::string> all{"-m", metric};
  all.insert(all.end(), words.begin(), words.end());
  const json result = scored(all);
  return result.is_null() ? -1e9 : result["metrics"][metric]["value"].get<double>();
}

std::string error(std::vector<std::string> words) {
  words.insert(words.begin(), "score");
  const Outcome outcome = acuity(words);
  EXPECT_EQ(outcome.exit_code, 3) << outcome.out;
  EXPECT_EQ(outcome.out.find("higher is better"), std::string::npos);
  return outcome.err;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Something with light, shade and colour.
Picture8 painting(int bits = 8, int channels = 3) {
  Picture8 drawing{180, 176, channels, bits, {}};
  for (int y = 0; y < drawing.height; ++y) {
    for (int x = 0; x < drawing.width; ++x) {
      for (int c = 0; c < channels; ++c) {
        const double wave = 0.5 + 0.3 * std::sin(0.1 * x + 0.06 * y + c) + 0.15 * std::sin(0.5 * x - 0.4 * y);
        drawing.samples.push_back(static_cast<uint16_t>(std::lround(255 * std::clamp(wave, 0.0, 1.0))));
      }
    }
  }
  for (uint16_t& sample : drawing.samples) sample = static_cast<uint16_t>(sample * ((1 << bits) - 1) / 255);
  return drawing;
}

std::vector<float> fractions(const Picture8& drawing) {
  std::vector<float> floats;
  for (const uint16_t sample : drawing.samples) floats.push_back(static_cast<float>(sample) / 255.0f);
  return floats;
}

// Full-range grey or Y'CbCr.
std::string y4m(const std::string& tag, const std::string& extra, const std::string& planes) {
  return "YUV4MPEG2 W180 H176 F25:1 Ip C" + tag + extra + "\nFRAME\n" + planes;
}

const std::vector<const char*> kPictureMetrics =
    tests::kSlowMachine
        ? std::vector{"ssimulacra2", "zensim", "mse"}
        : std::vector{"ssimulacra2", "butteraugli", "dssim", "iwssim", "msssim", "zensim", "psnr", "mse"};

// ---------------------------------------------------------------------------------------------------------------------

TEST(Meaning, EqualPixelsAreIdenticalInEveryFile) {
  const Picture8 drawing = painting(), deep = painting(16);
  const std::string png = saved("a.png", tests::encode_png(drawing));
  std::vector<std::string> copies{saved("deep.png", tests::encode_png(deep)),
                                  saved("deep.tiff", tests::encode_tiff(deep)),
                                  saved("float.tiff", tests::encode_tiff(drawing, {}, fractions(drawing))),
                                  saved("a.jxl", tests::encode_jxl(drawing)),
                                  saved("deep.jxl", tests::encode_jxl(deep)),
                                  saved("float.jxl", tests::encode_jxl(drawing, {.is_float = true})),
                                  saved("deep.ppm", tests::encode_pnm('6', deep, 65535)),
                                  saved("a.webp", tests::encode_webp(drawing)),
                                  saved("a.bmp", tests::encode_bmp(drawing))};
  for (const char* metric : kPictureMetrics) {
    const double identical = value({png, png}, metric);
    for (const std::string& copy : copies) {
      EXPECT_EQ(value({png, copy}, metric), identical) << metric << " " << copy;
      EXPECT_EQ(value({copy, png}, metric), identical) << metric << " " << copy;
    }
  }
  const double identical = value({png, png}, "vmaf");
  for (const std::string& copy : copies) EXPECT_EQ(value({png, copy}, "vmaf"), identical) << copy;
}

TEST(Meaning, EqualGreysAreIdenticalInPicturesAndVideos) {
  const Picture8 drawing = painting(8, 1), deep = painting(16, 1);
  const std::string png = saved("grey.png", tests::encode_png(drawing));
  std::string bytes, words;
  for (size_t i = 0; i < drawing.samples.size(); ++i) {
    bytes += static_cast<char>(drawing.samples[i]);
    words += static_cast<char>(deep.samples[i] & 255);
    words += static_cast<char>(deep.samples[i] >> 8);
  }
  const std::string full = " XCOLORRANGE=FULL", neutral(2 * bytes.size(), '\x80');
  write_file(scratch("grey.y4m"), y4m("mono", full, bytes));
  write_file(scratch("grey16.y4m"), y4m("mono16", full, words));
  write_file(scratch("neutral.y4m"), y4m("444", full, bytes + neutral));
  for (const char* copy : {"grey.y4m", "grey16.y4m", "neutral.y4m"}) {
    for (const char* metric : kPictureMetrics) {
      EXPECT_EQ(value({png, scratch(copy)}, metric), value({png, png}, metric)) << metric << " " << copy;
    }
  }
}

// A matrix rounds, and a metric may see a float's last bit. One reference for all: it is kept for what it is beside
// each.
TEST(Meaning, EqualGreysAreIdenticalInEveryColourSpace) {
  const Picture8 drawing = painting(8, 1);
  Picture8 rgb{drawing.width, drawing.height, 3, 8, {}};
  for (const uint16_t sample : drawing.samples) rgb.samples.insert(rgb.samples.end(), 3, sample);
  const auto tagged = [](const std::string& name, const Picture8& picture, uint8_t primaries, uint8_t transfer) {
    return saved(name, tests::with_chunk(tests::encode_png(picture), "cICP", {primaries, transfer, 0, 1}));
  };
  for (const auto& [primaries, transfer] : std::vector<std::pair<uint8_t, uint8_t>>{{12, 13}, {9, 16}, {9, 18}}) {
    const std::string grey = tagged("grey.png", drawing, primaries, transfer);
    const std::string other = tagged("other.png", drawing, 1, transfer);  // whose primaries do not count beside grey
    const std::string neutral = tagged("neutral.png", rgb, primaries, transfer);
    for (const char* metric : kPictureMetrics) {
      EXPECT_EQ(value({grey, neutral}, metric), value({neutral, neutral}, metric)) << metric;
    }
    EXPECT_EQ(acuity({"score", "--value-only", grey, other, neutral, other}).out, "100\n100\n100\n");
  }
}

TEST(Meaning, LightIsIdenticalInEveryFileThatHoldsIt) {
  const std::vector<float> light = fractions(painting());
  const std::string exr = saved("light.exr", tests::encode_exr(180, 176, light));
  const std::string pfm = saved("light.pfm", tests::encode_pfm(180, 176, 3, light, true));
  const std::string tiff = saved("light.tiff", tests::encode_tiff(painting(), {}, light));
  for (const std::string& copy : {pfm, tiff}) EXPECT_EQ(value({exr, copy}, "ssimulacra2"), 100) << copy;
  // A file that says nothing takes what its partner says.
  const std::string png = saved("codes.png", tests::encode_png(painting()));
  EXPECT_EQ(value({png, tiff}, "ssimulacra2"), 100);
  EXPECT_LT(value({"--colour", ",linear", png, tiff}, "ssimulacra2"), 50);
}

// ---------------------------------------------------------------------------------------------------------------------

std::string with_gamma(const std::string& name, const Picture8& drawing, uint32_t gamma) {
  File gama, chrm;
  tests::append_big_endian(gama, gamma, 4);
  for (const uint32_t number : {31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000}) {
    tests::append_big_endian(chrm, number, 4);
  }
  return saved(name, tests::with_chunk(tests::with_chunk(tests::encode_png(drawing), "gAMA", gama), "cHRM", chrm));
}

TEST(Meaning, TheGammaThatImageMagickWritesIsSrgb) {
  const std::string png = saved("srgb.png", tests::with_chunk(tests::encode_png(painting()), "sRGB", {0}));
  const std::string gamma = with_gamma("gamma.png", painting(), 45455);
  EXPECT_EQ(value({png, gamma}, "ssimulacra2"), 100);
  EXPECT_TRUE(contains(scored({"-m", "psnr", png, gamma})["assumptions"].dump(), "means sRGB"));
  // --colour has the last word, on each side.
  EXPECT_LT(value({"--colour", ",gamma22", png, gamma}, "ssimulacra2"), 95);
  EXPECT_EQ(value({"--colour", "gamma22", png, gamma}, "ssimulacra2"), 100);
  EXPECT_EQ(value({"--colour", "file", png, gamma}, "ssimulacra2"), 100);
  const std::string odd = with_gamma("odd.png", painting(), 55555);
  EXPECT_LT(value({png, odd}, "ssimulacra2"), 95);
  EXPECT_EQ(value({"--colour", ",srgb", png, odd}, "ssimulacra2"), 100);
  EXPECT_EQ(value({"--transfer", "srgb", png, odd}, "ssimulacra2"), 100);
  const Outcome unknown = acuity({"score", "--colour", "prophoto", png, odd});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_TRUE(contains(unknown.err, "display-p3")) << unknown.err;
}

TEST(Meaning, TransferIsForPicturesAsWell) {
  const std::string a = scene(), b = noisy();
  EXPECT_NE(value({"--transfer", "bt1886", a, b}, "ssimulacra2"), value({a, b}, "ssimulacra2"));
  EXPECT_EQ(value({"--transfer", "srgb", a, b}, "ssimulacra2"), value({a, b}, "ssimulacra2"));
  // They stay pictures.
  EXPECT_TRUE(scored({"--transfer", "pq", "-m", "psnr", a, b})["video"].is_null());
}

// A picture is compared with several, which say different things of themselves.
TEST(Meaning, AReferenceThatDoesNotSayIsPreparedForEachPartner) {
  const Picture8 drawing = painting();
  const std::string plain = saved("plain.png", tests::encode_png(drawing));
  File p3{12, 13, 0, 1};
  const std::string other = saved("p3.png", tests::with_chunk(tests::encode_png(drawing), "cICP", p3));
  for (const char* threads : {"1", "2"}) {
    const Outcome outcome = acuity({"score", "--json", "--threads", threads, plain, other, plain, other});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const json report = json::parse(outcome.out);
    for (const json& result : report["results"]) {
      EXPECT_EQ(result["metrics"]["ssimulacra2"]["value"], 100) << result["distorted"];
    }
    EXPECT_TRUE(contains(outcome.err, "Display P3")) << outcome.err;
  }
}

// ---------------------------------------------------------------------------------------------------------------------

struct Coded {
  std::string luma, cb, cr;
};

// The painting by BT.601, 4:4:4, in full or limited range.
Coded coded(bool full) {
  Coded planes;
  const Picture8 drawing = painting();
  for (size_t i = 0; i < drawing.samples.size(); i += 3) {
    const double r = drawing.samples[i] / 255.0, g = drawing.samples[i + 1] / 255.0, b = drawing.samples[i + 2] / 255.0;
    const double y = 0.299 * r + 0.587 * g + 0.114 * b;
    const auto put = [](std::string& plane, double code) { plane += static_cast<char>(std::lround(code)); };
    put(planes.luma, full ? 255 * y : 16 + 219 * y);
    put(planes.cb, 128 + (full ? 255 : 224) * (b - y) / 1.772);
    put(planes.cr, 128 + (full ? 255 : 224) * (r - y) / 1.402);
  }
  return planes;
}

std::string video(const std::string& name, bool full, const std::string& extra) {
  const Coded planes = coded(full);
  write_file(scratch(name), y4m("444", extra, planes.luma + planes.cb + planes.cr));
  return scratch(name);
}

TEST(Meaning, RangesThatDifferAreBroughtTogetherForMetricsOfFrames) {
  const std::string limited = video("limited.y4m", false, " XCOLORRANGE=LIMITED");
  const std::string full = video("full.y4m", true, " XCOLORRANGE=FULL");
  EXPECT_GT(value({limited, full}, "psnr_yuv"), 50);
  EXPECT_GT(value({full, limited}, "psnr_yuv"), 50);
  EXPECT_GT(value({limited, full}, "vmaf"), 96);
  // The same without tags, told by the option; and what becomes of it where a side is taken for something else.
  const std::string untold = video("untold.y4m", true, "");
  EXPECT_EQ(value({"--range", "limited,full", limited, untold}, "psnr_yuv"), value({limited, full}, "psnr_yuv"));
  EXPECT_LT(value({"--range", "limited", limited, full}, "psnr_yuv"), 40);
  EXPECT_LT(value({"--range", "full,limited", full, full}, "psnr_yuv"), 40);
  const json result = scored({"-m", "psnr_yuv", limited, full});
  EXPECT_TRUE(contains(result["assumptions"].dump(), "converted from full to limited range for frame metrics"));
  // A side that does not say takes what the other says, and the result warns of it.
  EXPECT_TRUE(contains(scored({"-m", "psnr_yuv", full, untold})["warnings"].dump(), "does not state its range"));
}

TEST(Meaning, VmafsOwnCommandComparesAsItIsAndWarns) {
  const std::string limited = video("limited.y4m", false, " XCOLORRANGE=LIMITED");
  const std::string full = video("full.y4m", true, " XCOLORRANGE=FULL");
  const Outcome outcome = acuity({"vmaf", "-r", limited, "-d", full, "--quiet"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(contains(outcome.err, limited + " is limited range but " + full + " is full range")) << outcome.err;
  EXPECT_FALSE(contains(acuity({"vmaf", "-r", full, "-d", full, "--quiet"}).err, "warning"));
}

TEST(Meaning, APictureAndItsVideoHaveTheSameCurve) {
  const std::string png = saved("frame.png", tests::encode_png(painting()));
  const std::string clip = video("clip.y4m", false, "");
  for (const std::vector<std::string>& pair : {std::vector{png, clip}, std::vector{clip, png}}) {
    EXPECT_GT(value(pair, "psnr"), 48);
    EXPECT_GT(value(pair, "ssimulacra2"), 88);
  }
  const json result = scored({"-m", "psnr", png, clip});
  EXPECT_TRUE(contains(result["warnings"].dump(), "does not state its matrix and range")) << result["warnings"];
  EXPECT_FALSE(
      contains(scored({"-m", "psnr", "--matrix", ",bt601", "--range", ",limited", png, clip})["warnings"].dump(),
               "does not state"));
  // Two curves that are told apart are compared as light, which differs.
  EXPECT_LT(value({"--transfer", "srgb,bt1886", png, clip}, "psnr"), 40);
}

TEST(Meaning, HdrAgainstSdrIsRefused) {
  const File pq{9, 16, 0, 1};
  const std::string hdr = saved("hdr.png", tests::with_chunk(tests::encode_png(painting()), "cICP", pq));
  const std::string sdr = saved("sdr.png", tests::with_chunk(tests::encode_png(painting()), "sRGB", {0}));
  for (const char* metric : {"ssimulacra2", "vmaf"}) {
    const std::string text = error({"-m", metric, sdr, hdr});
    EXPECT_TRUE(contains(text, sdr + " is sRGB but " + hdr + " is PQ with BT.2020 primaries")) << text;
    EXPECT_TRUE(contains(text, "--colour-as-stored")) << text;
    const json result = scored({"-m", metric, "--colour-as-stored", sdr, hdr});
    EXPECT_EQ(result["metrics"][metric]["value"], value({sdr, sdr}, metric));
    EXPECT_TRUE(contains(result["warnings"].dump(), "code values are compared as they are stored"));
  }
}

// The same pixels as light in another space, by the way pictures take to every metric.
TEST(Meaning, PicturesGoThroughTheirProfileForMetricsOfFrames) {
  const File profile = tests::rgb_profile();
  const Picture8 drawing = painting(16);
  ImageView view =
      interleaved_view(drawing.samples.data(), drawing.width, drawing.height, Channels::rgb, SampleType::u16);
  view.colour.icc = std::make_shared<const std::vector<uint8_t>>(profile);
  const Result<Rows> rows = Rows::create(view, {.encoding = WorkingSpace::Encoding::srgb_codes}, {});
  ASSERT_TRUE(rows.ok());
  Picture8 srgb{drawing.width, drawing.height, 3, 16, {}};
  std::vector<float> planes[3];
  for (std::vector<float>& plane : planes) plane.resize(static_cast<size_t>(drawing.width));
  for (int y = 0; y < drawing.height; ++y) {
    rows->read(y, 0, drawing.width, planes[0].data(), planes[1].data(), planes[2].data());
    for (size_t x = 0; x < planes[0].size(); ++x) {
      for (const std::vector<float>& plane : planes) {
        srgb.samples.push_back(static_cast<uint16_t>(std::lround(std::clamp(257.0 * plane[x], 0.0, 65535.0))));
      }
    }
  }
  const std::string plain = saved("plain.png", tests::with_chunk(tests::encode_png(srgb), "sRGB", {0}));
  const std::string profiled =
      saved("profiled.png", tests::with_chunk(tests::encode_png(drawing), "iCCP", tests::iccp(profile)));
  EXPECT_GT(value({plain, profiled}, "vmaf"), 97);
  EXPECT_GT(value({plain, profiled}, "psnr_yuv"), 60);
  EXPECT_LT(value({"--colour", ",srgb", plain, profiled}, "psnr_yuv"), 40);
}

// ---------------------------------------------------------------------------------------------------------------------

TEST(Meaning, WarningsAreTheSameOnEveryWay) {
  Picture8 clear = painting(8, 4);
  for (size_t i = 3; i < clear.samples.size(); i += 4) clear.samples[i] = 255;
  const File p3{12, 13, 0, 1};
  const std::string a = saved("clear.png", tests::with_chunk(tests::encode_png(clear), "cICP", p3));
  const std::string b = saved("plain.png", tests::encode_png(painting()));
  const json pictures = scored({"-m", "psnr", a, b})["warnings"];
  EXPECT_EQ(pictures.size(), 1u) << pictures;  // colours
  EXPECT_EQ(scored({"-m", "psnr", "--sync", "index", a, b})["warnings"], pictures);
  EXPECT_EQ(scored({"-m", "psnr,vmaf", a, b})["warnings"], pictures);
  EXPECT_EQ(scored({"-m", "vmaf", a, b})["warnings"], pictures);
  clear.samples[3] = 200;
  const std::string c = saved("clear.png", tests::with_chunk(tests::encode_png(clear), "cICP", p3));
  const json transparent = scored({"-m", "psnr", c, b})["warnings"];
  EXPECT_EQ(transparent.size(), 2u) << transparent;  // transparency, and colours
  EXPECT_EQ(scored({"-m", "psnr", "--sync", "index", c, b})["warnings"], transparent);
}

}  // namespace
}  // namespace acuity::test
