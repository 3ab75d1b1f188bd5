// See vector_batch.h.
#include "vector/set/vector_batch.h"

#include <string>

#include "vector/codes/vector_codes.h"
#include "vector/vector_limits.h"

namespace mds {
namespace {

constexpr uint32_t kVectorBatchMagic = 0x3142564D;  // "MVB1"

Status malformed_batch(const char* what) { return Status::malformed(std::string("vector batch: ") + what); }

bool are_usable(Bytes vectors) {
  for (size_t at = 0; at < vectors.size(); at += sizeof(float)) {
    const float element = std::bit_cast<float>(load_u32(vectors.data() + at));
    if (!is_usable({&element, 1})) return false;
  }
  return true;
}

Status parse_set(ByteReader& reader, VectorOp& op) {
  op.docid = reader.u32();
  op.lsn = reader.u64();
  op.dims = reader.u32();
  op.chunks = reader.u32();
  if (!reader.ok()) return malformed_batch("cut short");
  if (op.dims == 0 || op.dims > kVectorDimsMax) return malformed_batch("dimensions out of range");
  if (op.chunks == 0 || op.chunks > kVectorChunksMax) return malformed_batch("number of chunks out of range");
  op.vectors = reader.take(uint64_t{op.dims} * op.chunks * sizeof(float));
  if (!reader.ok()) return malformed_batch("cut short");
  return are_usable(op.vectors) ? Status() : malformed_batch("an element is not finite, or too large");
}

}  // namespace

Result<std::vector<VectorOp>> parse_vector_batch(Bytes bytes) {
  if (bytes.size() > kVectorBatchBytesMax) return Status::too_large("vector batch: " + std::to_string(bytes.size()) + " bytes");
  ByteReader reader(bytes);
  if (reader.u32() != kVectorBatchMagic) return malformed_batch("no header");
  const uint32_t count = reader.count(8);
  std::vector<VectorOp> ops;
  ops.reserve(count);
  for (uint32_t index = 0; reader.ok() && index < count; ++index) {
    const uint32_t kind = reader.u32();
    VectorOp op{static_cast<VectorOpKind>(kind), reader.u32(), 0, 0, 0, 0, {}};
    if (op.kind == VectorOpKind::kSet) {
      const Status parsed = parse_set(reader, op);
      if (!parsed.ok()) return parsed;
    } else if (op.kind == VectorOpKind::kRemove) {
      op.docid = reader.u32();
      op.lsn = reader.u64();
    } else if (op.kind != VectorOpKind::kDrop) {
      return malformed_batch("unknown operation");
    }
    ops.push_back(op);
  }
  if (!reader.ok() || reader.remaining() != 0) return malformed_batch("cut short, or bytes behind it");
  return ops;
}

}  // namespace mds
