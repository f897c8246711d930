// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/options.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "acuity/scorer.h"
#include "base/names.h"
#include "cli/commands.h"
#include "cli/meaning_plan.h"
#include "cli/geometry.h"
#include "cli/map_file.h"
#include "cli/video_plan.h"
#include "cli/vmaf_plan.h"

namespace acuity::cli {
namespace {

const Option kHelp{.name = "--help", .letter = "-h", .help = "show this help"};

const Option kColor{.name = "--color",
                    .value = "WHEN",
                    .help = "colour the output; auto: on a terminal, unless NO_COLOR is set or TERM is dumb",
                    .default_value = "auto",
                    .words = {"auto", "always", "never"},
                    .suggest = Suggest::words};

std::vector<Option> with_common(std::vector<Option> options) {
  options.insert(options.end(), common_options().begin(), common_options().end());
  return options;
}

std::vector<Option> joined(std::vector<Option> first, const std::vector<Option>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::vector<Option> picture_options() {
  return {
      {.name = "--metric",
       .letter = "-m",
       .value = "NAME,...",
       .help = "what to compute, each as NAME or with options of its own as NAME:OPTION=VALUE:...; 'acuity metrics' "
               "lists names and options",
       .default_value = "ssimulacra2",
       .suggest = Suggest::metrics,
       .repeats = true},
      {.name = "--reference",
       .letter = "-r",
       .value = "FILE",
       .help = "the original; all other files are then distorted ones",
       .suggest = Suggest::files},
      {.name = "--distorted",
       .letter = "-d",
       .value = "FILE",
       .help = "a picture to be compared with the original; may be given several times",
       .suggest = Suggest::files,
       .repeats = true},
      {.name = "--plain", .help = "print text for people; this is the default"},
      {.name = "--json", .help = "print JSON, schema acuity-score/1"},
      {.name = "--csv", .help = "print CSV: one row per pair and metric, for videos also per frame and pool"},
      {.name = "--csv-wide",
       .help = "print CSV: one row per frame or pair of pictures, one column per output of each metric"},
      {.name = "--value-only", .help = "print only values, for scripts: one line per pair, with tabs between metrics"},
      {.name = "--output",
       .letter = "-o",
       .value = "FILE",
       .help =
           "write the results to this file, completely or not at all; without an option for the form, a name ending "
           "in .json or .csv chooses it",
       .suggest = Suggest::files},
      {.name = "--explain",
       .help = "also show what was found in the files, what was assumed, and how the scores were computed"},
      {.name = "--fail-under",
       .value = "X",
       .help = "exit with 5 if a result is worse: a number is a limit for the first metric, a "
               "condition such as 'ssimulacra2>=70', 'butteraugli<=1.5' or, for videos, 'vmaf.p5>=80' names a metric "
               "and a pool; may be given several times",
       .repeats = true},
      {.name = "--threads",
       .value = "N",
       .help = "how many threads to use; never changes a score",
       .default_value = "one per core"},
      {.name = "--device",
       .value = "NAME",
       .help = "the device that computes",
       .default_value = "auto",
       .words = {"auto", "cpu", "cuda", "hip", "vulkan"},
       .suggest = Suggest::words},
      {.name = "--frames-in-flight",
       .value = "N",
       .help = "how many pairs of frames a GPU gets ahead, 1 to 64; never changes a score",
       .default_value = "as many as keep it busy"},
      {.name = "--memory",
       .value = "MODE",
       .help = "how much of a picture is processed at once; never changes a score",
       .default_value = "auto",
       .words = {"auto", "full", "strip:ROWS"},
       .suggest = Suggest::words},
      {.name = "--vram-cap",
       .value = "MIB",
       .help = "the most memory to use on a GPU, in MiB",
       .default_value = "all that is free"},
  };
}

std::vector<Option> score_options() {
  std::vector<Option> options = joined(joined(picture_options(), map_options()), frame_options());
  for (const auto* table : {&geometry_options(), &pairing_options(), &stream_options(), &sample_options(),
                            &comparison_options(), &limit_options()}) {
    options = joined(std::move(options), *table);
  }
  return with_common(std::move(options));
}

Command score_command() {
  return {
      .name = "score",
      .arguments = "REF DIST...",
      .summary = "measure how visible the difference between pictures or videos is",
      .description =
          {"Compares each picture DIST with the original REF, which all of them share. Files are recognised "
           "by content: PNG, JPEG, WebP, AVIF, JPEG XL, TIFF, GIF, HEIC, JPEG 2000, BMP, TGA, OpenEXR, PNM, PFM. A "
           "single - reads standard input. Animations and pages are frames of a video if both sides have several; "
           "--frame chooses one.",
           "Videos are compared frame by frame: YUV4MPEG2 from files and pipes, raw YUV with --size, and "
           "every "
           "container and codec that libav knows. A named pipe is read as a picture unless an option for videos, such "
           "as --sync index, is given.",
           "Results go to standard output, everything else to standard error. If there are several pictures, all are "
           "scored; the exit code is that of the first that failed."},
      .examples = {{"acuity score original.png compressed.jpg", "the SSIMULACRA2 score, with its meaning"},
                   {"acuity score -m ssimulacra2,psnr --json original.png a.avif b.jxl",
                    "two metrics, two files, as JSON"},
                   {"acuity score --fail-under 70 original.png compressed.jpg",
                    "a gate for scripts: exit code 5 below 70"},
                   {"acuity score --scale dist --map map.png original.png half-size.webp",
                    "at the size of the original, and where the difference is"},
                   {"acuity score --value-only original.png compressed.jpg", "only the number, for scripts"},
                   {"acuity score -m ssimulacra2,psnr --json original.y4m compressed.y4m",
                    "every frame of two videos, and all pools"},
                   {"acuity score -m vmaf --fail-under 'vmaf.p5>=80' -o scores.json original.mkv compressed.mkv",
                    "results to a file, and a gate on the worst frames"}},
      .options = score_options(),
      .words = {},
      .minimum_arguments = 0,
      .maximum_arguments = 1 << 20,
      .run = run_score,
  };
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const MetricInfo& metric : metrics()) names.push_back(metric.name);
  return names;
}

std::vector<Command> make_commands() {
  return {
      score_command(),
      {.name = "video-info",
       .arguments = "REF [DIST]",
       .summary = "show what videos contain and what is assumed about them",
       .description = {"Shows what the streams state and what is assumed where they state nothing: the "
                       "size, the depth, the range, the matrix, the colours, the siting, the frame rate and, if the "
                       "file shows it, the number of frames. With two videos it also shows how they differ."},
       .examples = {{"acuity video-info original.y4m compressed.y4m", "before a long run"}},
       .options =
           with_common(joined(joined(joined(stream_options(), sample_options()), geometry_options()), limit_options())),
       .words = {},
       .minimum_arguments = 0,
       .maximum_arguments = 2,
       .run = run_video_info},
      {.name = "metrics",
       .arguments = "[NAME]...",
       .summary = "list the metrics and what they need",
       .description = {"One paragraph for each metric of this build, or for those named: its version, which "
                       "direction is better, what identical pictures give, what it needs, and the options it accepts "
                       "after its name in -m."},
       .examples = {{"acuity metrics", "what -m accepts"}, {"acuity metrics butteraugli", "one of them"}},
       .options = with_common({}),
       .words = metric_names(),
       .maximum_arguments = 1 << 20,
       .run = run_metrics},
      {.name = "vmaf",
       .arguments = "",
       .summary = "score videos as libvmaf's command does, with its options and outputs",
       .description =
           {"For scripts that call libvmaf's 'vmaf' (version 3.2.0): the same options, the same files with the "
            "same names in them. Frame rates are measured in elapsed time, and a video that breaks off is an "
            "error after what was scored is written."},
       .examples = {{"acuity vmaf -r original.y4m -d compressed.y4m --json -o scores.json", "by model vmaf_v0.6.1"},
                    {"acuity vmaf -r a.yuv -d b.yuv -w 1920 -h 1080 -p 420 -b 8 -m version=vmaf_v0.6.1neg --feature "
                     "psnr -o scores.xml",
                     "raw YUV, another model, and a feature"}},
       .options = joined(vmaf_options(), {kColor}),
       .words = {},
       .run = run_vmaf},
      {.name = "models",
       .arguments = "",
       .summary = "list the models of VMAF and what they assume",
       .description = {"One paragraph for each model that is built in: how -m names it, which display and distance it "
                       "was trained for, what it measures, and the range of its scores. Files are named as in "
                       "-m vmaf:model=FILE."},
       .examples = {{"acuity models", "what -m vmaf:MODEL accepts"}},
       .options = with_common({}),
       .words = {},
       .run = run_models},
      {.name = "devices",
       .arguments = "",
       .summary = "list what can compute on this machine",
       .description =
           {"The processor with the instruction set in use, its cores and the memory; every GPU with its memory and "
            "driver; "
            "and for each of CUDA, HIP and Vulkan that cannot be used, the reason. Drivers are looked for when the "
            "command runs; none is needed for the processor."},
       .examples = {{"acuity devices", "what --device accepts"}},
       .options = with_common({}),
       .words = {},
       .run = run_devices},
      {.name = "selftest",
       .arguments = "",
       .summary = "check that this machine computes the right scores",
       .description = {"Scores pictures that are part of the command with every metric, instruction set and one and "
                       "two threads, or on one device, and "
                       "compares the results with known answers, to the last bit."},
       .examples = {{"acuity selftest", "exit code 0 when everything agrees, 1 otherwise"},
                    {"acuity selftest --device cuda", "the same of what a GPU computes"}},
       .options = with_common({{.name = "--device",
                                .value = "NAME",
                                .help = "check this device",
                                .default_value = "cpu",
                                .words = {"cpu", "cuda", "hip", "vulkan"},
                                .suggest = Suggest::words}}),
       .words = {},
       .run = run_selftest},
      {.name = "completion",
       .arguments = "SHELL",
       .summary = "print the completion script of a shell",
       .description = {"The script completes commands, options, their values and files in bash, zsh or fish."},
       .examples = {{"source <(acuity completion bash)", "for this shell only"},
                    {"acuity completion fish > ~/.config/fish/completions/acuity.fish", "for good"}},
       .options = with_common({}),
       .words = {"bash", "zsh", "fish"},
       .minimum_arguments = 1,
       .maximum_arguments = 1,
       .run = run_completion},
      {.name = "man",
       .arguments = "",
       .summary = "print the manual page, in roff",
       .description = {"The manual page holds everything that --help says of all commands."},
       .examples = {{"acuity man | man -l -", "read it"}},
       .options = with_common({}),
       .words = {},
       .run = run_man},
      {.name = "help",
       .arguments = "[COMMAND]",
       .summary = "show the help of acuity or of one of its commands",
       .description = {"The same as --help, of acuity itself or of the command named."},
       .examples = {{"acuity help score", "the options of 'acuity score'"}},
       .options = with_common({}),
       .words = {},  // the names of all commands, below
       .maximum_arguments = 1,
       .run = run_help},
  };
}

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> table = [] {
    std::vector<Command> list = make_commands();
    std::vector<std::string> names;
    for (const Command& command : list) names.push_back(command.name);
    list.back().words = names;
    return list;
  }();
  return table;
}

const Command* find_command(std::string_view name) {
  const auto found =
      std::find_if(commands().begin(), commands().end(), [&](const Command& c) { return same_name(c.name, name); });
  return found == commands().end() ? nullptr : &*found;
}

const std::vector<Option>& general_options() {
  static const std::vector<Option> table = {
      kHelp,
      {.name = "--version",
       .letter = "-V",
       .help = "show the version, the compiler, the kinds of device built in and the instruction set in use"}};
  return table;
}

const std::vector<Option>& common_options() {
  static const std::vector<Option> table = {kColor, kHelp};
  return table;
}

const std::vector<Meaning>& exit_codes() {
  static const std::vector<Meaning> table = {
      {"0", "success"},
      {"1", "any other failure"},
      {"2", "the command line is invalid"},
      {"3", "a picture or video is missing, damaged, too large, or cannot be compared with its partner"},
      {"4", "the requested device cannot be used"},
      {"5", "a score is worse than --fail-under"},
      {"130", "interrupted (as shells show it); with -o, after writing what was scored"},
  };
  return table;
}

const std::vector<Meaning>& environment() {
  static const std::vector<Meaning> table = {
      {"ACUITY_CPU", "the fastest instruction set to use: sse4, avx2, avx512 or neon; never changes a score"},
      {"ACUITY_VRAM_CAP_BYTES", "the most memory to use on a GPU, unless --vram-cap is given; never changes a score"},
      {"NO_COLOR", "if set and not empty, no output is coloured unless --color asks for it"},
      {"TERM", "if it is dumb, no output is coloured and no progress is shown"},
  };
  return table;
}

std::string spelling(const Option& option) {
  const std::string names = option.letter.empty() ? option.name : option.letter + ", " + option.name;
  return option.value.empty() ? names : names + " " + option.value;
}

std::string full_help(const Option& option) {
  std::string text = option.help;
  if (!option.words.empty()) text += fmt::format("; one of {}", fmt::join(option.words, ", "));
  if (!option.default_value.empty()) text += fmt::format(" (default: {})", option.default_value);
  return text;
}

std::vector<std::string> suggestions(const Option& option) {
  std::vector<std::string> words;
  if (option.suggest == Suggest::metrics) words = metric_names();
  // "strip:ROWS" is offered as "strip:", for the rest is the user's to type.
  for (const std::string& word : option.words) {
    const size_t colon = word.find(':');
    words.push_back(colon == std::string::npos ? word : word.substr(0, colon + 1));
  }
  return words;
}

}  // namespace acuity::cli
