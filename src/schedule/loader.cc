// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "schedule/loader.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <sys/stat.h>

#include <fmt/format.h>

#include "base/guard.h"
#include "base/stopwatch.h"
#include "base/try.h"
#include "engine/noting.h"
#include "media/crop.h"
#include "media/meaning.h"
#include "media/scale.h"

namespace acuity {
namespace {

// Before it is read; 0 for what is no file.
int64_t file_bytes(const TaskPicture& picture) {
  if (picture.input.has_picture() || is_in_memory(picture)) return 0;
  struct stat facts{};
  if (stat(picture.name.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return 0;
  return facts.st_size;
}

int64_t bytes_of(const Picture& picture) { return std::abs(picture.view.row_stride) * picture.view.height; }

int64_t bytes_of(const FileBytes& file) { return static_cast<int64_t>(file.bytes.size()); }

bool same_size(const ImageView& a, const ImageView& b) { return a.width == b.width && a.height == b.height; }

// As if it had been read from a file that states everything.
Picture picture_of(const Input& pixels) {
  Picture picture;
  picture.view = pixels.view();
  picture.format = "pixels";
  return picture;
}

}  // namespace

// `file` is open, unless the bytes are in memory.
Status Loader::read(const TaskPicture& picture, std::FILE* file, Encoded& encoded) const {
  if (is_in_memory(picture)) {
    encoded.name = picture.name;
    encoded.bytes = picture.bytes;
    return {};
  }
  encoded.name = name_of_file(picture.name);
  ACUITY_TRY_ASSIGN(encoded.file, read_picture_file(file, encoded.name, parts_.options.limits));
  encoded.bytes = encoded.file.bytes;
  return {};
}

// Reads the reference, unless it is a file that has not changed since somebody did, and looks for it in the cache.
Result<ReferenceKey> Loader::find_reference(Row& row, Encoded& encoded) const {
  const TaskPicture& picture = row.task.reference;
  ReferenceKey key;
  std::optional<FileStamp> stamp;
  if (picture.input.has_picture()) {
    key = reference_key(picture.input);
  } else {
    const std::string name = picture.frame ? fmt::format("{}#{}", picture.name, *picture.frame) : picture.name;
    const Stopwatch watch;
    File file;
    if (!is_in_memory(picture)) {
      ACUITY_TRY_ASSIGN(file, open_file(picture.name));
      stamp = stamp_of(file.get());
      const std::optional<ReferenceKey> known = stamp ? parts_.references.key_of(name, *stamp) : std::nullopt;
      if (known) row.cached = parts_.references.find(*known);
      if (row.cached) return *known;
    }
    ACUITY_TRY(read(picture, file.get(), encoded));
    key = reference_key(encoded.bytes, picture.frame);
    if (stamp && stamp_of(file.get()) == stamp) parts_.references.note_file(name, *stamp, key);
    row.result.reference.read_ms = watch.milliseconds();
  }
  row.cached = parts_.references.find(key);
  return key;
}

// How much memory decoding will ask for: what refuses it before it begins is a limit of nothing.
Status Loader::look_at(const TaskPicture& picture, Encoded& encoded) const {
  PictureLimits nothing = parts_.options.limits;
  nothing.maximum_decoded_bytes = 0;
  const EncodedFile source{encoded.bytes, encoded.name, nothing, nullptr, &encoded.asked};
  Status refused = decode_encoded(source, picture.frame).status();
  const int64_t most = parts_.options.limits.maximum_decoded_bytes;
  if (encoded.asked.bytes == 0) return refused;
  if (encoded.asked.bytes <= most) return {};
  return decode_encoded({encoded.bytes, encoded.name, parts_.options.limits}, picture.frame).status();
}

// Never in more memory than it asked for before. If it asks for more it fails, and encoded.asked has grown.
Result<Picture> Loader::decode(const TaskPicture& picture, Encoded& encoded, bool is_reference,
                               PictureFacts& facts) const {
  const Stopwatch watch;
  PictureLimits limits = parts_.options.limits;
  limits.maximum_decoded_bytes = encoded.asked.bytes;
  const EncodedFile source{encoded.bytes, encoded.name, limits, encoded.file.memory, &encoded.asked};
  Result<Picture> decoded = decode_encoded(source, picture.frame);
  if (!decoded.ok()) return decoded;
  note_decode(picture_format(encoded.bytes), static_cast<double>(decoded->view.width) * decoded->view.height,
              watch.milliseconds());
  const bool in_file = encoded.file.memory != nullptr && decoded->pixels == encoded.file.memory;
  encoded.kept = in_file ? bytes_of(encoded.file) : bytes_of(*decoded);
  const std::optional<Crop>& crop = is_reference ? parts_.rules.crop_reference : parts_.rules.crop_distorted;
  if (crop) {
    ACUITY_TRY(crop_picture(*decoded, *crop, encoded.name));
    facts.changed = {decoded->found.back()};
  }
  facts.format = decoded->format;
  facts.found = decoded->found;
  facts.assumed = decoded->assumed;
  facts.decode_ms = watch.milliseconds();
  return decoded;
}

// What the CPU or a GPU uses of the host's memory to score such a pair, in the largest strips that the limit allows.
Result<int64_t> Loader::scoring_bytes(const Row& row, int64_t width, int64_t height, int64_t pictures) const {
  const int w = static_cast<int>(width), h = static_cast<int>(height);
  const int64_t room = parts_.ledger.limit() - pictures;
  int64_t most = 0;
  for (const Place& place : parts_.places) {
    if (!place.is_cpu() && !row.metrics->on_gpu.ok()) continue;
    int rows = parts_.plans.chosen_rows();
    MemoryPlan plan;
    ACUITY_TRY_ASSIGN(plan, parts_.plans.plan(*row.metrics, w, h, place.gpu(), rows, 1));
    if (place.is_cpu() && plan.pair.host > room) {
      ACUITY_TRY_ASSIGN(rows, parts_.plans.smaller_strip(*row.metrics, w, h, {}, rows, 1, room));
      if (rows > 0) ACUITY_TRY_ASSIGN(plan, parts_.plans.plan(*row.metrics, w, h, {}, rows, 1));
    }
    most = std::max(most, plan.pair.host + (place.is_cpu() ? 0 : 2 * plan.staging));
  }
  return most;
}

Status Loader::check_reference(Row& row) const {
  if (!parts_.references.is_stuck(row.reference_name)) return {};
  row.result.timed_out = true;
  return Status(StatusCode::cancelled,
                fmt::format("another task has not finished reading and decoding the reference within the time limit of "
                            "{} ms; raise the limit, or leave out the reference",
                            parts_.options.timeout_ms));
}

Status Loader::load(Row& row) {
  const Status given_up(StatusCode::cancelled, "the task was given up");
  row.stages.begin();
  row.is_at_reference = true;
  int64_t files = file_bytes(row.task.reference);
  row.is_at_reference = false;
  files += file_bytes(row.task.distorted);
  row.stages.end();
  if (row.stages.is_given_up()) return given_up;
  while (true) {
    const int64_t asked =
        row.needs_bytes > 0 ? row.needs_bytes : std::min(files + usual_bytes_.load(), parts_.ledger.limit());
    const Clock::time_point before = Clock::now();
    ACUITY_TRY_ASSIGN(row.held, parts_.ledger.take(asked));
    row.result.waiting_ms += milliseconds_between(before, Clock::now());
    row.count_bytes();
    row.stages.begin();
    Result<Loaded> loaded = guarded<Result<Loaded>>([&] { return load_within(row); });
    row.stages.end();
    if (loaded.ok() && *loaded == Loaded::yes) return {};
    row.drop_pictures();
    row.scoring = Held();
    row.held = Held();
    if (!loaded.ok()) return loaded.status();
    if (row.stages.is_given_up()) return given_up;
    if (row.needs_bytes <= parts_.ledger.limit()) continue;
    return Status(
        StatusCode::too_big,
        fmt::format("{} and {} need {} bytes of memory to be decoded and scored, but the limit for all tasks "
                    "is {}; raise the limit",
                    row.task.reference.name, row.task.distorted.name, row.needs_bytes, parts_.ledger.limit()));
  }
}

Result<Loader::Loaded> Loader::load_within(Row& row) {
  const TaskPicture &reference = row.task.reference, &distorted = row.task.distorted;
  TaskResult& result = row.result;
  Encoded a, b;
  ReferenceKey key;
  row.is_at_reference = true;
  ACUITY_TRY_ASSIGN(key, find_reference(row, a));
  bool is_new = false;
  if (row.cached) {
    a.file = {};
  } else if (!reference.input.has_picture()) {
    ACUITY_TRY(look_at(reference, a));
  }
  row.is_at_reference = false;
  if (distorted.input.has_picture()) {
    b.asked = {distorted.input.view().width, distorted.input.view().height, 0};
  } else {
    const Stopwatch watch;
    File file;
    if (!is_in_memory(distorted)) ACUITY_TRY_ASSIGN(file, open_file(distorted.name));
    ACUITY_TRY(read(distorted, file.get(), b));
    result.distorted.read_ms = watch.milliseconds();
    ACUITY_TRY(look_at(distorted, b));
    b.asked.bytes = std::max(b.asked.bytes, row.distorted_asked);
  }
  const auto count = [&]() -> Result<bool> {
    int64_t pictures = bytes_of(a.file) + bytes_of(b.file) + a.asked.bytes + b.asked.bytes;
    // Floats of four channels at the size of the other side, and rows on the way there.
    if (parts_.rules.scale_reference)
      pictures += 40 * std::max(a.asked.width * a.asked.height, b.asked.width * b.asked.height);
    int64_t scoring = 0;
    ACUITY_TRY_ASSIGN(scoring, scoring_bytes(row, b.asked.width, b.asked.height, pictures));
    row.needs_bytes = pictures + scoring;
    if (!row.held.try_more(row.needs_bytes - row.held.bytes())) return false;
    row.held.keep_only(row.needs_bytes);
    result.peak_bytes = std::max(result.peak_bytes, row.needs_bytes);
    usual_bytes_ = row.needs_bytes - bytes_of(a.file) - bytes_of(b.file);
    row.scoring = row.held.split(scoring);
    row.count_bytes();
    return true;
  };
  bool fits = false;
  ACUITY_TRY_ASSIGN(fits, count());
  if (!fits) return Loaded::needs_more;

  if (!row.cached) {
    row.cached = parts_.references.claim(key, is_new);
    if (is_new) {
      row.is_at_reference = true;
      Status status = guarded<Status>([&] { return load_reference(row, a, *row.cached); });
      row.is_at_reference = false;
      if (!status.ok()) parts_.references.forget(row.cached);
      row.cached->complete(Status(status.code(), {}));  // who waits for it tries by himself
      ACUITY_TRY(status);
      row.has_decoded_reference = true;
      parts_.counts.note_reference(/*found=*/false);
      row.count_bytes();
    }
    a.file = {};
  }
  Result<Picture> picture = Picture();
  if (!distorted.input.has_picture()) {
    const int64_t asked = b.asked.bytes;
    picture = decode(distorted, b, /*is_reference=*/false, result.distorted);
    if (!picture.ok() && b.asked.bytes > asked && b.asked.bytes <= parts_.options.limits.maximum_decoded_bytes) {
      row.distorted_asked = b.asked.bytes;
      row.needs_bytes += b.asked.bytes - asked;
      return Loaded::needs_more;
    }
    if (!picture.ok()) return picture.status();
  } else {
    row.distorted_input = distorted.input;
    picture = picture_of(distorted.input);
    result.distorted.format = picture->format;
  }
  if (!is_new) {
    const Clock::time_point before = Clock::now();
    row.stages.end();
    const Status status = row.cached->wait(parts_.options.timeout_ms);
    row.stages.begin();
    if (status.code() == StatusCode::cancelled) {
      parts_.references.forget(row.cached);  // nobody else waits for it
      result.timed_out = true;
      return status;
    }
    // Another row could not decode it. This one tries, for a message that names its own file.
    if (!status.ok()) return Loaded::needs_more;
    result.waiting_ms += milliseconds_between(before, Clock::now());
    const double read_ms = result.reference.read_ms;
    const double decode_ms = row.has_decoded_reference ? result.reference.decode_ms : 0;
    result.reference = row.cached->facts;
    result.reference.read_ms = read_ms;
    result.reference.decode_ms = decode_ms;
  }
  result.reference_was_cached = !row.has_decoded_reference;
  if (result.reference_was_cached) parts_.counts.note_reference(/*found=*/true);
  b.file = {};  // unless the samples are in it
  const bool scales = parts_.rules.scale_reference && !same_size(row.cached->picture.view, picture->view);
  ACUITY_TRY(fit(row, std::move(*picture)));
  if (!scales) row.held.keep_only(b.kept);
  return Loaded::yes;
}

Status Loader::load_reference(Row& row, Encoded& encoded, CachedReference& reference) const {
  const TaskPicture& task = row.task.reference;
  if (task.input.has_picture()) {
    reference.pixels = task.input;
    reference.picture = picture_of(task.input);
    reference.facts.format = reference.picture.format;
    row.result.reference = reference.facts;
    return {};
  }
  Result<Picture> picture = Status();
  while (true) {
    const int64_t asked = encoded.asked.bytes;
    picture = decode(task, encoded, /*is_reference=*/true, row.result.reference);
    if (picture.ok() || encoded.asked.bytes <= asked) break;
    if (encoded.asked.bytes > parts_.options.limits.maximum_decoded_bytes) break;
    // Rows may be waiting for this one, so it does not begin again. Few formats ask twice.
    row.held.more_anyway(encoded.asked.bytes - asked);
  }
  if (!picture.ok()) return picture.status();
  reference.held = row.held.split(encoded.kept);
  reference.picture = std::move(*picture);
  reference.facts = row.result.reference;
  return {};
}

// Brings both to one size, and settles what their samples mean.
Status Loader::fit(Row& row, Picture distorted) {
  TaskResult& result = row.result;
  const std::string reference_name = name_of_file(row.task.reference.name);
  const std::string distorted_name = name_of_file(row.task.distorted.name);
  ImageView mine = row.cached->picture.view;
  if (parts_.rules.scale_reference && !same_size(mine, distorted.view)) {
    ACUITY_TRY(scale(row, distorted));
    if (row.scaled_reference.pixels) mine = row.scaled_reference.view;
  }
  if (!same_size(mine, distorted.view)) {
    return unequal_sizes(reference_name, mine.width, mine.height, distorted_name, distorted.view.width,
                         distorted.view.height);
  }
  result.width = mine.width;
  result.height = mine.height;
  row.reference_colour = mine.colour;
  const bool both_given = row.distorted_input.has_picture() && row.cached->pixels.has_picture();
  if (!both_given) ACUITY_TRY(settle(row, distorted));
  row.distorted = distorted.view;
  row.distorted_owner = distorted.pixels;
  return {};
}

Status Loader::scale(Row& row, Picture& distorted) {
  if (row.distorted_input.has_picture() || row.cached->pixels.has_picture()) {
    return Status(StatusCode::usage, "pictures that are given as pixels cannot be scaled; give both in one size");
  }
  TaskResult& result = row.result;
  const Stopwatch watch;
  const ImageView &mine = row.cached->picture.view, other = distorted.view;
  PictureFacts& facts = *parts_.rules.scale_reference ? result.reference : result.distorted;
  if (*parts_.rules.scale_reference) {
    ACUITY_TRY_ASSIGN(row.scaled_reference, scaled(row.cached->picture, other.width, other.height, parts_.rules.scaler,
                                                   one_thread_, name_of_file(row.task.reference.name)));
    facts.found = row.scaled_reference.found;
  } else {
    ACUITY_TRY_ASSIGN(distorted, scaled(distorted, mine.width, mine.height, parts_.rules.scaler, one_thread_,
                                        name_of_file(row.task.distorted.name)));
    facts.found = distorted.found;
  }
  facts.changed.push_back(facts.found.back());
  facts.decode_ms += watch.milliseconds();
  return {};
}

Status Loader::settle(Row& row, Picture& distorted) const {
  TaskResult& result = row.result;
  const Picture& reference = row.scaled_reference.pixels ? row.scaled_reference : row.cached->picture;
  Result<PairMeaning> meaning =
      settle_meaning({name_of_file(row.task.reference.name), format_of(reference)},
                     {name_of_file(row.task.distorted.name), format_of(distorted)}, parts_.rules.meaning);
  if (!meaning.ok()) return meaning.status();
  row.reference_colour = meaning->reference.colour;
  distorted.view.colour = meaning->distorted.colour;
  result.reference.found = std::move(meaning->reference.found);
  result.reference.assumed = std::move(meaning->reference.assumed);
  result.distorted.found = std::move(meaning->distorted.found);
  result.distorted.assumed = std::move(meaning->distorted.assumed);
  result.warnings = std::move(meaning->warnings);
  return {};
}

}  // namespace acuity
