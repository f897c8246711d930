// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/capability_file.h"

#include <bit>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "acuity/version.h"
#include "base/guard.h"
#include "base/processor_name.h"
#include "base/sha256.h"
#include "base/try.h"

namespace acuity {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "acuity-capability/1";
constexpr size_t kMostBytes = size_t{4} << 20, kMostDevices = 64, kMostText = 256;
constexpr double kMostNs = 1e9, kMostRows = 1e15, kMostMemory = 1e15, kMostColdMs = 1e6;

Status unusable(std::string reason) { return {StatusCode::input, std::move(reason)}; }

const json* member(const json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

Status read_text(const json& object, const char* name, std::string& into) {
  const json* value = member(object, name);
  if (value == nullptr || !value->is_string()) return unusable(fmt::format("\"{}\" is not text", name));
  into = value->get<std::string>();
  if (into.size() > kMostText) return unusable(fmt::format("\"{}\" is longer than {} bytes", name, kMostText));
  return {};
}

Status read_number(const json* value, std::string_view name, double minimum, double maximum, double& into) {
  if (value == nullptr || !value->is_number()) return unusable(fmt::format("\"{}\" is not a number", name));
  into = value->get<double>();
  if (into >= minimum && into <= maximum) return {};
  return unusable(fmt::format("\"{}\" is {}: expected {} to {}", name, into, minimum, maximum));
}

std::optional<int> class_of(const std::string& pixels) {
  uint64_t number = 0;
  const char* end = pixels.data() + pixels.size();
  const auto [stop, error] = std::from_chars(pixels.data(), end, number);
  if (error != std::errc() || stop != end || !std::has_single_bit(number)) return std::nullopt;
  const int size = std::countr_zero(number) / 2;
  const bool is_class = std::countr_zero(number) % 2 == 0 && size >= kSmallestClass && size <= kLargestClass;
  return is_class ? std::optional(size) : std::nullopt;
}

// {"ssimulacra2": {"pair": {"262144": [12.5, 3]}}}
Status read_figures(const json& metrics, const std::string& device, Measurements& measured) {
  if (!metrics.is_object()) return unusable("\"ns_per_pixel\" is not an object");
  for (const auto& [metric, modes] : metrics.items()) {
    if (!modes.is_object() || metric.size() > kMostText) return unusable("a metric is not an object");
    for (const auto& [mode_name, sizes] : modes.items()) {
      const std::optional<RowMode> mode = parse_mode(mode_name);
      if (!mode || !sizes.is_object()) return unusable(fmt::format("a mode of {} is unknown", metric));
      for (const auto& [pixels, figure] : sizes.items()) {
        const std::optional<int> size = class_of(pixels);
        if (!size || !figure.is_array() || figure.size() != 2) {
          return unusable(fmt::format("a figure of {} is not a size with two numbers", metric));
        }
        double ns = 0, rows = 0;
        ACUITY_TRY(read_number(&figure[0], "nanoseconds", 1e-9, kMostNs, ns));
        ACUITY_TRY(read_number(&figure[1], "rows", 1, kMostRows, rows));
        measured.set({device, metric, *mode, *size}, {ns, static_cast<int64_t>(rows)});
      }
    }
  }
  return {};
}

Status read_device(const json& object, const std::string& key, Measurements& measured) {
  if (!object.is_object() || key.size() > 3 * kMostText) return unusable("a device is not an object");
  MeasuredDevice device;
  for (const auto& [name, into] :
       {std::pair{"id", &device.id}, {"name", &device.name}, {"driver", &device.driver}, {"uuid", &device.uuid}}) {
    ACUITY_TRY(read_text(object, name, *into));
  }
  const json* software = member(object, "software");
  if (software == nullptr || !software->is_boolean()) return unusable("\"software\" is not true or false");
  device.is_software = software->get<bool>();
  double memory_bytes = 0;
  ACUITY_TRY(read_number(member(object, "memory_bytes"), "memory_bytes", 0, kMostMemory, memory_bytes));
  device.memory_bytes = static_cast<int64_t>(memory_bytes);
  ACUITY_TRY(read_number(member(object, "cold_start_ms"), "cold_start_ms", 0, kMostColdMs, device.cold_ms));
  measured.note_device(key, device);
  const json* figures = member(object, "ns_per_pixel");
  if (figures == nullptr) return unusable("\"ns_per_pixel\" is missing");
  return read_figures(*figures, key, measured);
}

Status check_origin(const json& document, const Machine& machine) {
  if (!document.is_object()) return unusable("it is not a JSON object");
  std::string format, version, cpu;
  ACUITY_TRY(read_text(document, "format", format));
  if (format != kFormat) return unusable(fmt::format("its format is '{}': expected '{}'", format, kFormat));
  ACUITY_TRY(read_text(document, "acuity", version));
  if (version != machine.version) {
    return unusable(fmt::format("it was written by acuity {}, and this is {}", version, machine.version));
  }
  ACUITY_TRY(read_text(document, "cpu", cpu));
  if (cpu == machine.cpu) return {};
  return unusable(fmt::format("it was written on another machine ({}), and this is {}", cpu, machine.cpu));
}

Status cannot_write(const std::string& path, int error) {
  return {StatusCode::internal, fmt::format("cannot write the capability file '{}': {}", path, std::strerror(error))};
}

// Held by one writer at a time, as far as the file system can: without it, the figures of one of them may be lost.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder)
      : descriptor_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    for (int tries = 0; descriptor_ >= 0 && tries < 50; ++tries) {
      if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  ~FolderLock() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

Status write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return {StatusCode::internal, std::strerror(count < 0 ? errno : EIO)};
    text.remove_prefix(static_cast<size_t>(count));
  }
  return {};
}

Status replace_file(const std::string& path, std::string_view text) {
  std::string temporary = path + ".XXXXXX";
  const int descriptor = mkstemp(temporary.data());
  if (descriptor < 0) return cannot_write(path, errno);
  const Status written = write_all(descriptor, text);
  const int closed = close(descriptor);
  const int error = errno;
  if (written.ok() && closed == 0 && std::rename(temporary.c_str(), path.c_str()) == 0) return {};
  const Status failure = written.ok() ? cannot_write(path, closed != 0 ? error : errno)
                                      : Status(StatusCode::internal, fmt::format("cannot write the capability file "
                                                                                 "'{}': {}",
                                                                                 path, written.message()));
  unlink(temporary.c_str());
  return failure;
}

std::string cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return std::string(cache) + "/acuity";  // others are to be ignored
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.cache/acuity" : "";
}

}  // namespace

Machine this_machine() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  return {ACUITY_VERSION, fmt::format("{}, {} threads", processor_name(cpuinfo), sysconf(_SC_NPROCESSORS_CONF))};
}

std::string capability_text(const Measurements& measured, const Machine& machine) {
  json devices = json::object();
  for (const auto& [key, device] : measured.devices()) {
    devices[key] = {{"id", device.id},
                    {"name", device.name},
                    {"driver", device.driver},
                    {"uuid", device.uuid},
                    {"software", device.is_software},
                    {"memory_bytes", device.memory_bytes},
                    {"cold_start_ms", device.cold_ms},
                    {"ns_per_pixel", json::object()}};
  }
  for (const auto& [key, figure] : measured.figures()) {
    const auto& [device, metric, mode, size] = key;
    if (!devices.contains(device)) continue;
    devices[device]["ns_per_pixel"][metric][mode_text(mode)][fmt::format("{:.0f}", class_pixels(size))] = {figure.ns,
                                                                                                           figure.rows};
  }
  const json document = {
      {"format", kFormat}, {"acuity", machine.version}, {"cpu", machine.cpu}, {"devices", std::move(devices)}};
  return document.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<Measurements> parse_capabilities(std::string_view text, const Machine& machine) {
  return guarded<Result<Measurements>>([&]() -> Result<Measurements> {
    if (text.size() > kMostBytes) return unusable(fmt::format("it has more than {} bytes", kMostBytes));
    const json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (document.is_discarded()) return unusable("it is not JSON");
    ACUITY_TRY(check_origin(document, machine));
    const json* devices = member(document, "devices");
    if (devices == nullptr || !devices->is_object()) return unusable("\"devices\" is not an object");
    if (devices->size() > kMostDevices) return unusable(fmt::format("it has more than {} devices", kMostDevices));
    Measurements measured;
    for (const auto& [key, device] : devices->items()) ACUITY_TRY(read_device(device, key, measured));
    return measured;
  });
}

Result<Measurements> read_capability_file(const std::string& path, const Machine& machine) {
  const auto refuse = [&](const std::string& reason) {
    return unusable(fmt::format("the capability file '{}' is not used and will be replaced: {}", path, reason));
  };
  // Neither a pipe nor a device may stop us here.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return errno == ENOENT || errno == ENOTDIR ? Result<Measurements>(Measurements()) : refuse(std::strerror(errno));
  struct stat facts{};
  std::string text;
  std::string trouble;
  if (fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    trouble = "it is not a regular file";
  } else if (static_cast<size_t>(facts.st_size) > kMostBytes) {
    trouble = fmt::format("it has more than {} bytes", kMostBytes);
  } else {
    text.resize(static_cast<size_t>(facts.st_size));
    size_t have = 0;
    while (have < text.size()) {
      const ssize_t count = read(descriptor, text.data() + have, text.size() - have);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) trouble = std::strerror(errno);
      if (count <= 0) break;
      have += static_cast<size_t>(count);
    }
    text.resize(have);
  }
  close(descriptor);
  if (!trouble.empty()) return refuse(trouble);
  Result<Measurements> measured = parse_capabilities(text, machine);
  return measured.ok() ? std::move(measured) : refuse(measured.status().message());
}

Status update_capability_file(const std::string& path, const Measurements& changed, const Machine& machine) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(path).parent_path();
  std::error_code error;
  const bool is_new = fs::create_directories(folder, error);
  if (error) return cannot_write(path, error.value());
  if (is_new) fs::permissions(folder, fs::perms::owner_all, error);  // as the XDG specification asks for
  const FolderLock lock(folder.string());
  Result<Measurements> there = read_capability_file(path, machine);
  Measurements all = there.ok() ? std::move(*there) : Measurements();
  all.put(changed);
  return replace_file(path, capability_text(all, machine));
}

std::string capability_path() {
  return nothing_if_out_of_memory<std::string>([]() -> std::string {
    const std::string folder = cache_folder();
    if (folder.empty()) return "";
    const std::string cpu = this_machine().cpu;
    return fmt::format("{}/capability-{}.json", folder, sha256(std::as_bytes(std::span(cpu))).substr(0, 8));
  });
}

Status load_capabilities(const std::string& path) {
  return guarded<Status>([&]() -> Status {
    if (path.empty()) return {};
    Measurements measured;
    ACUITY_TRY_ASSIGN(measured, read_capability_file(path, this_machine()));
    process_measurements().put_saved(measured);
    return {};
  });
}

Status save_capabilities(const std::string& path) {
  return guarded<Status>([&]() -> Status {
    const Measurements changed = process_measurements().unsaved();
    if (path.empty() || changed.empty()) return {};
    ACUITY_TRY(update_capability_file(path, changed, this_machine()));
    process_measurements().mark_saved(changed);
    return {};
  });
}

}  // namespace acuity
