// Validates the bytes of a stored graph: usearch, which reads them, trusts every number in them.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace mds {

// Whether a graph of at most `slots` slots is valid: as long as its levels require, each node under its own
// number, and all neighbours of a level exist in that level.
[[nodiscard]] bool is_sound_graph(Bytes stream, uint32_t slots);

}  // namespace mds
