// Looks through a JSON text before JavaScript's parser, which can't be stopped and takes memory for whatever it is given: checks the grammar, bounds what the parser will
// build, and cuts out members that the operation does not know, so that they are never built. Linear time, a few bytes of memory for each name; bounded recursion. Any
// thread.
#pragma once

#include <cstdint>
#include <span>

#include "base/json_members.h"
#include "base/stop_signal.h"

namespace mds {

// Of what is kept but for the depth, which is the whole text's.
struct JsonBounds {
  uint32_t depthMax = 0;
  // Objects and lists.
  uint32_t containersMax = 0;
  // Texts, numbers, words, objects and lists.
  uint32_t valuesMax = 0;
  // Different beginnings of objects: after each member, the names so far in their order. JavaScript's engine makes a hidden class for each, which costs more than the
  // member, and unique names make unique beginnings.
  uint32_t shapesMax = 0;
};

enum class JsonVerdict : int8_t { kGood = 0, kInvalid = -1, kTooDeep = -2, kTooManyContainers = -3, kTooManyValues = -4, kTooManyShapes = -5, kStopped = -6 };

// Where the text is good, it holds what is kept, then spaces; `text` is then JSON of the same meaning to the operation. Otherwise its bytes are undefined.
[[nodiscard]] JsonVerdict scan_json(std::span<uint8_t> text, const JsonMembers& members, const JsonBounds& bounds, StopSignal stop);

}  // namespace mds
