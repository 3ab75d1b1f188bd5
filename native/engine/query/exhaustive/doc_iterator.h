// The iterators of the document-at-a-time path. Each iterates, in slot order, over the documents of one
// segment that match one node of the plan. Dead documents are included.
// Used by one search on one thread; valid while the snapshot is referenced.
#pragma once

#include <cstdint>
#include <memory>

#include "segment/segment.h"

namespace mds {

class DocIterator {
 public:
  virtual ~DocIterator() = default;

  // The current match; kEndOfList past the last. A new iterator is positioned on its first match.
  [[nodiscard]] uint32_t doc() const noexcept { return doc_; }
  // Moves to the first match >= target and returns it. Does not move if doc() >= target already. May end
  // early when the search is stopped.
  virtual uint32_t advance(uint32_t target) = 0;
  // Score of the current match; 0 for a pure filter. Valid until the next advance.
  [[nodiscard]] virtual double score() = 0;
  // Upper bound of the number of matches. A conjunction starts from its child with the lowest cost.
  [[nodiscard]] virtual uint64_t cost() const noexcept = 0;

 protected:
  uint32_t doc_ = kEndOfList;
};

using DocIteratorPtr = std::unique_ptr<DocIterator>;

}  // namespace mds
