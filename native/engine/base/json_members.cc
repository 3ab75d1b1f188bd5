#include "base/json_members.h"

#include <algorithm>

namespace mds {

namespace {

// Reads the little-endian numbers and the names of the tree. After the first read past the end, every read
// fails.
class JsonNodeReader {
 public:
  explicit JsonNodeReader(Bytes bytes) noexcept : bytes_(bytes) {}

  uint32_t number() noexcept {
    if (bytes_.size() < 4) return fail();
    const uint32_t value = load_u32(bytes_.data());
    bytes_ = bytes_.subspan(4);
    return value;
  }

  std::string_view name() noexcept {
    const uint32_t length = number();
    if (length > bytes_.size()) {
      fail();
      return {};
    }
    const std::string_view text = as_text(bytes_.first(length));
    bytes_ = bytes_.subspan(length);
    return text;
  }

  [[nodiscard]] bool ok() const noexcept { return isOk_; }
  [[nodiscard]] size_t left() const noexcept { return bytes_.size(); }

 private:
  uint32_t fail() noexcept {
    isOk_ = false;
    bytes_ = {};
    return 0;
  }

  Bytes bytes_;
  bool isOk_ = true;
};

}  // namespace

std::optional<JsonMembers> JsonMembers::read(Bytes bytes) {
  JsonNodeReader reader(bytes);
  JsonMembers made;
  made.nodes_.emplace_back();
  const uint32_t count = reader.number();
  for (uint32_t index = 1; index <= count && reader.ok(); ++index) {
    JsonNode node;
    const uint32_t kind = reader.number();
    if (kind > static_cast<uint32_t>(JsonNode::Kind::kList)) return std::nullopt;
    node.kind = static_cast<JsonNode::Kind>(kind);
    node.rest = reader.number();
    // Children must precede their parents, so that the tree has no cycle.
    const bool mayCut = node.kind == JsonNode::Kind::kObject;
    if (node.rest >= index && !(mayCut && node.rest == kNoJsonNode)) return std::nullopt;
    const uint32_t members = reader.number();
    for (uint32_t member = 0; member < members && reader.ok(); ++member) {
      const std::string_view name = reader.name();
      const uint32_t child = reader.number();
      if (child >= index) return std::nullopt;
      node.members.push_back({name, child});
    }
    std::sort(node.members.begin(), node.members.end(), [](const JsonNode::Member& one, const JsonNode::Member& other) { return one.name < other.name; });
    made.nodes_.push_back(std::move(node));
  }
  if (!reader.ok() || reader.left() > 0) return std::nullopt;
  return made;
}

uint32_t JsonMembers::member_of(const JsonNode& node, std::string_view name) noexcept {
  const auto at =
      std::lower_bound(node.members.begin(), node.members.end(), name, [](const JsonNode::Member& member, std::string_view wanted) { return member.name < wanted; });
  return at != node.members.end() && at->name == name ? at->node : node.rest;
}

}  // namespace mds
