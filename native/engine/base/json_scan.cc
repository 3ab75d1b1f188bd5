#include "base/json_scan.h"

#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_hash.h"

namespace mds {

namespace {

// Bytes of text between two polls of the stop word: about 30 us.
constexpr size_t kJsonBytesPolled = size_t{64} * 1024;
// Maximum length of an escaped name that is unescaped for a lookup. A name has fewer bytes unescaped than
// escaped, and the names of operations are short.
constexpr size_t kJsonNameBytesMax = 1024;

// A set of non-zero numbers. The caller bounds its size.
class ShapeSet {
 public:
  // Returns false if the set already contains it.
  bool insert(uint64_t shape) {
    if (shape == 0) shape = 1;
    if (count_ * 2 >= slots_.size()) grow();
    uint64_t& slot = slot_of(slots_, shape);
    if (slot == shape) return false;
    slot = shape;
    count_ += 1;
    return true;
  }

  [[nodiscard]] size_t count() const noexcept { return count_; }

 private:
  static uint64_t& slot_of(std::vector<uint64_t>& slots, uint64_t shape) noexcept {
    const size_t mask = slots.size() - 1;
    size_t at = shape & mask;
    while (slots[at] != 0 && slots[at] != shape) at = (at + 1) & mask;
    return slots[at];
  }

  void grow() {
    std::vector<uint64_t> larger(slots_.empty() ? 1024 : slots_.size() * 2);
    for (const uint64_t shape : slots_) {
      if (shape != 0) slot_of(larger, shape) = shape;
    }
    slots_ = std::move(larger);
  }

  std::vector<uint64_t> slots_;
  size_t count_ = 0;
};

int hex_value(uint8_t digit) noexcept {
  if (digit >= '0' && digit <= '9') return digit - '0';
  const int letter = digit | 0x20;
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

void append_utf8(std::string& out, uint32_t unit) {
  if (unit < 0x80) {
    out.push_back(static_cast<char>(unit));
  } else if (unit < 0x800) {
    out.push_back(static_cast<char>(0xC0 | unit >> 6));
    out.push_back(static_cast<char>(0x80 | (unit & 0x3F)));
  } else {
    out.push_back(static_cast<char>(0xE0 | unit >> 12));
    out.push_back(static_cast<char>(0x80 | (unit >> 6 & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (unit & 0x3F)));
  }
}

// Returns a validated name, unescaped. The two halves of a surrogate pair are not combined: no name of an
// operation contains one.
std::string unescaped_name(std::string_view raw) {
  std::string name;
  for (size_t at = 0; at < raw.size(); ++at) {
    if (raw[at] != '\\') {
      name.push_back(raw[at]);
      continue;
    }
    const char letter = raw[++at];
    if (letter == 'u') {
      uint32_t unit = 0;
      for (int digit = 0; digit < 4; ++digit) unit = unit << 4 | static_cast<uint32_t>(hex_value(static_cast<uint8_t>(raw[++at])));
      append_utf8(name, unit);
    } else {
      constexpr std::string_view kLetters = "bfnrt";
      constexpr std::string_view kMeanings = "\b\f\n\r\t";
      const size_t known = kLetters.find(letter);
      name.push_back(known == std::string_view::npos ? letter : kMeanings[known]);
    }
  }
  return name;
}

constexpr uint64_t kOnes = 0x0101010101010101;
constexpr uint64_t kHighs = 0x8080808080808080;

// Whether one of eight bytes is a quote, a backslash or a control character. May return true if there is none
// (bytes above 0x7F next to one), but never false if there is one.
bool has_special(uint64_t word) noexcept {
  const uint64_t quotes = word ^ (kOnes * '"');
  const uint64_t slashes = word ^ (kOnes * '\\');
  const uint64_t found = ((quotes - kOnes) & ~quotes) | ((slashes - kOnes) & ~slashes) | ((word - kOnes * 0x20) & ~word);
  return (found & kHighs) != 0;
}

class JsonScanner {
 public:
  JsonScanner(std::span<uint8_t> text, const JsonMembers& members, const JsonBounds& bounds, StopSignal stop)
      : begin_(text.data()),
        end_(text.data() + text.size()),
        at_(begin_),
        polledAt_(begin_),
        kept_(begin_),
        out_(begin_),
        members_(members),
        bounds_(bounds),
        stop_(stop),
        seed_(hash_seed()) {}

  JsonVerdict run() {
    space();
    if (!value(members_.root(), 0, true)) return verdict_;
    space();
    if (at_ != end_) return JsonVerdict::kInvalid;
    keep_to(end_);
    std::memset(out_, ' ', static_cast<size_t>(end_ - out_));
    return JsonVerdict::kGood;
  }

 private:
  bool fail(JsonVerdict verdict) noexcept {
    verdict_ = verdict;
    return false;
  }

  bool invalid() noexcept { return fail(JsonVerdict::kInvalid); }

  [[nodiscard]] uint8_t byte() const noexcept { return at_ < end_ ? *at_ : uint8_t{0}; }

  void space() noexcept {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }

  // Moves the kept bytes up to `to` that have not been moved yet.
  void keep_to(uint8_t* to) noexcept {
    const auto bytes = static_cast<size_t>(to - kept_);
    if (out_ != kept_) std::memmove(out_, kept_, bytes);
    out_ += bytes;
    kept_ = to;
  }

  // Cuts out the bytes [from, to).
  void cut(uint8_t* from, uint8_t* to) noexcept {
    keep_to(from);
    kept_ = to;
  }

  // `isKept`: false inside a member that is cut out, for which only grammar and depth are checked.
  bool value(uint32_t nodeIndex, uint32_t depth, bool isKept) {
    if (at_ - polledAt_ > static_cast<ptrdiff_t>(kJsonBytesPolled)) {
      polledAt_ = at_;
      if (stop_.poll()) return fail(JsonVerdict::kStopped);
    }
    if (isKept && ++values_ > bounds_.valuesMax) return fail(JsonVerdict::kTooManyValues);
    switch (byte()) {
      case '"':
        return string();
      case '{':
      case '[':
        if (depth == bounds_.depthMax) return fail(JsonVerdict::kTooDeep);
        if (isKept && ++containers_ > bounds_.containersMax) return fail(JsonVerdict::kTooManyContainers);
        return byte() == '{' ? object(nodeIndex, depth + 1, isKept) : list(nodeIndex, depth + 1, isKept);
      case 't':
        return word("true");
      case 'f':
        return word("false");
      case 'n':
        return word("null");
      default:
        return number();
    }
  }

  bool object(uint32_t nodeIndex, uint32_t depth, bool isKept) {
    const JsonNode& node = members_.node(nodeIndex);
    // If the schema expects no object here, everything is kept: the operation reports the mismatch.
    const bool isKnown = node.kind == JsonNode::Kind::kObject;
    uint64_t shape = seed_;
    uint32_t keptMembers = 0;
    ++at_;
    space();
    if (byte() == '}') return step();
    for (uint8_t* separator = nullptr;;) {
      if (byte() != '"') return invalid();
      uint8_t* const nameAt = at_;
      if (!string()) return false;
      const std::string_view raw(reinterpret_cast<const char*>(nameAt) + 1, static_cast<size_t>(at_ - nameAt) - 2);
      space();
      if (byte() != ':') return invalid();
      ++at_;
      space();
      const uint32_t child = isKept && isKnown ? member_of(node, raw) : kAnyJsonNode;
      const bool isCut = child == kNoJsonNode;
      if (isKept && !isCut) {
        shape = hash_text(raw, shape, seed_);
        if (shapes_.insert(shape) && shapes_.count() > bounds_.shapesMax) return fail(JsonVerdict::kTooManyShapes);
        // The preceding members were cut out together with the commas before them.
        if (keptMembers == 0 && separator != nullptr) cut(separator, separator + 1);
        keptMembers += 1;
      }
      if (isCut) keep_to(separator == nullptr ? nameAt : separator);
      if (!value(isCut ? kAnyJsonNode : child, depth, isKept && !isCut)) return false;
      if (isCut) kept_ = at_;
      space();
      if (byte() == '}') return step();
      if (byte() != ',') return invalid();
      separator = at_++;
      space();
    }
  }

  bool list(uint32_t nodeIndex, uint32_t depth, bool isKept) {
    const JsonNode& node = members_.node(nodeIndex);
    const uint32_t items = node.kind == JsonNode::Kind::kList ? node.rest : kAnyJsonNode;
    ++at_;
    space();
    if (byte() == ']') return step();
    for (;;) {
      if (!value(items, depth, isKept)) return false;
      space();
      if (byte() == ']') return step();
      if (byte() != ',') return invalid();
      ++at_;
      space();
    }
  }

  static uint32_t member_of(const JsonNode& node, std::string_view raw) {
    if (raw.find('\\') == std::string_view::npos) return JsonMembers::member_of(node, raw);
    return raw.size() > kJsonNameBytesMax ? node.rest : JsonMembers::member_of(node, unescaped_name(raw));
  }

  bool step() noexcept {
    ++at_;
    return true;
  }

  bool word(std::string_view wanted) noexcept {
    if (static_cast<size_t>(end_ - at_) < wanted.size() || std::memcmp(at_, wanted.data(), wanted.size()) != 0) return invalid();
    at_ += wanted.size();
    return true;
  }

  bool digits() noexcept {
    const uint8_t* const from = at_;
    while (at_ < end_ && *at_ >= '0' && *at_ <= '9') ++at_;
    return at_ > from || invalid();
  }

  bool number() noexcept {
    if (byte() == '-') ++at_;
    if (byte() == '0') {
      ++at_;
    } else if (!digits()) {
      return false;
    }
    if (byte() == '.') {
      ++at_;
      if (!digits()) return false;
    }
    if (byte() == 'e' || byte() == 'E') {
      ++at_;
      if (byte() == '+' || byte() == '-') ++at_;
      if (!digits()) return false;
    }
    return true;
  }

  // Consumes from the opening quote to behind the closing one.
  bool string() noexcept {
    ++at_;
    for (;;) {
      uint64_t word = 0;
      while (end_ - at_ >= 8) {
        std::memcpy(&word, at_, 8);
        if (has_special(word)) break;
        at_ += 8;
      }
      // The byte that ended the loop is among the next eight, or the text ends before them.
      for (int byte = 0; byte < 8; ++byte, ++at_) {
        if (at_ == end_ || *at_ < 0x20) return invalid();
        if (*at_ == '"') return step();
        if (*at_ != '\\') continue;
        if (!escape()) return false;
        break;
      }
    }
  }

  bool escape() noexcept {
    ++at_;
    if (at_ == end_) return invalid();
    if (*at_ == 'u') {
      if (end_ - at_ < 5) return invalid();
      for (int digit = 1; digit <= 4; ++digit) {
        if (hex_value(at_[digit]) < 0) return invalid();
      }
      at_ += 5;
      return true;
    }
    constexpr std::string_view kEscapes = "\"\\/bfnrt";
    return kEscapes.find(static_cast<char>(*at_)) == std::string_view::npos ? invalid() : step();
  }

  uint8_t* const begin_;
  uint8_t* const end_;
  uint8_t* at_;
  uint8_t* polledAt_;
  // The bytes between `kept_` and `at_` are kept, except those of a member being cut out, and are moved to
  // `out_`.
  uint8_t* kept_;
  uint8_t* out_;
  const JsonMembers& members_;
  const JsonBounds& bounds_;
  StopSignal stop_;
  const uint64_t seed_;
  JsonVerdict verdict_ = JsonVerdict::kInvalid;
  uint32_t values_ = 0;
  uint32_t containers_ = 0;
  ShapeSet shapes_;
};

}  // namespace

JsonVerdict scan_json(std::span<uint8_t> text, const JsonMembers& members, const JsonBounds& bounds, StopSignal stop) {
  return JsonScanner(text, members, bounds, stop).run();
}

}  // namespace mds
