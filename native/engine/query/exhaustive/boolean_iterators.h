// Iterators of the inner nodes of a plan. See doc_iterator.h. Scores are summed in the order of the plan,
// regardless of the order of evaluation.
#pragma once

#include <vector>

#include "base/stop_signal.h"
#include "query/exhaustive/doc_iterator.h"

namespace mds {

// Iterates over documents that match all of `children` (at least one); the score is the sum of the children's
// scores.
[[nodiscard]] DocIteratorPtr make_and_iterator(std::vector<DocIteratorPtr> children, StopSignal& stop);

// Iterates over documents that match any of `children` (at least one); the score is the sum over the children
// that match.
[[nodiscard]] DocIteratorPtr make_or_iterator(std::vector<DocIteratorPtr> children);

// Iterates over documents that match `wanted` and not `excluded`, with the score of `wanted`.
[[nodiscard]] DocIteratorPtr make_and_not_iterator(DocIteratorPtr wanted, DocIteratorPtr excluded, StopSignal& stop);

}  // namespace mds
