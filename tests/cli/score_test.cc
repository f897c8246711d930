// SPDX-License-Identifier: BSD-2-Clause-Patent
// What 'acuity score' computes, and what it tells the shell.
#include <filesystem>
#include <functional>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "acuity/scorer.h"
#include "cli/command.h"
#include "cli/pictures.h"
#include "cli/selftest_pictures.h"

namespace acuity::test {
namespace {

using nlohmann::json;

json results(std::vector<std::string> words, const Surroundings& surroundings = {}) {
  words.insert(words.begin(), {"score", "--json"});
  return json::parse(acuity(words, surroundings).out)["results"];
}

double library_score(const std::string& metric, const cli::DrawnPair& pair) {
  const cli::DrawnPicture& reference = pair.reference;
  return Scorer::create({.metrics = {metric}}, reference.width, reference.height)
      ->score(reference.view(), pair.distorted.view())
      ->front()
      .value;
}

TEST(Score, GivesWhatTheLibraryGives) {
  const std::vector<cli::DrawnPair> pairs = cli::selftest_pairs();
  const json found = results({"-m", "ssimulacra2,psnr,mse", scene(), noisy(), blurred()});
  ASSERT_EQ(found.size(), 2u);
  for (const char* metric : {"ssimulacra2", "psnr", "mse"}) {
    EXPECT_EQ(found[0]["metrics"][metric]["value"].get<double>(), library_score(metric, pairs[0])) << metric;
    EXPECT_EQ(found[1]["metrics"][metric]["value"].get<double>(), library_score(metric, pairs[1])) << metric;
  }
}

TEST(Score, SharingTheReferenceChangesNothing) {
  const json alone = results({scene(), blurred()});
  const json shared = results({scene(), noisy(), blurred()});
  EXPECT_EQ(alone[0]["metrics"], shared[1]["metrics"]);
  // One of them decodes it, and the other may only look whether the file has changed.
  const auto decoded_in = [&](size_t i) { return shared[i]["timing_ms"]["decode_reference"].get<double>(); };
  EXPECT_GT(decoded_in(0) + decoded_in(1), 0);
}

// With one thread pairs come one after the other, with more side by side; nobody should notice, bad files included.
TEST(Score, SideBySideIsOneAfterTheOther) {
  std::vector<std::string> words{"-m", "ssimulacra2,mse", scene()};
  for (int i = 0; i < 40; ++i) words.push_back(i % 3 == 0 ? noisy() : blurred());
  words[5] = flat(30, 40);
  words[20] = "/no/such/picture";
  words[40] = exr_with_nan(64, 64);
  const auto run_with = [&](const char* threads) {
    std::vector<std::string> all{"score", "--json", "--threads", threads};
    all.insert(all.end(), words.begin(), words.end());
    return acuity(all);
  };
  const Outcome one = run_with("1"), four = run_with("4");
  EXPECT_EQ(one.exit_code, four.exit_code);
  EXPECT_EQ(one.err, four.err);
  const json expected = json::parse(one.out)["results"], found = json::parse(four.out)["results"];
  ASSERT_EQ(found.size(), 40u);
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i]["distorted"], expected[i]["distorted"]);
    EXPECT_EQ(found[i].contains("metrics") ? found[i]["metrics"] : json(),
              expected[i].contains("metrics") ? expected[i]["metrics"] : json());
  }
}

TEST(Score, NeitherThreadsNorMemoryNorCpuChangeAnything) {
  const json plain = results({scene(), noisy()})[0]["metrics"];
  EXPECT_EQ(results({scene(), noisy(), "--threads", "1"})[0]["metrics"], plain);
  EXPECT_EQ(results({scene(), noisy(), "--threads", "3"})[0]["metrics"], plain);
  EXPECT_EQ(results({scene(), noisy(), "--memory", "strip:16"})[0]["metrics"], plain);
  EXPECT_EQ(results({scene(), noisy(), "--memory", "full", "--device", "cpu"})[0]["metrics"], plain);
#ifdef __x86_64__
  json sse4 = results({scene(), noisy()}, {.environment = {"ACUITY_CPU=sse4"}})[0]["metrics"];
  EXPECT_EQ(sse4["ssimulacra2"]["device"], "cpu (SSE4)");
  sse4["ssimulacra2"]["device"] = plain["ssimulacra2"]["device"];
  EXPECT_EQ(sse4, plain);
#endif
}

// zensim names differences that are not a codec's, wherever the reference was prepared before.
TEST(Score, TheCauseOfADifferenceIsAWarningOnEveryWay) {
  const auto picture = [](const std::string& name, const std::function<int(int, int)>& code) {
    std::string text = "P6 40 36 255\n";
    for (int pixel = 0; pixel < 40 * 36; ++pixel) {
      for (int c = 0; c < 3; ++c) text.push_back(static_cast<char>(code(pixel, c)));
    }
    write_file(scratch(name), text);
    return scratch(name);
  };
  const auto code = [](int pixel, int c) { return (pixel * 7 + c * 50) % 250; };
  const std::string plain = picture("plain.ppm", code);
  const std::string swapped = picture("swapped.ppm", [&](int pixel, int c) { return code(pixel, 2 - c); });
  const std::string rounded = picture("rounded.ppm", [&](int pixel, int c) { return code(pixel, c) + pixel % 2; });
  const std::string swap = "zensim: difference: red and blue are swapped";
  const std::string round = "zensim: difference: no sample differs by more than one code, as after rounding";
  for (const char* threads : {"1", "2", "4"}) {
    const json both = results({"-m", "zensim", "--threads", threads, plain, swapped, rounded});
    EXPECT_EQ(both[0]["warnings"], json({swap})) << threads;
    EXPECT_EQ(both[1]["warnings"], json({round})) << threads;
  }
  EXPECT_EQ(results({"-m", "zensim", plain, swapped})[0]["warnings"], json({swap}));
  const std::string text = acuity({"score", "-m", "zensim", plain, swapped}).out;
  EXPECT_NE(text.find("warning    " + swap), std::string::npos) << text;
  EXPECT_NE(text.find("small: 40 x 36 pixels mirrored up to 64 x 64"), std::string::npos) << text;
  EXPECT_EQ(text.find("decoded to"), std::string::npos) << text;
  EXPECT_NE(acuity({"score", "-m", "zensim:white=200", plain, swapped}).out.find("PU21"), std::string::npos);
  std::filesystem::remove(scratch("out.csv"));
  write_file(scratch("pairs.csv"),
             "reference,distorted\n" + plain + "," + swapped + "\n" + plain + "," + rounded + "\n");
  const Outcome batch =
      acuity({"batch", scratch("pairs.csv"), "-m", "zensim", "--devices", "cpu", "-o", scratch("out.csv")});
  EXPECT_EQ(batch.exit_code, 0) << batch.err;
  const std::string rows = read_file(scratch("out.csv"));
  EXPECT_NE(rows.find(swap), std::string::npos) << rows;
  EXPECT_NE(rows.find("as after rounding"), std::string::npos) << rows;
}

TEST(Score, DefaultMetricIsSsimulacra2) {
  const json metrics = results({scene(), noisy()})[0]["metrics"];
  EXPECT_EQ(metrics.size(), 1u);
  EXPECT_TRUE(metrics.contains("ssimulacra2"));
}

TEST(Score, NamedFormsMeanTheSame) {
  const json expected = results({scene(), noisy(), blurred()});
  const std::vector<std::vector<std::string>> forms = {
      {"-r", scene(), "-d", noisy(), "-d", blurred()},
      {"--reference", scene(), noisy(), blurred()},
      {scene(), "-d", noisy(), "--distorted=" + blurred()},
      {"-d", noisy(), blurred(), "-r" + scene()},
  };
  for (const auto& form : forms) {
    const json found = results(form);
    ASSERT_EQ(found.size(), 2u);
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(found[i]["distorted"], expected[i]["distorted"]);
      EXPECT_EQ(found[i]["metrics"], expected[i]["metrics"]);
    }
  }
}

TEST(Score, ReadsStandardInput) {
  const json expected = results({scene(), noisy()})[0]["metrics"];
  EXPECT_EQ(results({scene(), "-"}, {.input = read_file(noisy())})[0]["metrics"], expected);
  EXPECT_EQ(results({"-", noisy()}, {.input = read_file(scene())})[0]["metrics"], expected);
  const json both = results({"-", noisy(), blurred()}, {.input = read_file(scene())});
  EXPECT_EQ(both[0]["metrics"], expected);
  EXPECT_EQ(both[1]["metrics"], results({scene(), blurred()})[0]["metrics"]);
  EXPECT_EQ(results({scene(), blurred(), "-"}, {.input = read_file(noisy())})[1]["metrics"], expected);
}

TEST(Score, SeveralFilesKeepToTheMemoryLimit) {
  const Outcome outcome = acuity({"score", "--memory-limit", "1", scene(), noisy(), flat(2000, 2000)});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.out;
  EXPECT_NE(outcome.err.find("raise the limit"), std::string::npos) << outcome.err;
  EXPECT_EQ(acuity({"score", "--memory-limit", "0", scene(), noisy()}).exit_code, 2);
}

TEST(Score, StandardInputThatIsATerminalIsRefused) {
  const Outcome outcome = acuity({"score", "-", noisy()}, {.input_terminal = true});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("terminal"), std::string::npos);
}

TEST(Score, ButteraugliOfTinyPicturesPassesNoGateUnasked) {
  const auto filled = [](const std::string& name, const std::string& pixel) {
    std::string text = "P6\n7 7\n255\n";
    for (int i = 0; i < 7 * 7; ++i) text += pixel;
    write_file(scratch(name), text);
    return scratch(name);
  };
  const std::string red = filled("red.ppm", std::string("\xff\0\0", 3));
  const std::string blue = filled("blue.ppm", std::string("\0\0\xff", 3));
  const Outcome outcome = acuity({"score", "-m", "butteraugli", "--fail-under", "1", red, blue});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("needs at least 8 on each side"), std::string::npos) << outcome.err;
  const Outcome asked = acuity({"score", "-m", "butteraugli:small=libjxl", "--value-only", red, blue});
  EXPECT_EQ(asked.out, "0\n");
  const Outcome text = acuity({"score", "-m", "butteraugli:small=libjxl", red, blue});
  EXPECT_EQ(text.out.find("identical"), std::string::npos) << text.out;
  EXPECT_NE(asked.err.find("warning: butteraugli:small=libjxl of 7x7 pixels does not measure"), std::string::npos)
      << asked.err;
}

TEST(Score, RepeatedMetricsCountOnceWithAWarning) {
  const Outcome outcome = acuity({"score", "--json", "-m", "psnr,psnr", scene(), noisy()});
  EXPECT_EQ(outcome.exit_code, 0);
  const json document = json::parse(outcome.out);
  EXPECT_EQ(document["results"][0]["metrics"].size(), 1u);
  ASSERT_EQ(document["warnings"].size(), 1u);
  EXPECT_NE(outcome.err.find(document["warnings"][0].get<std::string>()), std::string::npos);
}

TEST(Score, WarnsWhereTransparencyOrColourIsLost) {
  const auto ppm = [](const std::string& name, const std::string& header, int samples) {
    const std::string path = scratch(name);
    write_file(path, header + std::string(static_cast<size_t>(16 * 16 * samples), 'x'));
    return path;
  };
  const std::string opaque = ppm("opaque.ppm", "P6\n16 16\n255\n", 3);
  const std::string clear =
      ppm("clear.pam", "P7\nWIDTH 16\nHEIGHT 16\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n", 4);
  const Outcome transparency = acuity({"score", "-m", "psnr", "--json", clear, opaque});
  EXPECT_EQ(transparency.exit_code, 0) << transparency.err;
  EXPECT_NE(transparency.err.find("warning: " + clear + " has transparency"), std::string::npos) << transparency.err;
  EXPECT_EQ(json::parse(transparency.out)["warnings"].size(), 1u);
  EXPECT_EQ(json::parse(transparency.out)["results"][0]["warnings"], json::parse(transparency.out)["warnings"]);
  for (const char* form : {"--plain", "--csv", "--csv-wide"}) {
    const Outcome outcome = acuity({"score", "-m", "psnr", form, clear, opaque});
    EXPECT_NE(outcome.out.find(clear + " has transparency"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.err.find("warning: " + clear), std::string::npos) << outcome.err;
  }
  // On one terminal it is said once.
  const Outcome seen = acuity({"score", "-m", "psnr", clear, opaque},
                              {.environment = {"TERM=dumb"}, .output_terminal = true, .error_terminal = true});
  EXPECT_NE(seen.out.find(clear + " has transparency"), std::string::npos) << seen.out;
  EXPECT_EQ(seen.err, "");
  const Outcome colour = acuity({"score", "-m", "psnr", "--json", png_in_linear_light(16, 16), opaque});
  EXPECT_EQ(colour.exit_code, 0) << colour.err;
  EXPECT_NE(colour.err.find(opaque + " does not state its colours: assumed sRGB, although"), std::string::npos)
      << colour.err;
  EXPECT_EQ(acuity({"score", "-m", "psnr", opaque, opaque}).err, "");
}

// The noisy scene has a PSNR of about 28.5 dB and an MSE of about 91.
TEST(Score, FailUnderFollowsTheDirectionOfTheFirstMetric) {
  const auto code = [](const std::string& metrics, const std::string& limit) {
    return acuity({"score", "-m", metrics, "--fail-under", limit, scene(), noisy()}).exit_code;
  };
  EXPECT_EQ(code("psnr", "28"), 0);
  EXPECT_EQ(code("psnr", "29"), 5);
  EXPECT_EQ(code("mse", "92"), 0);
  EXPECT_EQ(code("mse", "90"), 5);
  EXPECT_EQ(code("psnr,mse", "29"), 5);
  EXPECT_EQ(code("mse,psnr", "92"), 0);
  EXPECT_EQ(code("psnr", "-5"), 0);
}

TEST(Score, FailUnderIsNotWorseAtTheLimitItself) {
  const std::vector<std::string> line = {"score", "-m", "mse", scene(), noisy(), "--csv"};
  const std::string row = acuity(line).out;
  const size_t at = row.find(",mse,") + 5;
  const std::string value = row.substr(at, row.find(',', at) - at);
  EXPECT_EQ(acuity({"score", "-m", "mse", scene(), noisy(), "--fail-under", value}).exit_code, 0);
}

TEST(Score, ResultsAreStillPrintedBelowTheLimit) {
  const Outcome outcome = acuity({"score", "-m", "psnr", "--fail-under", "90", scene(), noisy(), scene()});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_NE(outcome.out.find("28.5"), std::string::npos);
  EXPECT_NE(outcome.err.find("--fail-under asks for 90 or more"), std::string::npos);
}

TEST(Score, AllPairsAreTriedAndTheFirstFailureDecides) {
  const std::string absent = scratch("absent.png");
  const Outcome outcome = acuity(
      {"score", "--json", "-m", "psnr", "--fail-under", "90", scene(), absent, noisy(), flat(20, 30), blurred()});
  EXPECT_EQ(outcome.exit_code, 3);
  const json found = json::parse(outcome.out)["results"];
  ASSERT_EQ(found.size(), 4u);
  EXPECT_TRUE(found[0].contains("error"));
  EXPECT_TRUE(found[1].contains("metrics"));
  EXPECT_TRUE(found[2].contains("error"));
  EXPECT_TRUE(found[3].contains("metrics"));
  for (const size_t i : {0u, 2u}) EXPECT_NE(outcome.err.find(found[i]["error"].get<std::string>()), std::string::npos);
}

TEST(Score, ABadReferenceIsToldOnce) {
  const std::string absent = scratch("absent.png");
  const Outcome outcome = acuity({"score", "--json", absent, noisy(), blurred()});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  const json found = json::parse(outcome.out)["results"];
  ASSERT_EQ(found.size(), 2u);
  for (const json& result : found) EXPECT_TRUE(result.contains("error") && !result.contains("metrics"));
}

TEST(Score, UnknownDevice) {
  const Outcome outcome = acuity({"score", "--device", "abacus:0", scene(), noisy()});
  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("unknown device 'abacus:0'"), std::string::npos) << outcome.err;
}

TEST(Score, UnknownCpuTarget) {
  const Outcome outcome = acuity({"score", scene(), noisy()}, {.environment = {"ACUITY_CPU=abacus"}});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("'abacus'"), std::string::npos);
  // One of another kind of processor.
#ifdef __x86_64__
  const std::string other = "ACUITY_CPU=neon";
#else
  const std::string other = "ACUITY_CPU=sse4";
#endif
  const Outcome with_other = acuity({"score", scene(), noisy()}, {.environment = {other}});
  EXPECT_EQ(with_other.exit_code, 2);
  EXPECT_EQ(with_other.out, "");
  EXPECT_NE(with_other.err.find("expected one of"), std::string::npos);
}

}  // namespace
}  // namespace acuity::test
