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
#include "cli/job_plan.h"
#include "cli/map_file.h"
#include "cli/pair_list.h"
#include "cli/row_scheduler.h"
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
      metric_option(),
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
      {.name = "--csv",
       .help = "print CSV: one row per pair and metric, for videos also per frame and pool; a metric's other outputs, "
               "such as sub-scores and features, are only in --csv-wide and --json"},
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
       .help = "how many pairs of frames a GPU is sent ahead, 1 to 64; never changes a score",
       .default_value = "as many as keep it busy"},
      memory_option(),
      vram_cap_option(),
      memory_limit_option(),
  };
}

std::vector<Option> score_options() {
  std::vector<Option> options = joined(joined(picture_options(), map_options()), frame_options());
  for (const auto* table : {&geometry_options(), &pairing_options(), &stream_options(), &decode_options(),
                            &sample_options(), &comparison_options(), &limit_options()}) {
    options = joined(std::move(options), *table);
  }
  return with_common(std::move(options));
}

// What 'batch', 'compare' and 'serve' have of the options of 'score'.
std::vector<Option> with_row_options(std::vector<Option> options) {
  options = joined(std::move(options), row_options());
  for (const auto* table : {&frame_options(), &geometry_options(), &pairing_options(), &stream_options(),
                            &decode_options(), &sample_options(), &comparison_options(), &limit_options()}) {
    options = joined(std::move(options), *table);
  }
  return with_common(std::move(options));
}

Command batch_command() {
  return {
      .name = "batch",
      .arguments = "PAIRS",
      .summary = "score a list of pairs of any length, and go on where an earlier run ended",
      .description =
          {"Scores every pair of PAIRS: CSV or TSV with a header, or JSON lines, from a file or standard input (-). "
           "The "
           "columns reference (or ref_path) and distorted (or dist_path) name the files; a column metrics gives a row "
           "its own metrics, as in -m; all columns are passed through. Instead of PAIRS, --pair-dirs REF_DIR "
           "DIST_DIR... "
           "pairs files by name, and --reference FILE --glob PATTERN compares all files of a pattern with one "
           "original.",
           "The file of results has one row for each pair, in the order of the list, and one column for each metric, "
           "then device, version, warnings and error. A row that fails has an error and no scores; the others go on.",
           "The same command continues a run that ended early, for whatever reason: complete rows are kept, and the "
           "rest is done. A list, metrics, options or a version that differ are refused."},
      .examples = {{"acuity batch pairs.csv -m ssimulacra2,butteraugli -o scores.csv", "a list, two metrics"},
                   {"acuity batch pairs.csv -m ssimulacra2,butteraugli -o scores.csv --retry-failed",
                    "only the rows that failed, again"},
                   {"acuity batch --pair-dirs originals avif jxl -o scores.tsv", "files of the same name"},
                   {"acuity batch --reference original.png --glob 'out/*.avif' -o scores.csv", "one original"},
                   {"make-pairs | acuity batch - --outputs all -o scores.jsonl", "from a program"}},
      .options = with_row_options(joined(
          {{.name = "--output",
            .letter = "-o",
            .value = "OUT",
            .help = "the file of results, which a later run continues: .csv, .tsv or .jsonl",
            .suggest = Suggest::files},
           outputs_option(),
           {.name = "--retry-failed",
            .help = "do only the rows of OUT that have an error again; OUT is replaced when all are done"},
           {.name = "--unordered",
            .help = "write rows as soon as they are finished, with their number in the list as the first column"}},
          pair_list_options())),
      .words = {},
      .minimum_arguments = 0,
      .maximum_arguments = 1 << 20,
      .run = run_batch,
  };
}

Command compare_command() {
  return {
      .name = "compare",
      .arguments = "",
      .summary = "compare variants of pictures or videos with their originals, as a table",
      .description =
          {"Scores every variant of every reference. A variant is a folder with a file for each reference, which has "
           "its "
           "name without extension; with one reference, a variant may be a file. The best of each row is marked, and "
           "means, medians and wins cover the references that all variants have a score for."},
      .examples = {{"acuity compare --reference originals --variant avif-q50 jxl-q80 webp-q75", "three encoders"},
                   {"acuity compare -r original.png --variant a.avif b.jxl -m ssimulacra2,butteraugli", "two files"},
                   {"acuity compare -r originals --variant old new --csv -o compared.csv", "for a spreadsheet"}},
      .options = with_row_options({{.name = "--reference",
                                    .letter = "-r",
                                    .value = "PATH...",
                                    .help = "the originals: files, or folders of them",
                                    .suggest = Suggest::files,
                                    .repeats = true,
                                    .is_list = true},
                                   {.name = "--variant",
                                    .value = "PATH...",
                                    .help = "folders that have a file for each original; with one original, also files",
                                    .suggest = Suggest::files,
                                    .repeats = true,
                                    .is_list = true},
                                   {.name = "--csv", .help = "print CSV: one row per reference and variant"},
                                   {.name = "--json", .help = "print JSON, schema acuity-compare/1"},
                                   {.name = "--output",
                                    .letter = "-o",
                                    .value = "FILE",
                                    .help = "write the results to this file, completely or not at all; a name ending "
                                            "in .csv or .json chooses the form",
                                    .suggest = Suggest::files}}),
      .words = {},
      .run = run_compare,
  };
}

Command serve_command() {
  return {
      .name = "serve",
      .arguments = "",
      .summary = "score pairs that another program asks for, one JSON line each",
      .description =
          {"Reads rows as JSON lines from standard input and answers each with a JSON line on standard output as soon "
           "as "
           "it is scored, not always in order. Devices stay open and references cached between them. A row has "
           "reference, distorted and, if wanted, metrics (as in -m) and id, any JSON, which the answer repeats. An "
           "invalid line is answered with an error. The end of standard input ends the process."},
      .examples = {{"acuity serve -m ssimulacra2 < rows.jsonl > answers.jsonl",
                    "a row is {\"id\":1,\"reference\":\"a.png\",\"distorted\":\"b.jpg\"}"}},
      .options = with_row_options({outputs_option()}),
      .words = {},
      .run = run_serve,
  };
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

Command plan_command() {
  return {
      .name = "plan",
      .arguments = "PAIRS",
      .summary = "show where a list of pairs would be scored, without doing it",
      .description =
          {"For the same list and options as 'acuity batch': which devices would score how many rows, against prepared "
           "references or not, in full or in strips, with how much memory and in what time, and why every other way "
           "was not chosen. Only the headers of the references are read. Times are for scoring, by what was measured "
           "on this machine ('acuity bench') or else guessed, which is stated."},
      .examples = {{"acuity plan pairs.csv -m ssimulacra2,butteraugli", "before a long run"},
                   {"acuity plan pairs.csv --devices cuda:0 --json", "for programs"}},
      .options = with_row_options(
          joined({{.name = "--json", .help = "print JSON, schema acuity-plan/1"}}, pair_list_options())),
      .words = {},
      .minimum_arguments = 0,
      .maximum_arguments = 1 << 20,
      .run = run_plan,
  };
}

Command bench_command() {
  return {
      .name = "bench",
      .arguments = "",
      .summary = "show what was measured on this machine, or measure it",
      .description =
          {"Shows how long each metric takes on each device, by which --device auto and the scheduler choose. Commands "
           "that score add to it as they run. With --calibrate, everything is measured, within a minute.",
           "It is kept in the folder acuity of XDG_CACHE_HOME, or of ~/.cache. Deleting it costs nothing but time: a "
           "device is then chosen by a guess, until it has been measured again. It never changes a score."},
      .examples = {{"acuity bench --calibrate", "measure everything"},
                   {"acuity bench --calibrate -m ssimulacra2 --device cuda", "one metric on one device"},
                   {"acuity bench", "what is known"}},
      .options = with_common({{.name = "--calibrate", .help = "measure metrics and decoding, and keep the result"},
                              {.name = "--metric",
                               .letter = "-m",
                               .value = "NAME,...",
                               .help = "with --calibrate: which metrics to measure",
                               .default_value = "all",
                               .suggest = Suggest::metrics,
                               .repeats = true},
                              {.name = "--device",
                               .value = "NAME",
                               .help = "with --calibrate: which device to measure; may be given several times",
                               .default_value = "the CPU and all GPUs",
                               .words = {"cpu", "cuda", "hip", "vulkan"},
                               .suggest = Suggest::words,
                               .repeats = true}}),
      .words = {},
      .run = run_bench,
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
      batch_command(),
      compare_command(),
      serve_command(),
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
       .examples = {{"acuity devices", "what --device accepts"},
                    {"acuity devices --verbose", "why a GPU refuses a metric"}},
       .options = with_common({{.name = "--verbose",
                                .help = "open each GPU, and also show its limits, and which metrics it refuses and "
                                        "why"}}),
       .words = {},
       .run = run_devices},
      {.name = "selftest",
       .arguments = "",
       .summary = "check that this machine computes the right scores",
       .description = {"Scores pictures that are part of the command with every metric, instruction set and one and "
                       "two threads, or on one device, and "
                       "compares the results with known answers, to the last bit."},
       .examples = {{"acuity selftest", "exit code 0 if everything agrees, 1 if not"},
                    {"acuity selftest --device cuda", "the same on a GPU"}},
       .options = with_common({{.name = "--device",
                                .value = "NAME",
                                .help = "check this device",
                                .default_value = "cpu",
                                .words = {"cpu", "cuda", "hip", "vulkan"},
                                .suggest = Suggest::words}}),
       .words = {},
       .run = run_selftest},
      plan_command(),
      bench_command(),
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
       .description = {"The manual page contains the --help of all commands."},
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
      {"4", "the requested device cannot be used, or failed"},
      {"5", "a score is worse than --fail-under"},
      {"6", "rows of a batch or a comparison failed; all others are done"},
      {"130", "interrupted (as shells show it); with -o, after writing what was scored"},
  };
  return table;
}

const std::vector<Meaning>& environment() {
  static const std::vector<Meaning> table = {
      {"ACUITY_CPU", "the fastest instruction set to use: sse4, avx2, avx512 or neon; never changes a score"},
      {"ACUITY_NVTX", "1: mark uploads, features, metrics and readbacks for NVIDIA's profilers"},
      {"ACUITY_VRAM_CAP_BYTES", "the most memory to use on a GPU, unless --vram-cap is given; never changes a score"},
      {"NO_COLOR", "if set and not empty, no output is coloured unless --color asks for it"},
      {"TERM", "if it is dumb, no output is coloured and no progress is shown"},
      {"XDG_CACHE_HOME", "the folder in which what was measured is kept (default: ~/.cache); never changes a score"},
  };
  return table;
}

std::string spelling(const Option& option) {
  const std::string names = option.letter.empty() ? option.name : option.letter + ", " + option.name;
  return option.value.empty() ? names : names + " " + option.value;
}

std::string full_help(const Option& option) {
  std::string text = option.help;
  // A single word is not all that is valid: the help of its option describes it.
  if (option.words.size() > 1) text += fmt::format("; one of {}", fmt::join(option.words, ", "));
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
