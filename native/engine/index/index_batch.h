// A parsed index batch (docs/formats/index-batch.md). Views into the batch's bytes; nothing is copied.
// Parsing reads and validates every byte before anything is changed.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "segment/packed_tokens.h"

namespace mds {

enum class OpKind : uint8_t { kUpsert = 1, kDelete = 2, kDropCollection = 3 };

struct FieldTokens {
  std::string_view name;
  PackedTokens tokens;
};

struct IndexOp {
  OpKind kind;
  bool replacesEqualLsn;
  uint32_t collection;
  uint32_t docid;
  uint64_t lsn;
  // For upserts only.
  int64_t addedAt;
  int64_t updatedAt;
  std::string_view key;
  std::string_view lang;
  std::vector<std::pair<std::string_view, std::string_view>> meta;
  std::vector<FieldTokens> fields;
};

struct IndexBatch {
  uint64_t lsnLast;
  std::vector<IndexOp> ops;
};

[[nodiscard]] Result<IndexBatch> parse_index_batch(Bytes bytes);

}  // namespace mds
