// SPDX-License-Identifier: BSD-2-Clause-Patent
// Compares any number of pictures with one original, on every core and GPU of the machine:
// schedule ORIGINAL PICTURE...
#include <cstdio>
#include <optional>
#include <string>

#include "acuity/schedule.h"

int main(int count, char** arguments) {
  if (count < 3) return 2;
  auto scheduler = acuity::Scheduler::create({.metrics = {"ssimulacra2", "butteraugli"}});
  if (!scheduler.ok()) {
    std::fprintf(stderr, "%s\n", scheduler.status().message().c_str());
    return 1;
  }
  int next = 2;
  int failed = 0;
  const acuity::Status status = scheduler->run_all(
      [&]() -> std::optional<acuity::Task> {
        if (next == count) return std::nullopt;
        acuity::Task task;
        task.id = arguments[next++];
        task.reference = acuity::TaskPicture::file(arguments[1]);
        task.distorted = acuity::TaskPicture::file(task.id);
        return task;
      },
      [&](const acuity::TaskResult& result) {
        if (!result.status.ok()) {
          ++failed;
          std::fprintf(stderr, "%s\n", result.status.message().c_str());
        }
        for (const acuity::Score& score : result.scores) {
          std::printf("%s %s %.4f on %s\n", result.id.c_str(), score.metric.c_str(), score.value,
                      result.device.c_str());
        }
        return acuity::Status();
      });
  const acuity::SchedulerStatistics statistics = scheduler->statistics();
  std::printf("%lld pictures, %lld found their original decoded, at most %lld MiB\n",
              static_cast<long long>(statistics.finished), static_cast<long long>(statistics.references_found),
              static_cast<long long>(statistics.peak_host_bytes >> 20));
  return status.ok() && failed == 0 ? 0 : 1;
}
