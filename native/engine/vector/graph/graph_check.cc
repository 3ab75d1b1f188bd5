// See graph_check.h. Layout of the stream:
// - a header of five u64
// - the level of each node (i16)
// - the nodes: each has its key (u32), its level, and for each level from the base up the number of its
//   neighbours (u32) and space for the maximum number of neighbours
#include "vector/graph/graph_check.h"

#include <cstring>
#include <vector>

#include "vector/vector_limits.h"

namespace mds {
namespace {

constexpr uint32_t kBaseNeighbours = 2 * kGraphConnectivity;

struct GraphHead {
  uint64_t size;
  uint64_t connectivity;
  uint64_t connectivityBase;
  uint64_t levelMax;
  uint64_t entry;
};

int16_t read_level(ByteReader& reader) noexcept {
  int16_t level = -1;
  const Bytes taken = reader.take(sizeof level);
  if (!taken.empty()) std::memcpy(&level, taken.data(), sizeof level);
  return level;
}

bool is_plausible(const GraphHead& head, uint32_t slots) noexcept {
  return head.size > 0 && head.size <= slots && head.connectivity == kGraphConnectivity && head.connectivityBase == kBaseNeighbours && head.entry < head.size;
}

// Checks the neighbours of a node in one level. `most` is their maximum number.
bool are_sound(ByteReader& reader, uint32_t most, int level, const std::vector<int16_t>& levels) {
  const uint32_t count = reader.u32();
  bool isSound = count <= most;
  for (uint32_t at = 0; at < most; ++at) {
    const uint32_t slot = reader.u32();
    if (at < count && (slot >= levels.size() || levels[slot] < level)) isSound = false;
  }
  return isSound && reader.ok();
}

bool is_sound_node(ByteReader& reader, uint32_t slot, const std::vector<int16_t>& levels) {
  if (reader.u32() != slot || read_level(reader) != levels[slot]) return false;
  for (int level = 0; level <= levels[slot]; ++level) {
    if (!are_sound(reader, level == 0 ? kBaseNeighbours : kGraphConnectivity, level, levels)) return false;
  }
  return true;
}

}  // namespace

bool is_sound_graph(Bytes stream, uint32_t slots) {
  ByteReader reader(stream);
  const GraphHead head{reader.u64(), reader.u64(), reader.u64(), reader.u64(), reader.u64()};
  if (!reader.ok() || !is_plausible(head, slots) || reader.remaining() / sizeof(int16_t) < head.size) return false;
  std::vector<int16_t> levels(static_cast<size_t>(head.size));
  for (int16_t& level : levels) {
    level = read_level(reader);
    if (level < 0 || static_cast<uint64_t>(level) > head.levelMax) return false;
  }
  if (static_cast<uint64_t>(levels[static_cast<size_t>(head.entry)]) != head.levelMax) return false;
  for (uint32_t slot = 0; slot < levels.size(); ++slot) {
    if (!is_sound_node(reader, slot, levels)) return false;
  }
  return reader.ok() && reader.remaining() == 0;
}

}  // namespace mds
