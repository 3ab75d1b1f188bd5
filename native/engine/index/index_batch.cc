// See index_batch.h.
#include "index/index_batch.h"

#include <string>

#include "base/limits.h"

namespace mds {
namespace {

constexpr uint32_t kIndexBatchMagic = 0x3142494D;
constexpr uint64_t kOpHeaderBytes = 24;
constexpr uint32_t kFlagReplacesEqualLsn = 1;

Status parse_upsert(ByteReader& reader, IndexOp& op) {
  op.addedAt = reader.i64();
  op.updatedAt = reader.i64();
  const uint32_t keyBytes = reader.u32();
  const uint32_t langBytes = reader.u32();
  const uint32_t metaCount = reader.u32();
  const uint32_t fieldCount = reader.u32();
  op.key = reader.padded(keyBytes);
  op.lang = reader.padded(langBytes);
  op.meta.reserve(reader.checked_count(metaCount, 8));
  for (uint32_t index = 0; reader.ok() && index < metaCount; ++index) {
    const uint32_t nameBytes = reader.u32();
    const uint32_t valueBytes = reader.u32();
    const std::string_view name = reader.padded(nameBytes);
    op.meta.emplace_back(name, reader.padded(valueBytes));
  }
  op.fields.reserve(reader.checked_count(fieldCount, 8));
  for (uint32_t index = 0; reader.ok() && index < fieldCount; ++index) {
    const uint32_t nameBytes = reader.u32();
    const uint32_t tokensBytes = reader.u32();
    const std::string_view name = reader.padded(nameBytes);
    const Bytes record = reader.take(tokensBytes);
    if (!reader.ok()) break;
    Result<PackedTokens> tokens = read_packed_tokens(record);
    if (!tokens.ok()) return tokens.status();
    op.fields.push_back({name, tokens.value()});
  }
  return {};
}

Status parse_op(ByteReader& batch, IndexOp& op) {
  if (batch.remaining() < kOpHeaderBytes) return Status::malformed("header does not fit");
  const uint32_t opBytes = batch.u32();
  if (opBytes < kOpHeaderBytes || opBytes % 4 != 0) return Status::malformed(std::to_string(opBytes) + " op bytes");
  ByteReader reader(batch.take(opBytes - 4));
  const uint32_t word = reader.u32();
  const uint32_t kind = word & 0xFF;
  const uint32_t flags = word >> 8;
  if (kind < 1 || kind > 3 || (flags & ~kFlagReplacesEqualLsn) != 0) return Status::malformed("unknown kind or flags");
  op.kind = static_cast<OpKind>(kind);
  op.replacesEqualLsn = (flags & kFlagReplacesEqualLsn) != 0;
  op.collection = reader.u32();
  op.docid = reader.u32();
  op.lsn = reader.u64();
  if (op.kind == OpKind::kUpsert) {
    const Status upsert = parse_upsert(reader, op);
    if (!upsert.ok()) return upsert;
  }
  if (!reader.ok() || reader.remaining() != 0) return Status::malformed("length does not match its contents");
  return {};
}

}  // namespace

Result<IndexBatch> parse_index_batch(Bytes bytes) {
  if (bytes.size() > kBatchBytesMax) return Status::too_large("index batch: " + std::to_string(bytes.size()) + " bytes");
  ByteReader reader(bytes);
  if (reader.u32() != kIndexBatchMagic) return Status::malformed("index batch: no header");
  const uint32_t opCount = reader.u32();
  IndexBatch batch{reader.u64(), {}};
  if (!reader.ok() || opCount != reader.checked_count(opCount, kOpHeaderBytes)) return Status::malformed("index batch: op count does not fit");
  batch.ops.resize(opCount);
  for (uint32_t index = 0; index < opCount; ++index) {
    const size_t at = reader.offset();
    const Status op = parse_op(reader, batch.ops[index]);
    if (!op.ok()) return Status::malformed("index batch: op " + std::to_string(index) + " at byte " + std::to_string(at) + ": " + op.message());
  }
  if (reader.remaining() != 0) return Status::malformed("index batch: bytes after the last op");
  return batch;
}

}  // namespace mds
