// Validates the bytes of a stored graph. usearch reads them without any validation.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace mds {

// Returns whether the bytes are a valid graph of at most `slots` slots. Its length must match the levels,
// each node must have its own number as key, and all neighbours in a level must exist in that level.
[[nodiscard]] bool is_sound_graph(Bytes stream, uint32_t slots);

}  // namespace mds
