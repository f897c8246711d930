// SPDX-License-Identifier: BSD-2-Clause-Patent
// Reads the files of trained heads: ZNPR, version 3, little endian. Nothing in a file is taken on trust.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "base/sha256.h"
#include "base/try.h"
#include "metrics/zensim/head.h"
#include "metrics/zensim/pooling.h"

namespace acuity::zensim {
namespace {

constexpr size_t kHeader = 128;
constexpr size_t kMostBytes = 64 << 20;  // of a file, and of what it unpacks to
constexpr size_t kMostLayers = 64, kMostOutputs = 1 << 16;
constexpr size_t kLayerEntry = 48;
constexpr size_t kShapeInputs = 4;  // what may follow the features: numbers that describe the picture's size

using Bytes = std::span<const std::byte>;

template <typename Number>
Number number_at(Bytes bytes, size_t at) {
  static_assert(std::endian::native == std::endian::little);
  Number number;
  std::memcpy(&number, bytes.data() + at, sizeof(number));
  return number;
}

template <typename Number>
std::vector<Number> numbers_of(Bytes bytes) {
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(Number));
  return numbers;
}

// A 16-bit float; every one of them is a float.
float widened(uint16_t half) {
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  const float sign = (half & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 31) return fraction != 0 ? std::nanf("") : sign * INFINITY;
  return sign * (exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                               : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25));
}

bool all_finite(const std::vector<float>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](float number) { return std::isfinite(number); });
}

// A block of LZ4 that must unpack to exactly `size` bytes behind those in `to`; false if it does not.
bool unpack(Bytes packed, size_t size, std::vector<std::byte>& to) {
  const size_t first = to.size(), end = first + size;
  to.reserve(end);
  size_t at = 0;
  // Lengths of 15 and more go on in further bytes.
  const auto whole_length = [&](size_t length) -> std::optional<size_t> {
    if (length != 15) return length;
    for (size_t more = 255; more == 255; length += more) {
      if (at == packed.size()) return std::nullopt;
      more = std::to_integer<size_t>(packed[at++]);
    }
    return length;
  };
  while (at < packed.size()) {
    const auto token = std::to_integer<size_t>(packed[at++]);
    const std::optional<size_t> literals = whole_length(token >> 4);
    if (!literals || *literals > packed.size() - at || *literals > end - to.size()) return false;
    to.insert(to.end(), packed.begin() + static_cast<ptrdiff_t>(at),
              packed.begin() + static_cast<ptrdiff_t>(at + *literals));
    at += *literals;
    if (at == packed.size()) break;  // the last sequence has literals only
    if (packed.size() - at < 2) return false;
    const size_t back = number_at<uint16_t>(packed, at);
    at += 2;
    std::optional<size_t> length = whole_length(token & 15);
    if (!length || back == 0 || back > to.size() - first) return false;
    *length += 4;
    if (*length > end - to.size()) return false;
    for (size_t i = 0; i < *length; ++i) to.push_back(to[to.size() - back]);
  }
  return to.size() == end;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t begin = 0;;) {
    const size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return lines;
    begin = end + 1;
  }
}

// The beginning of a text in the file, for a message; other characters than those of ASCII as question marks.
std::string shown(std::string_view text) {
  std::string result(text.substr(0, 40));
  for (char& c : result) c = c >= ' ' && c <= '~' ? c : '?';
  return result;
}

}  // namespace

class HeadParser {
 public:
  HeadParser(std::string_view name, Bytes file) : name_(name), file_(file) {}

  Result<Head> parse() {
    ACUITY_TRY(open());
    const auto of_header = [&](size_t at) { return number_at<uint32_t>(file_, at); };
    head_.inputs_ = of_header(8);
    const size_t outputs = of_header(12), layers = of_header(16);
    if (head_.inputs_ == 0 || (head_.inputs_ > kAllFeatures && head_.inputs_ != kAllFeatures + kShapeInputs)) {
      return bad(fmt::format("it has {} inputs, and zensim here has {} features", head_.inputs_, kAllFeatures));
    }
    if (outputs == 0 || outputs > kMostOutputs || layers == 0 || layers > kMostLayers) {
      return bad(fmt::format("it has {} layers and {} outputs", layers, outputs));
    }
    if (number_at<uint32_t>(file_, 92) != 0) return bad("it has sparse overrides, which are not supported");
    ACUITY_TRY(read_order(100, head_.inputs_, input_order_));
    ACUITY_TRY(read_order(108, outputs, output_order_));
    ACUITY_TRY(read_scaler());
    ACUITY_TRY(read_layers(layers, outputs));
    ACUITY_TRY(read_metadata(outputs));
    head_.description_ = fmt::format("{}: {} inputs, {} layer{}, schema {:016x}, SHA-256 {}", name_, head_.inputs_,
                                     layers, layers == 1 ? "" : "s", number_at<uint64_t>(file_, 24), sha256(file_));
    return std::move(head_);
  }

 private:
  Status bad(const std::string& why) const {
    return Status(
        StatusCode::input,
        fmt::format("'{}' is not a usable zensim head: {}; use a model file in zensim's ZNPR format, version 3", name_,
                    why));
  }

  // The header, and the rest of the file, unpacked if need be.
  Status open() {
    if (file_.size() < kHeader || std::memcmp(file_.data(), "ZNPR", 4) != 0) return bad("it does not begin as one");
    const unsigned version = number_at<uint16_t>(file_, 4), flags = number_at<uint16_t>(file_, 6);
    if (version != 3) return bad(fmt::format("it is of version {}", version));
    if (flags != 0 && flags != 3) return bad(fmt::format("its flags are {}, and 0 and 3 are known", flags));
    if (flags == 0) {
      content_.assign(file_.begin(), file_.end());
      return {};
    }
    const size_t size = number_at<uint32_t>(file_, 96);
    if (size > kMostBytes) return bad(fmt::format("it unpacks to {} bytes, more than {}", size, kMostBytes));
    content_.assign(file_.begin(), file_.begin() + kHeader);
    if (!unpack(file_.subspan(kHeader), size, content_)) return bad("it cannot be unpacked");
    return {};
  }

  // A part of the content, by its offset and length at a place in the header or in a layer's entry.
  Result<Bytes> section(Bytes table, size_t at, const char* what) const {
    const size_t offset = number_at<uint32_t>(table, at), length = number_at<uint32_t>(table, at + 4);
    if (length == 0) return Bytes();
    if (offset < kHeader || offset > content_.size() || length > content_.size() - offset) {
      return bad(fmt::format("its {} lies outside of the file", what));
    }
    return Bytes(content_).subspan(offset, length);
  }

  // Which input or output each stored one is.
  Status read_order(size_t at, size_t count, std::vector<size_t>& order) {
    Bytes stored;
    ACUITY_TRY_ASSIGN(stored, section(content_, at, "order"));
    order.resize(count);
    std::iota(order.begin(), order.end(), size_t{0});
    if (stored.empty()) return {};
    const size_t width = stored.size() / count;
    if (stored.size() % count != 0 || (width != 1 && width != 2 && width != 4)) return bad("an order has a wrong size");
    std::vector<bool> seen(count);
    for (size_t i = 0; i < count; ++i) {
      order[i] = width == 1   ? number_at<uint8_t>(stored, i)
                 : width == 2 ? number_at<uint16_t>(stored, 2 * i)
                              : number_at<uint32_t>(stored, 4 * i);
      if (order[i] >= count || seen[order[i]]) return bad("an order names an entry twice, or one that does not exist");
      seen[order[i]] = true;
    }
    return {};
  }

  Status read_scaler() {
    for (const auto& [at, numbers] : {std::pair(size_t{32}, &head_.means_), std::pair(size_t{40}, &head_.scales_)}) {
      Bytes stored;
      ACUITY_TRY_ASSIGN(stored, section(content_, at, "scaler"));
      if (stored.empty()) continue;
      if (stored.size() != head_.inputs_ * sizeof(float)) return bad("its scaler has a wrong size");
      const std::vector<float> values = numbers_of<float>(stored);
      if (!all_finite(values)) return bad("its scaler has a value that is not finite");
      numbers->resize(head_.inputs_);
      for (size_t i = 0; i < head_.inputs_; ++i) (*numbers)[input_order_[i]] = values[i];
    }
    if (head_.means_.empty() != head_.scales_.empty()) return bad("its scaler has only means or only scales");
    return {};
  }

  Status read_layers(size_t count, size_t outputs) {
    Bytes table;
    ACUITY_TRY_ASSIGN(table, section(content_, 48, "table of layers"));
    if (table.size() != count * kLayerEntry) return bad("its table of layers has a wrong size");
    size_t inputs = head_.inputs_, stored = 0;
    for (size_t i = 0; i < count; ++i) {
      const Bytes entry = table.subspan(i * kLayerEntry, kLayerEntry);
      // Layers that share their weights would make a small file need any amount of memory.
      stored += number_at<uint32_t>(entry, 16);
      if (stored > content_.size()) return bad("its layers have more weights than the file holds");
      Head::Layer layer;
      ACUITY_TRY_ASSIGN(layer, read_layer(entry));
      if (layer.inputs != inputs)
        return bad(fmt::format("layer {} has {} inputs instead of {}", i, layer.inputs, inputs));
      inputs = layer.outputs;
      head_.layers_.push_back(std::move(layer));
    }
    if (inputs != outputs) return bad(fmt::format("its last layer has {} outputs instead of {}", inputs, outputs));
    reorder();
    return {};
  }

  Result<Head::Layer> read_layer(Bytes entry) const {
    Head::Layer layer;
    layer.inputs = number_at<uint32_t>(entry, 0);
    layer.outputs = number_at<uint32_t>(entry, 4);
    const unsigned activation = number_at<uint8_t>(entry, 8), type = number_at<uint8_t>(entry, 9);
    if (layer.outputs == 0 || layer.outputs > kMostOutputs || layer.inputs > kMostOutputs || activation > 2 ||
        type > 2) {
      return bad("a layer has a size, an activation or a type of weights that is not known");
    }
    layer.activation = static_cast<Head::Activation>(activation);
    Bytes weights, scales, biases;
    ACUITY_TRY_ASSIGN(weights, section(entry, 12, "weights"));
    ACUITY_TRY_ASSIGN(scales, section(entry, 20, "scales of weights"));
    ACUITY_TRY_ASSIGN(biases, section(entry, 28, "biases"));
    const size_t count = layer.inputs * layer.outputs;
    constexpr std::array<size_t, 3> kBytes{4, 2, 1};
    if (weights.size() != count * kBytes[type] || biases.size() != layer.outputs * sizeof(float) ||
        (type == 2 && scales.size() != layer.outputs * sizeof(float))) {
      return bad("a layer has more or fewer weights than its size needs");
    }
    layer.biases = numbers_of<float>(biases);
    if (type == 0) {
      layer.weights = numbers_of<float>(weights);
    } else if (type == 1) {
      for (const uint16_t half : numbers_of<uint16_t>(weights)) layer.weights.push_back(widened(half));
    } else {
      const std::vector<float> of_output = numbers_of<float>(scales);
      for (size_t i = 0; i < count; ++i) {
        layer.weights.push_back(static_cast<float>(number_at<int8_t>(weights, i)) * of_output[i % layer.outputs]);
      }
    }
    if (!all_finite(layer.weights) || !all_finite(layer.biases)) return bad("a weight is not finite");
    return layer;
  }

  // Rows of the first layer and columns of the last, as callers have them.
  void reorder() {
    Head::Layer& first = head_.layers_.front();
    const std::vector<float> stored_rows = first.weights;
    for (size_t i = 0; i < first.inputs; ++i) {
      std::copy_n(stored_rows.begin() + static_cast<ptrdiff_t>(i * first.outputs), first.outputs,
                  first.weights.begin() + static_cast<ptrdiff_t>(input_order_[i] * first.outputs));
    }
    Head::Layer& last = head_.layers_.back();
    const std::vector<float> stored = last.weights, stored_biases = last.biases;
    for (size_t o = 0; o < last.outputs; ++o) {
      last.biases[output_order_[o]] = stored_biases[o];
      for (size_t i = 0; i < last.inputs; ++i) {
        last.weights[i * last.outputs + output_order_[o]] = stored[i * last.outputs + o];
      }
    }
  }

  // Entries by their keys; unknown ones have no meaning for a score.
  Status read_metadata(size_t outputs) {
    Bytes stored;
    ACUITY_TRY_ASSIGN(stored, section(content_, 64, "metadata"));
    std::map<std::string, Bytes> entries;
    for (size_t at = 0; at < stored.size();) {
      const size_t key = std::to_integer<size_t>(stored[at]);
      if (stored.size() - at < 1 + key + 5) return bad("its metadata ends in the middle");
      const std::string name(reinterpret_cast<const char*>(stored.data()) + at + 1, key);
      const size_t length = number_at<uint32_t>(stored, at + 1 + key + 1);
      at += 1 + key + 5;
      if (length > stored.size() - at) return bad("its metadata ends in the middle");
      entries[name] = stored.subspan(at, length);
      at += length;
    }
    const auto find = [&](const std::string& key) -> std::optional<Bytes> {
      const auto found = entries.find("zentrain." + key);
      return found == entries.end() ? std::nullopt : std::optional(found->second);
    };
    ACUITY_TRY(read_transforms(find("feature_transforms"), find("feature_transform_params")));
    if (const auto value = find("per_sample_alpha_head")) {
      ACUITY_TRY(read_mixture(*value, outputs, outputs));
    } else if (const auto fixed = find("hybrid_head")) {
      ACUITY_TRY(read_mixture(*fixed, outputs, 0));
    }
    if (const auto value = find("tanh_output_head")) ACUITY_TRY(read_pin(*value));
    if (const auto value = find("output_calibration_spline")) ACUITY_TRY(read_knots(*value));
    if (const auto value = find("minmax_monotone_head")) ACUITY_TRY(read_min_max(*value));
    return {};
  }

  Status read_transforms(std::optional<Bytes> names, std::optional<Bytes> parameters) {
    if (!names) return {};
    const auto text = [](Bytes bytes) {
      return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    const std::vector<std::string_view> tokens = lines_of(text(*names));
    const std::vector<std::string_view> lines =
        parameters ? lines_of(text(*parameters)) : std::vector<std::string_view>();
    if (tokens.size() != head_.inputs_ || (!lines.empty() && lines.size() != tokens.size())) {
      return bad(fmt::format("it has {} transforms for {} inputs", tokens.size(), head_.inputs_));
    }
    for (size_t i = 0; i < tokens.size(); ++i) {
      Head::Transform transform;
      ACUITY_TRY_ASSIGN(transform, transform_of(tokens[i], lines.empty() ? "" : lines[i]));
      head_.transforms_.push_back(std::move(transform));
    }
    return {};
  }

  Result<Head::Transform> transform_of(std::string_view name, std::string_view line) const {
    using Shape = Head::Shape;
    struct Known {
      std::string_view name;
      Shape shape;
      size_t parameters;  // at least; exactly, unless these are the edges of bins
    };
    static constexpr std::array<Known, 15> kKnown{{
        {"identity", Shape::identity, 0},
        {"log", Shape::log, 0},
        {"log1p", Shape::log1p, 0},
        {"signed_log1p", Shape::signed_log1p, 0},
        {"signed_sqrt", Shape::signed_sqrt, 0},
        {"signed_cbrt", Shape::signed_cbrt, 0},
        {"clip_then_log1p", Shape::clip_then_log1p, 1},
        {"winsor_p99", Shape::winsor_p99, 2},
        {"quantile_bins", Shape::quantile_bins, 1},
        {"winsor_then_log", Shape::winsor_then_log, 2},
        {"winsor_then_log1p", Shape::winsor_then_log1p, 2},
        {"winsor_then_signed_cbrt", Shape::winsor_then_signed_cbrt, 2},
        {"signed_cbrt_then_winsor", Shape::signed_cbrt_then_winsor, 2},
        {"clip_then_log1p_then_winsor", Shape::clip_then_log1p_then_winsor, 3},
        {"yeo_johnson", Shape::yeo_johnson, 1},
    }};
    const auto known = std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& each) { return each.name == name; });
    if (known == kKnown.end()) return bad(fmt::format("its transform '{}' is not known", shown(name)));
    Head::Transform transform{known->shape, {}};
    while (!line.empty()) {
      const std::string_view word = line.substr(0, line.find(','));
      line.remove_prefix(std::min(word.size() + 1, line.size()));
      std::string_view digits = word.substr(std::min(word.find_first_not_of(" \r"), word.size()));
      digits = digits.substr(0, digits.find_last_not_of(" \r") + 1);
      float value = 0;  // may be infinite: a limit that is none
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (error != std::errc() || end != digits.data() + digits.size()) {
        return bad(fmt::format("'{}' is not a parameter of a transform", shown(word)));
      }
      transform.parameters.push_back(value);
    }
    const size_t found = transform.parameters.size();
    if (found < known->parameters || (found > known->parameters && known->shape != Shape::quantile_bins)) {
      return bad(fmt::format("its transform '{}' has {} parameters instead of {}", name, found, known->parameters));
    }
    return transform;
  }

  // alpha_weights: as many as there are outputs, or none if alpha is the same for all.
  Status read_mixture(Bytes value, size_t outputs, size_t alpha_weights) {
    const std::vector<float> numbers = numbers_of<float>(value);
    if (value.size() != (alpha_weights + outputs + 8) * sizeof(float) || !all_finite(numbers)) {
      return bad("what mixes its outputs has a wrong size or a value that is not finite");
    }
    Head::Mixture mixture;
    auto next = numbers.begin();
    const auto take = [&](std::vector<float>& to, size_t count) {
      to.assign(next, next + static_cast<ptrdiff_t>(count));
      next += static_cast<ptrdiff_t>(count);
    };
    if (alpha_weights != 0) {
      take(mixture.alpha_weights, alpha_weights);
      mixture.alpha_bias = *next++;
    }
    take(mixture.rank_weights, outputs);
    mixture.rank_bias = *next++;
    if (alpha_weights == 0) mixture.alpha_bias = *next++;
    std::copy_n(next, 4, mixture.pool_weights.begin());
    mixture.pool_bias = next[4];
    mixture.power = next[5];
    if (!(mixture.power > 0)) return bad(fmt::format("the power of its pool is {}", mixture.power));
    head_.mixture_ = std::move(mixture);
    return {};
  }

  Status read_pin(Bytes value) {
    const std::vector<float> numbers = numbers_of<float>(value);
    if (value.size() != sizeof(float) || !std::isfinite(numbers[0]) || numbers[0] == 0) {
      return bad("the scale of its output is missing or not usable");
    }
    head_.pin_ = numbers[0];
    return {};
  }

  Status read_knots(Bytes value) {
    const size_t count = value.size() < 4 ? 0 : number_at<uint32_t>(value, 0);
    if (count < 2 || value.size() != 4 + count * 8) return bad("its calibration has a wrong size");
    const std::vector<float> numbers = numbers_of<float>(value.subspan(4));
    for (size_t i = 0; i < count; ++i) {
      const Head::Knot knot{static_cast<double>(numbers[2 * i]), static_cast<double>(numbers[2 * i + 1])};
      const bool rises = head_.knots_.empty() || knot.x > head_.knots_.back().x;
      if (!std::isfinite(knot.x) || !std::isfinite(knot.y) || !rises) return bad("its calibration does not rise");
      head_.knots_.push_back(knot);
    }
    return {};
  }

  Status read_min_max(Bytes value) {
    if (value.size() < 12) return bad("its minima of maxima have a wrong size");
    const uint64_t outer = number_at<uint32_t>(value, 0), inner = number_at<uint32_t>(value, 4);
    const uint64_t inputs = number_at<uint32_t>(value, 8);
    if (outer == 0 || inner == 0 || outer > kMostOutputs || inner > kMostOutputs || inputs != head_.inputs_ ||
        value.size() != 12 + 4 * outer * inner * (inputs + 1)) {
      return bad("its minima of maxima have a wrong size");
    }
    std::vector<float> numbers = numbers_of<float>(value.subspan(12));
    if (!all_finite(numbers)) return bad("a weight is not finite");
    const auto biases = numbers.begin() + static_cast<ptrdiff_t>(outer * inner * inputs);
    head_.min_max_ = Head::MinMax{outer, inner, {numbers.begin(), biases}, {biases, numbers.end()}};
    return {};
  }

  std::string_view name_;
  Bytes file_;
  std::vector<std::byte> content_;
  std::vector<size_t> input_order_, output_order_;
  Head head_;
};

Result<Head> Head::parse(std::string_view name, std::span<const std::byte> file) {
  return HeadParser(name, file).parse();
}

Result<Head> Head::read(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::error_code error;
  if (!stream || std::filesystem::is_directory(path, error)) {
    return Status(StatusCode::input, fmt::format("cannot read the head '{}'; check that the file exists", path));
  }
  // One byte more than may be there tells whether there are more.
  std::string content(kMostBytes + 1, '\0');
  stream.read(content.data(), static_cast<std::streamsize>(content.size()));
  const auto size = static_cast<size_t>(stream.gcount());
  if (size > kMostBytes) {
    return Status(StatusCode::input,
                  fmt::format("'{}' is not a usable zensim head: it has more than {} bytes", path, kMostBytes));
  }
  return parse(path, std::as_bytes(std::span(content).first(size)));
}

}  // namespace acuity::zensim
