// Turns the upserts of one batch into a mini-segment. Runs on the publishing thread.
#pragma once

#include <memory>
#include <span>

#include "base/status.h"
#include "index/index_batch.h"
#include "segment/segment.h"

namespace mds {

// `upserts`: ordered by (collection, docid), distinct, at least one. Fails as malformed when a field has a
// name or a term twice; metadata pairs that occur twice count once.
[[nodiscard]] Result<std::shared_ptr<const Segment>> build_segment(std::span<const IndexOp* const> upserts, uint64_t serial);

}  // namespace mds
