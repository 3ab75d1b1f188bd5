// Computes the effect of one batch on the current snapshot, without changing anything: which upserts win,
// which slots die, which deletes are recorded as tombstones. The engine then commits it. Runs on the
// publishing thread under the engine's writer mutex.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "index/index_batch.h"
#include "segment/segment_set.h"

namespace mds {

[[nodiscard]] inline uint64_t document_key(uint32_t collection, uint32_t docid) noexcept { return uint64_t{collection} << 32 | docid; }

class BatchApplication {
 public:
  BatchApplication(const SegmentSet& set, const std::unordered_set<uint32_t>& dropped, const std::unordered_map<uint64_t, uint64_t>& tombstones, bool rebuilding)
      : set_(set), dropped_(dropped), tombstones_(tombstones), rebuilding_(rebuilding) {}

  // Must be called for each op, in the order of the batch.
  void apply(const IndexOp& op);

  // The upserts that remain at the end of the batch, by (collection, docid).
  [[nodiscard]] std::vector<const IndexOp*> upserts() const;
  // The segments of the snapshot with the new dead documents; segments without a live document are omitted.
  [[nodiscard]] std::vector<SegmentRef> survivors() const;
  [[nodiscard]] const std::unordered_set<uint32_t>& drops() const noexcept { return drops_; }
  [[nodiscard]] const std::vector<std::pair<uint64_t, uint64_t>>& tombstones() const noexcept { return newTombstones_; }

 private:
  // The decision so far for one document of the batch.
  struct Pending {
    const IndexOp* upsert;  // null: deleted
    uint64_t lsn;
  };

  void upsert(const IndexOp& op);
  void remove(const IndexOp& op);
  [[nodiscard]] std::optional<uint64_t> live_lsn(uint32_t collection, uint32_t docid) const noexcept;
  [[nodiscard]] bool is_dropped(uint32_t collection) const;
  // Marks the document's slot in the snapshot as dead, if it is alive there.
  void kill(uint32_t collection, uint32_t docid);

  const SegmentSet& set_;
  const std::unordered_set<uint32_t>& dropped_;
  const std::unordered_map<uint64_t, uint64_t>& tombstones_;
  bool rebuilding_;
  std::unordered_map<uint64_t, Pending> pending_;
  std::vector<std::pair<uint32_t, uint32_t>> kills_;  // (segment index, slot)
  std::unordered_set<uint32_t> drops_;
  std::vector<std::pair<uint64_t, uint64_t>> newTombstones_;
};

}  // namespace mds
