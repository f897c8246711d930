// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/heif.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/try.h"

namespace acuity {
namespace {

// Numbers from the highest byte on. Beyond the end everything is 0, and bad() says so.
class Reader {
 public:
  explicit Reader(Bytes bytes) : rest_(bytes) {}

  uint64_t number(size_t bytes) {
    uint64_t value = 0;
    for (const uint8_t byte : take(bytes)) value = value << 8 | byte;
    return value;
  }
  uint32_t number_32(size_t bytes) { return static_cast<uint32_t>(number(bytes)); }
  std::string four() {
    const Bytes letters = take(4);
    return {letters.begin(), letters.end()};
  }
  Bytes take(size_t bytes) {
    bad_ = bad_ || bytes > rest_.size();
    const Bytes taken = rest_.first(bad_ ? 0 : bytes);
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  /// The version of a box that has one, before its content; what its flags are comes along.
  int version() {
    const int version = static_cast<int>(number(1));
    flags_ = number_32(3);
    return version;
  }
  uint32_t flags() const { return flags_; }
  bool bad() const { return bad_; }
  bool at_end() const { return bad_ || rest_.empty(); }
  Bytes rest() const { return rest_; }

 private:
  Bytes rest_;
  uint32_t flags_ = 0;
  bool bad_ = false;
};

struct Box {
  std::string type;
  Bytes content;
};

// The next box; its size may be given in eight bytes, or as 0 for all that is left.
Box next_box(Reader& reader) {
  uint64_t size = reader.number(4);
  Box box{reader.four(), {}};
  uint64_t head = 8;
  if (size == 1) {
    size = reader.number(8);
    head = 16;
  }
  if (size == 0) size = head + reader.rest().size();
  // A size within its own head is as wrong as one beyond the end.
  box.content = reader.take(size < head ? SIZE_MAX : size - head);
  return box;
}

}  // namespace

Bytes HeifItem::property(std::string_view name) const {
  const auto found =
      std::find_if(properties.begin(), properties.end(), [&](const HeifProperty& p) { return p.type == name; });
  return found == properties.end() ? Bytes() : found->content;
}

Status HeifFile::bad(std::string_view what) const { return damaged(*encoded_, "HEIC", what); }

Status HeifFile::read(const EncodedFile& encoded) {
  encoded_.emplace(encoded);
  bool found = false;
  for (Reader boxes(encoded.bytes); !boxes.at_end();) {
    const Box box = next_box(boxes);
    if (boxes.bad()) return bad("it ends too early");
    if (box.type != "meta" || found) continue;
    found = true;
    ACUITY_TRY(read_meta(box.content));
  }
  if (!found) return bad("it holds no picture");
  return {};
}

Status HeifFile::read_meta(Bytes content) {
  Reader boxes(content);
  boxes.version();
  bool has_primary = false;
  while (!boxes.at_end()) {
    const Box box = next_box(boxes);
    if (boxes.bad()) break;
    if (box.type == "pitm") {
      Reader reader(box.content);
      primary_ = reader.number_32(reader.version() == 0 ? 2 : 4);
      has_primary = !reader.bad();
    }
    if (box.type == "idat") idat_ = box.content;
    if (box.type == "iinf") read_items(box.content);
    if (box.type == "iloc") read_locations(box.content);
    if (box.type == "iprp") read_properties(box.content);
    if (box.type == "iref") read_references(box.content);
  }
  if (boxes.bad() || broken_) return bad("the list of what it holds is incomplete");
  if (!has_primary || !entries_.contains(primary_)) return bad("the number of its primary picture is missing");
  return {};
}

void HeifFile::read_items(Bytes content) {
  Reader reader(content);
  reader.number(reader.version() == 0 ? 2 : 4);  // their number
  while (!reader.at_end()) {
    const Box box = next_box(reader);
    Reader entry(box.content);
    const int version = entry.version();
    if (box.type != "infe" || version < 2) continue;  // older ones have no type
    const uint32_t id = entry.number_32(version == 2 ? 2 : 4);
    entry.number(2);  // protection
    Entry& target = entries_[id];
    target.type = entry.four();
    target.hidden = (entry.flags() & 1) != 0;
    broken_ = broken_ || entry.bad();
  }
  broken_ = broken_ || reader.bad();
}

void HeifFile::read_locations(Bytes content) {
  Reader reader(content);
  const int version = reader.version();
  const auto sizes = reader.number_32(2);
  const size_t offset_size = sizes >> 12 & 15, length_size = sizes >> 8 & 15, base_size = sizes >> 4 & 15;
  const size_t index_size = version == 0 ? 0 : sizes & 15;
  if (std::max({offset_size, length_size, base_size, index_size}) > 8) broken_ = true;
  const uint64_t count = reader.number(version < 2 ? 2 : 4);
  for (uint64_t i = 0; i < count && !reader.at_end(); ++i) {
    Entry& entry = entries_[reader.number_32(version < 2 ? 2 : 4)];
    const uint64_t method = version == 0 ? 0 : reader.number(2) & 15;
    const uint64_t reference = reader.number(2);  // 0: this file
    entry.in_idat = method == 1;
    entry.readable = method <= 1 && reference == 0;
    const uint64_t base = reader.number(base_size);
    const uint64_t extents = reader.number(2);
    for (uint64_t e = 0; e < extents && !reader.bad(); ++e) {
      reader.number(index_size);
      const uint64_t offset = reader.number(offset_size);
      const uint64_t length = reader.number(length_size);
      entry.extents.push_back({base + offset, length});
    }
  }
  broken_ = broken_ || reader.bad();
}

void HeifFile::read_properties(Bytes content) {
  Reader boxes(content);
  while (!boxes.at_end()) {
    const Box box = next_box(boxes);
    if (box.type == "ipma") read_associations(box.content);
    if (box.type != "ipco") continue;
    Reader list(box.content);
    while (!list.at_end()) {
      const Box property = next_box(list);
      properties_.push_back({property.type, property.content});
    }
    broken_ = broken_ || list.bad();
  }
  broken_ = broken_ || boxes.bad();
}

void HeifFile::read_associations(Bytes content) {
  Reader reader(content);
  const size_t id_size = reader.version() == 0 ? 2 : 4;
  const bool wide = (reader.flags() & 1) != 0;
  const uint64_t count = reader.number(4);
  for (uint64_t i = 0; i < count && !reader.bad(); ++i) {
    Entry& entry = entries_[reader.number_32(id_size)];
    const uint64_t associations = reader.number(1);
    for (uint64_t a = 0; a < associations && !reader.bad(); ++a) {
      // The highest bit says that the property must be understood; the number is from 1 on, 0 being none.
      const auto index = static_cast<size_t>(reader.number(wide ? 2 : 1) & (wide ? 0x7fffu : 0x7fu));
      if (index > 0) entry.properties.push_back(index - 1);
    }
  }
  broken_ = broken_ || reader.bad();
}

void HeifFile::read_references(Bytes content) {
  Reader boxes(content);
  const size_t id_size = boxes.version() == 0 ? 2 : 4;
  while (!boxes.at_end()) {
    const Box box = next_box(boxes);
    Reader reader(box.content);
    Reference reference{box.type, reader.number_32(id_size), {}};
    const uint64_t count = reader.number(2);
    for (uint64_t i = 0; i < count && !reader.bad(); ++i) reference.to.push_back(reader.number_32(id_size));
    references_.push_back(std::move(reference));
    broken_ = broken_ || reader.bad();
  }
  broken_ = broken_ || boxes.bad();
}

int64_t HeifFile::pictures() const {
  return std::count_if(entries_.begin(), entries_.end(), [&](const auto& entry) {
    if (entry.second.hidden || (entry.second.type != "hvc1" && entry.second.type != "grid")) return false;
    // Tiles, thumbnails and alpha belong to another picture.
    return std::none_of(references_.begin(), references_.end(), [&](const Reference& reference) {
      const bool tile = reference.type == "dimg" &&
                        std::find(reference.to.begin(), reference.to.end(), entry.first) != reference.to.end();
      return tile || (reference.from == entry.first && (reference.type == "thmb" || reference.type == "auxl"));
    });
  });
}

Result<HeifItem> HeifFile::item(uint32_t id) const {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return bad(fmt::format("item {} is missing", id));
  const Entry& entry = found->second;
  if (!entry.readable) return unsupported(*encoded_, "keeps its data outside the file", "give the whole file");
  HeifItem item;
  item.type = entry.type;
  const Bytes from = entry.in_idat ? idat_ : encoded_->bytes;
  for (const Extent& extent : entry.extents) {
    const uint64_t length =
        extent.length == 0 && extent.offset < from.size() ? from.size() - extent.offset : extent.length;
    if (extent.offset > from.size() || length > from.size() - extent.offset ||
        item.data.size() + length > from.size()) {
      return bad(fmt::format("the data of item {} lie outside the file", id));
    }
    const Bytes part = from.subspan(extent.offset, length);
    item.data.insert(item.data.end(), part.begin(), part.end());
  }
  for (const size_t index : entry.properties) {
    if (index >= properties_.size()) return bad(fmt::format("item {} has a property that is missing", id));
    item.properties.push_back(properties_[index]);
  }
  return item;
}

std::vector<uint32_t> HeifFile::references(std::string_view type, uint32_t from) const {
  std::vector<uint32_t> list;
  for (const Reference& reference : references_) {
    if (reference.type == type && reference.from == from)
      list.insert(list.end(), reference.to.begin(), reference.to.end());
  }
  return list;
}

std::optional<uint32_t> HeifFile::alpha_of(uint32_t id) const {
  using namespace std::string_view_literals;
  for (const Reference& reference : references_) {
    if (reference.type != "auxl" || std::find(reference.to.begin(), reference.to.end(), id) == reference.to.end())
      continue;
    const auto entry = entries_.find(reference.from);
    if (entry == entries_.end()) continue;
    for (const size_t index : entry->second.properties) {
      if (index >= properties_.size() || properties_[index].type != "auxC") continue;
      const Bytes content = properties_[index].content;
      const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
      for (const std::string_view name :
           {"urn:mpeg:hevc:2015:auxid:1\0"sv, "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0"sv}) {
        if (text.size() >= 4 && text.substr(4).starts_with(name)) return reference.from;
      }
    }
  }
  return {};
}

}  // namespace acuity
