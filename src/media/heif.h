// SPDX-License-Identifier: BSD-2-Clause-Patent
// The container of HEIC (ISO/IEC 23008-12): which items a file holds, where their data lie and what is said of them.
// What is coded in them is decoded elsewhere.
#ifndef ACUITY_MEDIA_HEIF_H
#define ACUITY_MEDIA_HEIF_H

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "media/decoder.h"

namespace acuity {

struct HeifProperty {
  std::string type;  ///< "hvcC", "ispe", "irot", ...
  Bytes content;
};

struct HeifItem {
  std::string type;  ///< "hvc1", "grid", ...
  std::vector<uint8_t> data;
  std::vector<HeifProperty> properties;  ///< in the order in which they apply

  /// The first of that type; empty where there is none.
  Bytes property(std::string_view name) const;
};

class HeifFile {
 public:
  Status read(const EncodedFile& encoded);

  uint32_t primary() const { return primary_; }
  /// How many pictures are meant to be seen by themselves.
  int64_t pictures() const;
  Result<HeifItem> item(uint32_t id) const;
  /// What an item refers to, by the kind of the reference: the tiles of a grid are "dimg".
  std::vector<uint32_t> references(std::string_view type, uint32_t from) const;
  /// The item that holds the alpha of another.
  std::optional<uint32_t> alpha_of(uint32_t id) const;

 private:
  struct Extent {
    uint64_t offset = 0, length = 0;
  };
  struct Entry {
    std::string type;
    bool hidden = false;
    bool in_idat = false;
    bool readable = true;
    std::vector<Extent> extents;
    std::vector<size_t> properties;
  };
  struct Reference {
    std::string type;
    uint32_t from = 0;
    std::vector<uint32_t> to;
  };

  Status bad(std::string_view what) const;
  Status read_meta(Bytes content);
  void read_items(Bytes content);
  void read_locations(Bytes content);
  void read_properties(Bytes content);
  void read_associations(Bytes content);
  void read_references(Bytes content);

  std::optional<EncodedFile> encoded_;
  uint32_t primary_ = 0;
  Bytes idat_;
  std::map<uint32_t, Entry> entries_;
  std::vector<HeifProperty> properties_;
  std::vector<Reference> references_;
  bool broken_ = false;
};

}  // namespace acuity

#endif
