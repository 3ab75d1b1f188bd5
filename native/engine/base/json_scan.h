// Scans a JSON text before JavaScript's parser, which cannot be stopped and has no memory bound. Checks the
// grammar, bounds what the parser will build, and cuts out members that the operation does not know, so that
// they are never built. Linear time, a few bytes of memory per name, bounded recursion. Any thread.
#pragma once

#include <cstdint>
#include <span>

#include "base/json_members.h"
#include "base/stop_signal.h"

namespace mds {

// Counted over the kept members, except the depth, which is that of the whole text.
struct JsonBounds {
  uint32_t depthMax = 0;
  // Number of objects and lists.
  uint32_t containersMax = 0;
  // Number of strings, numbers, literals, objects and lists.
  uint32_t valuesMax = 0;
  // Number of distinct prefixes of objects: after each member, the sequence of names so far. JavaScript's
  // engine creates a hidden class for each, which costs more than the member; unique names create unique
  // prefixes.
  uint32_t shapesMax = 0;
};

enum class JsonVerdict : int8_t { kGood = 0, kInvalid = -1, kTooDeep = -2, kTooManyContainers = -3, kTooManyValues = -4, kTooManyShapes = -5, kStopped = -6 };

// If the verdict is kGood, `text` contains the kept bytes, followed by spaces: JSON with the same meaning to
// the operation. Otherwise its bytes are undefined.
[[nodiscard]] JsonVerdict scan_json(std::span<uint8_t> text, const JsonMembers& members, const JsonBounds& bounds, StopSignal stop);

}  // namespace mds
