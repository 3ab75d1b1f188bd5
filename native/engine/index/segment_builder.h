// Builds a mini-segment from the upserts of one batch. Runs on the publishing thread.
#pragma once

#include <memory>
#include <span>

#include "base/status.h"
#include "index/index_batch.h"
#include "segment/segment.h"

namespace mds {

// `upserts`: ordered by (collection, docid), distinct, at least one. Fails as malformed if a document has a
// field twice or a field has a term twice. Metadata pairs that occur twice count once.
[[nodiscard]] Result<std::shared_ptr<const Segment>> build_segment(std::span<const IndexOp* const> upserts, uint64_t serial);

}  // namespace mds
