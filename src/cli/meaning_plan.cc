// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/meaning_plan.h"

#include <fmt/format.h>

#include "base/try.h"
#include "cli/sides.h"

namespace acuity::cli {
namespace {

Result<bool> parse_range(std::string_view text) {
  if (text == "full") return true;
  if (text == "limited") return false;
  return Status(StatusCode::usage, fmt::format("'{}' is unknown; use one of limited, full", text));
}

}  // namespace

const std::vector<Option>& sample_options() {
  static const std::vector<Option> table = {
      {.name = "--colour",
       .value = "SPACE",
       .help =
           "the transfer function and primaries of a picture or video, instead of what the file states; this and the "
           "next five accept one value for both sides, or two as REF,DIST, one of which may "
           "be empty",
       .default_value = "file",
       .words = {"file", "srgb", "linear", "gamma22", "display-p3", "bt709", "bt2020", "bt2100-pq", "bt2100-hlg"},
       .suggest = Suggest::words},
      {.name = "--transfer",
       .value = "NAME",
       .help = "the transfer function, instead of what the file states",
       .words = {"bt1886", "gamma22", "gamma28", "linear", "srgb", "pq", "hlg"},
       .suggest = Suggest::words},
      {.name = "--primaries",
       .value = "NAME",
       .help = "the primaries, instead of what the file states",
       .words = {"bt709", "bt470bg", "smpte170m", "smpte240m", "bt2020", "dci-p3", "display-p3"},
       .suggest = Suggest::words},
      {.name = "--range",
       .value = "RANGE",
       .help = "the range of Y'CbCr codes",
       .words = {"limited", "full"},
       .suggest = Suggest::words},
      {.name = "--matrix",
       .value = "MATRIX",
       .help = "the matrix of Y'CbCr",
       .words = {"bt601", "bt709", "bt2020", "smpte240m", "fcc"},
       .suggest = Suggest::words},
      {.name = "--siting",
       .value = "PLACE",
       .help = "where chroma samples lie among the pixels",
       .words = {"left", "centre", "top-left"},
       .suggest = Suggest::words},
  };
  return table;
}

const std::vector<Option>& comparison_options() {
  static const std::vector<Option> table = {
      {.name = "--at",
       .value = "FORM",
       .help =
           "the form of Y'CbCr in which frame metrics compare two sides that differ: that of the reference, that of "
           "the distorted, or this subsampling and depth",
       .default_value = "ref",
       .words = {"ref", "dist", "yuv420p", "yuv422p", "yuv444p", "gray", "yuv420p10", "yuv422p10", "yuv444p10"},
       .suggest = Suggest::words},
      {.name = "--colour-as-stored",
       .help = "compare code values even if the transfer functions or primaries of the two sides differ"},
  };
  return table;
}

Result<MeaningOptions> plan_meaning(const Request& request) {
  MeaningOptions options;
  SampleOptions &a = options.reference, &b = options.distorted;
  std::optional<std::optional<Colour>> a_colour, b_colour;
  ACUITY_TRY(read_sides(request, "--colour", parse_colour, a_colour, b_colour));
  a.colour = a_colour.value_or(std::nullopt);
  b.colour = b_colour.value_or(std::nullopt);
  ACUITY_TRY(read_sides(request, "--transfer", parse_transfer, a.transfer, b.transfer));
  ACUITY_TRY(read_sides(request, "--primaries", parse_primaries, a.primaries, b.primaries));
  ACUITY_TRY(read_sides(request, "--range", parse_range, a.full_range, b.full_range));
  ACUITY_TRY(read_sides(request, "--matrix", parse_matrix, a.matrix, b.matrix));
  ACUITY_TRY(read_sides(request, "--siting", parse_siting, a.siting, b.siting));
  options.colour_as_stored = request.has("--colour-as-stored");
  if (!request.has("--at")) return options;
  const Result<FormChoice> form = parse_form(request.value("--at"));
  if (!form.ok()) return Status(StatusCode::usage, fmt::format("--at: {}", form.status().message()));
  options.at = *form;
  return options;
}

}  // namespace acuity::cli
