// The members of a JSON text that an operation knows: a tree built from the operation's schema.
// src/engine/json_scan.ts writes it and describes its format. Immutable. Views the bytes that it was read
// from.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace mds {

struct JsonNode {
  enum class Kind : uint8_t { kAny, kObject, kList };

  struct Member {
    std::string_view name;
    uint32_t node;
  };

  Kind kind = Kind::kAny;
  // For a list: the node of its items. For an object: the node of the members that it does not name, or
  // kNoJsonNode, in which case those members are cut out.
  uint32_t rest = 0;
  // For an object: its members, sorted by name.
  std::vector<Member> members;
};

inline constexpr uint32_t kAnyJsonNode = 0;
inline constexpr uint32_t kNoJsonNode = 0xFFFFFFFF;

class JsonMembers {
 public:
  // Empty if the bytes do not have the format.
  static std::optional<JsonMembers> read(Bytes bytes);

  [[nodiscard]] const JsonNode& node(uint32_t index) const noexcept { return nodes_[index]; }
  [[nodiscard]] uint32_t root() const noexcept { return static_cast<uint32_t>(nodes_.size() - 1); }
  // Returns the node of a member, or kNoJsonNode. `name` must be unescaped.
  [[nodiscard]] static uint32_t member_of(const JsonNode& node, std::string_view name) noexcept;

 private:
  std::vector<JsonNode> nodes_;
};

}  // namespace mds
