// SPDX-License-Identifier: BSD-2-Clause-Patent
// What each command does; one file a command. Every function returns the exit code.
#ifndef ACUITY_CLI_COMMANDS_H
#define ACUITY_CLI_COMMANDS_H

#include <string>
#include <string_view>

namespace acuity::cli {

class Console;
class Request;

int run_score(const Request& request, Console& console);
int run_batch(const Request& request, Console& console);
int run_compare(const Request& request, Console& console);
int run_serve(const Request& request, Console& console);
int run_video_info(const Request& request, Console& console);
int run_metrics(const Request& request, Console& console);
int run_models(const Request& request, Console& console);
int run_vmaf(const Request& request, Console& console);
int run_devices(const Request& request, Console& console);
int run_selftest(const Request& request, Console& console);
int run_completion(const Request& request, Console& console);
int run_man(const Request& request, Console& console);
int run_bench(const Request& request, Console& console);
int run_plan(const Request& request, Console& console);
int run_help(const Request& request, Console& console);

}  // namespace acuity::cli

#endif
