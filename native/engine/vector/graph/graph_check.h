// Whether the bytes of a stored graph are one: usearch, which reads them, believes every number in them.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace mds {

// Of a graph of at most so many slots: as long as its levels say, each node under its own number, and no neighbour outside of the level that it is a neighbour in.
[[nodiscard]] bool is_sound_graph(Bytes stream, uint32_t slots);

}  // namespace mds
