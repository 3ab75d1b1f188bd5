// A parsed batch of the vector engine. Format: docs/formats/vector-index.md, "Batch". The operations refer to
// the bytes of the batch, which may be unaligned.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"

namespace mds {

enum class VectorOpKind : uint32_t { kSet = 1, kRemove = 2, kDrop = 3 };

struct VectorOp {
  VectorOpKind kind;
  uint32_t collection;
  uint32_t docid = 0;
  uint64_t lsn = 0;
  uint32_t dims = 0;
  uint32_t chunks = 0;
  Bytes vectors;  // chunks x dims f32
};

// Rejects vectors with elements that are not finite, or so large that products overflow.
[[nodiscard]] Result<std::vector<VectorOp>> parse_vector_batch(Bytes bytes);

}  // namespace mds
