// SPDX-License-Identifier: BSD-2-Clause-Patent
// The other commands, and what is generated for shells and man.
#include <sstream>

#include <gtest/gtest.h>

#include "acuity/scorer.h"
#include "acuity/version.h"
#include "cli/command.h"
#include "base/processor_name.h"

namespace acuity::test {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string script(const std::string& shell) {
  const std::string path = scratch("acuity." + shell);
  write_file(path, acuity({"completion", shell}).out);
  return path;
}

// What bash would offer behind this line. What readline replaces begins behind the last colon or equals sign.
std::string bash_offers(const std::string& line) {
  return run({"bash", "-c",
              "source " + script("bash") + "; COMP_LINE=$0; COMP_POINT=${#0}; _acuity; echo \"${COMPREPLY[*]}\"", line})
      .out;
}

TEST(Shell, CompletionScriptsParse) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    if (!installed(shell)) continue;
    const Outcome outcome = run({shell, "-n", script(shell)});
    EXPECT_EQ(outcome.exit_code, 0) << shell << outcome.err;
    EXPECT_EQ(outcome.err, "") << shell;
  }
}

TEST(Shell, BashCompletes) {
  EXPECT_EQ(bash_offers("acuity sc"), "score\n");
  EXPECT_EQ(bash_offers("acuity score --js"), "--json\n");
  EXPECT_EQ(bash_offers("acuity score --device "), "auto cpu cuda hip vulkan\n");
  EXPECT_EQ(bash_offers("acuity score --color=al"), "always\n");
  EXPECT_EQ(bash_offers("acuity score -m psnr,ms"), "psnr,msssim psnr,mse\n");
  EXPECT_EQ(bash_offers("acuity score --memory st"), "strip:\n");
  EXPECT_EQ(bash_offers("acuity completion z"), "zsh\n");
  EXPECT_EQ(bash_offers("acuity help vm"), "vmaf\n");
  EXPECT_EQ(bash_offers("acuity metrics butt"), "butteraugli\n");
  EXPECT_EQ(bash_offers("acuity score pict"), "\n");  // files are left to readline
  EXPECT_EQ(bash_offers("acuity score --map "), "\n");
}

TEST(Shell, BashCompletesBehindTheColonOfAMetric) {
  EXPECT_EQ(bash_offers("acuity score -m vmaf:ne"), "neg\n");
  EXPECT_TRUE(contains(bash_offers("acuity score -m vmaf:"), "v1_phone "));
  EXPECT_TRUE(contains(bash_offers("acuity score -m vmaf:"), " model= "));
  EXPECT_EQ(bash_offers("acuity score -m psnr,butteraugli:sm"), "small=\n");
  EXPECT_EQ(bash_offers("acuity score -m butteraugli:pnorm=2:small="), "reject libjxl\n");
  EXPECT_EQ(bash_offers("acuity score --metric=butteraugli:small=li"), "libjxl\n");
  EXPECT_EQ(bash_offers("acuity score -m psnr:"), "\n");
}

TEST(Shell, FishCompletes) {
  if (!installed("fish")) GTEST_SKIP() << "fish is not installed";
  const auto offers = [](const std::string& line) {
    return run({"fish", "--no-config", "-c", "source " + script("fish") + "; complete -C '" + line + "'"}).out;
  };
  EXPECT_TRUE(offers("acuity sc").starts_with("score\t"));
  EXPECT_TRUE(contains(offers("acuity score --device "), "auto"));
  EXPECT_TRUE(contains(offers("acuity score -m "), "ssimulacra2"));
  EXPECT_TRUE(contains(offers("acuity completion "), "zsh"));
  EXPECT_TRUE(offers("acuity score -m vmaf:ne").starts_with("vmaf:neg\t"));
  EXPECT_TRUE(offers("acuity score -m psnr,butteraugli:pnorm=2:small=l")
                  .starts_with("psnr,butteraugli:pnorm=2:small=libjxl\t"));
  EXPECT_TRUE(offers("acuity score --metric psnr,vma").starts_with("psnr,vmaf\t"));
}

TEST(Shell, ManPageHasNoWarnings) {
  const std::string page = scratch("acuity.1");
  write_file(page, acuity({"man"}).out);
  if (!installed("man")) GTEST_SKIP() << "man is not installed";
  const Outcome outcome =
      run({"man", "--warnings", "-l", page}, {.environment = {"MANWIDTH=100", "LC_ALL=C", "PAGER=cat"}});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_TRUE(contains(outcome.out, "EXIT STATUS"));
  EXPECT_TRUE(contains(outcome.out, "--fail-under X")) << outcome.out;
}

TEST(Shell, Version) {
  const Outcome outcome = acuity({"--version"});
  EXPECT_TRUE(outcome.out.starts_with(std::string("acuity ") + ACUITY_VERSION + "\n"));
  EXPECT_TRUE(contains(outcome.out, "compiler: "));
  EXPECT_TRUE(contains(outcome.out, "\ndevices: cpu, cuda, hip, vulkan\n")) << "packages for kernels were missing";
  EXPECT_EQ(acuity({"-V"}).out, outcome.out);
#ifdef __x86_64__
  EXPECT_TRUE(contains(acuity({"--version"}, {.environment = {"ACUITY_CPU=sse4"}}).out, "SSE4"));
#endif
}

TEST(Shell, MetricsAreListed) {
  const std::string list = acuity({"metrics"}).out;
  for (const MetricInfo& metric : metrics()) {
    EXPECT_TRUE(contains(list, metric.name + "  " + metric.title)) << metric.name;
    EXPECT_TRUE(contains(list, metric.is_frame_metric ? "works on" : metric.alpha_rule)) << metric.name;
  }
}

TEST(Shell, DevicesAreListed) {
  const std::string list = acuity({"devices"}).out;
  EXPECT_TRUE(list.starts_with("cpu  "));
  const Surroundings without = {
      .environment = {"ACUITY_CUDA_DRIVER=/nowhere/libcuda.so", "ACUITY_HIP_DRIVER=/nowhere/hip.so"}};
  const std::string bare = acuity({"devices"}, without).out;
  EXPECT_TRUE(contains(bare, "not usable\n  cuda: the driver's library could not be loaded: /nowhere/libcuda.so"))
      << bare;
  EXPECT_TRUE(contains(bare, "\n  hip: the driver's library could not be loaded: /nowhere/hip.so")) << bare;
#ifdef __x86_64__
  EXPECT_TRUE(contains(acuity({"devices"}, {.environment = {"ACUITY_CPU=sse4"}}).out, "SSE4 in use"));
#endif
}

TEST(Shell, ProcessorsAreNamed) {
  const auto name_in = [](const std::string& text) {
    std::istringstream cpuinfo(text);
    return processor_name(cpuinfo);
  };
  EXPECT_EQ(name_in("processor\t: 0\nmodel name\t: Intel(R) Xeon(R)\n\nprocessor\t: 1\nmodel name\t: Other\n"),
            "Intel(R) Xeon(R)");
  const std::string pi = "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\n";
  EXPECT_EQ(name_in(pi + "CPU part\t: 0xd08\nCPU revision\t: 3\n\n" + pi + "CPU part\t: 0xd08\n"), "ARM Cortex-A72");
  EXPECT_EQ(name_in(pi + "CPU part\t: 0xd05\n\n" + pi + "CPU part\t: 0xd0b\n"), "ARM Cortex-A55, ARM Cortex-A76");
  EXPECT_EQ(name_in(pi + "CPU part\t: 0xfff\n"), "ARM part 0xfff");
  EXPECT_EQ(name_in("CPU implementer\t: 0x61\nCPU part\t: 0x023\n"), "Apple part 0x023");
  EXPECT_EQ(name_in("CPU implementer\t: 0xff\nCPU part\t: 0x001\n"), "implementer 0xff part 0x001");
  EXPECT_EQ(name_in(""), "processor of unknown name");
}

TEST(Shell, SelftestPasses) {
  const Outcome outcome = acuity({"selftest"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_FALSE(contains(outcome.out, "WRONG")) << outcome.out;
  for (const MetricInfo& metric : metrics()) {
    EXPECT_TRUE(contains(outcome.out, metric.name)) << metric.name;
  }
  EXPECT_TRUE(contains(outcome.out, "2 threads"));
}

}  // namespace
}  // namespace acuity::test
