// A vector set from its file: codes are copied, f32 vectors stay mapped, except those of the last block,
// which will be appended to. Every document of which all chunks are in the file is alive, in its newest
// version: the comparison with truth comes afterwards. Runs under the engine's writer mutex, on an empty set.
#pragma once

#include "vector/files/vector_file.h"
#include "vector/set/vector_set.h"

namespace mds {

void load_set(VectorSet& set, const VectorFile& file);

// The f32 vectors of a full block whose slots are all in the file.
[[nodiscard]] std::shared_ptr<FullRows> stored_rows(const VectorFile& file, uint32_t slotBegin);

}  // namespace mds
