// Loads a vector set from its file. Codes are copied. The f32 vectors stay mapped, except those of the last
// block, because rows will be appended to it. A document is live if the file contains all of its chunks; the
// newest version wins. The comparison with the source of truth follows later. Runs under the engine's writer
// mutex, on an empty set.
#pragma once

#include "vector/files/vector_file.h"
#include "vector/set/vector_set.h"

namespace mds {

void load_set(VectorSet& set, const VectorFile& file);

// Returns the f32 vectors of a full block. All slots of the block must be in the file.
[[nodiscard]] std::shared_ptr<FullRows> stored_rows(const VectorFile& file, uint32_t slotBegin);

}  // namespace mds
