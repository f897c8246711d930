// SPDX-License-Identifier: BSD-2-Clause-Patent
// Runs 'acuity vmaf' on a device for every value of a file of libvmaf's, and on the CPU beside it:
//
//   video_goldens FILE DEVICE [CLIP...]
//
// The file has the columns clip,origin,arguments,frame_or_pool,output,value; arguments are those of libvmaf's command,
// and clips are named as in support/synthetic_video.h. Every value of the device must be == to the CPU's and within
// 1e-6 of libvmaf's, relative to numbers above 1. Where libvmaf refused a clip, so must the command. It takes half an
// hour on a device in software, so it is no part of the tests; HACKING.md says when to run it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/request.h"
#include "device/device.h"
#include "support/raw_video.h"

namespace acuity::tests {
namespace {

constexpr double kTolerance = 1e-6;

struct Row {
  std::string place, output, value;
};
// By clip and arguments.
using Rows = std::map<std::pair<std::string, std::string>, std::vector<Row>>;

Rows read_rows(const std::string& path, const std::vector<std::string>& clips) {
  std::ifstream file(path);
  Rows rows;
  std::string line;
  std::getline(file, line);  // the header
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string clip, origin, arguments;
    Row row;
    for (std::string* field : {&clip, &origin, &arguments, &row.place, &row.output}) std::getline(fields, *field, ',');
    std::getline(fields, row.value);
    if (!clips.empty() && std::find(clips.begin(), clips.end(), clip) == clips.end()) continue;
    rows[{clip, arguments}].push_back(row);
  }
  return rows;
}

class Clip {
 public:
  Clip(const std::string& name, const std::filesystem::path& folder)
      : reference_(folder / "reference.yuv"), distorted_(folder / "distorted.yuv") {
    const SyntheticClip clip = synthetic_clip(name);
    write(reference_, clip.reference);
    write(distorted_, clip.distorted);
    const FrameShape& shape = clip.reference.at(0).format;
    const char* pixels = shape.subsampling == Subsampling::yuv420   ? "420"
                         : shape.subsampling == Subsampling::yuv422 ? "422"
                                                                    : "444";
    words_ = {"-r",     reference_,
              "-d",     distorted_,
              "-w",     std::to_string(shape.width),
              "-h",     std::to_string(shape.height),
              "-p",     pixels,
              "-b",     std::to_string(shape.depth),
              "--json", "--precision",
              "max",    "-q"};
  }

  /// Nothing where the command refuses it.
  std::optional<nlohmann::json> run(const std::string& arguments, const std::string& device,
                                    const std::filesystem::path& output) const {
    std::vector<std::string> words = words_;
    std::istringstream given(arguments);
    for (std::string word; given >> word;) {
      if (!word.starts_with("--precision")) words.push_back(word);
    }
    words.insert(words.end(), {"-o", output, "--device", device});
    std::filesystem::remove(output);
    const Result<cli::Request> request = cli::Request::parse(*cli::find_command("vmaf"), words);
    if (!request.ok()) {
      fmt::print("{}\n", request.status().message());
      return {};
    }
    cli::Console console("never");
    if (cli::run_vmaf(*request, console) != cli::kExitOk) return {};
    return nlohmann::json::parse(std::ifstream(output));
  }

 private:
  static void write(const std::filesystem::path& path, const std::vector<OwnedFrame>& frames) {
    std::ofstream(path, std::ios::binary) << raw_video(frames);
  }

  std::string reference_, distorted_;
  std::vector<std::string> words_;
};

// The number that a row is about; nothing where there is none.
std::optional<double> found(const nlohmann::json& results, const Row& row) {
  const nlohmann::json* values = nullptr;
  std::string name = row.output;
  if (row.place == "aggregate") {
    values = &results.at("aggregate_metrics");
  } else if (std::isdigit(static_cast<unsigned char>(row.place[0])) != 0) {
    const nlohmann::json& frames = results.at("frames");
    const size_t frame = std::stoul(row.place);
    if (frame < frames.size()) values = &frames[frame].at("metrics");
  } else if (results.at("pooled_metrics").contains(name)) {
    values = &results.at("pooled_metrics").at(name);
    name = row.place;
  }
  if (values == nullptr || !values->contains(name)) return {};
  return values->at(name).get<double>();
}

struct Tally {
  size_t rows = 0, exact = 0, refused = 0, failed = 0;
  double worst = 0;
};

void check(const std::vector<Row>& rows, const std::string& place, const std::optional<nlohmann::json>& results,
           const std::optional<nlohmann::json>& on_cpu, Tally& tally) {
  for (const Row& row : rows) {
    ++tally.rows;
    const auto fail = [&](const std::string& why) {
      ++tally.failed;
      fmt::print("{}, {} {}: {}\n", place, row.place, row.output, why);
    };
    if (row.place.empty()) {  // libvmaf refused it
      if (results || on_cpu) {
        fail("not refused");
      } else {
        ++tally.refused;
      }
      continue;
    }
    if (!results || !on_cpu) {
      fail("refused");
      continue;
    }
    const std::optional<double> value = found(*results, row), of_cpu = found(*on_cpu, row);
    const double expected = std::strtod(row.value.c_str(), nullptr);
    if (!value || !of_cpu) {
      fail("not there");
      continue;
    }
    const double difference = std::abs(*value - expected) / std::max(1.0, std::abs(expected));
    tally.worst = std::max(tally.worst, difference);
    if (*value == expected) ++tally.exact;
    if (*value != *of_cpu) {
      fail(fmt::format("{} on the device, {} on the CPU", *value, *of_cpu));
    } else if (!(difference <= kTolerance)) {
      fail(fmt::format("{}, but libvmaf has {}", *value, expected));
    }
  }
}

int run(const std::string& path, const std::string& device, const std::vector<std::string>& clips) {
  const Rows rows = read_rows(path, clips);
  if (rows.empty()) {
    fmt::print("no values in {}\n", path);
    return 2;
  }
  const Result<std::shared_ptr<Device>> held = open_device(device);  // so that each run finds it open
  if (!held.ok()) {
    fmt::print("{}\n", held.status().message());
    return 2;
  }
  std::string pattern = std::filesystem::temp_directory_path() / "acuity_goldens_XXXXXX";
  const std::filesystem::path folder = mkdtemp(pattern.data());
  Tally all;
  std::string drawn;
  std::optional<Clip> clip;
  for (const auto& [key, its_rows] : rows) {
    const auto& [name, arguments] = key;
    if (name != drawn) clip.emplace(name, folder);
    drawn = name;
    const std::string place = fmt::format("{} {}", name, arguments);
    const auto results = clip->run(arguments, device, folder / "device.json");
    const auto on_cpu = clip->run(arguments, "cpu", folder / "cpu.json");
    const size_t failed = all.failed;
    check(its_rows, place, results, on_cpu, all);
    fmt::print("{}: {} values, {}\n", place, its_rows.size(), all.failed == failed ? "right" : "WRONG");
    std::fflush(stdout);
  }
  std::filesystem::remove_all(folder);
  fmt::print("{}: {} values, {} failed, {} exactly libvmaf's, {} refused as there, largest difference {:.2g}\n", device,
             all.rows, all.failed, all.exact, all.refused, all.worst);
  return all.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace acuity::tests

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print("video_goldens FILE DEVICE [CLIP...]\n");
    return 2;
  }
  return acuity::tests::run(argv[1], argv[2], std::vector<std::string>(argv + 3, argv + argc));
}
