// An index that is trained on the vectors of a set. It finds candidates among the slots of the set. The
// candidates are then scored by their f32 vectors. Immutable once it is part of a view.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/stop_signal.h"
#include "vector/codes/vector_query.h"
#include "vector/set/slot_filter.h"

namespace mds {

struct CandidateCounts {
  size_t rescored;  // number of documents that are scored by their f32 vectors
  size_t rough;     // number of slots that are scored by their eight-bit codes; not used by all kinds
  size_t read;      // minimum number of slots that are read, whether they pass or not; used by inverted lists
};

class TrainedIndex {
 public:
  TrainedIndex() = default;
  virtual ~TrainedIndex() = default;
  TrainedIndex(const TrainedIndex&) = delete;
  TrainedIndex& operator=(const TrainedIndex&) = delete;

  // The index covers the slots [0, slots()) of its view's generation.
  [[nodiscard]] virtual uint32_t slots() const noexcept = 0;
  [[nodiscard]] virtual uint64_t bytes() const noexcept = 0;
  // Finds slots of up to `counts.rescored` documents that pass and are best by the index's codes, unordered.
  // Incomplete if `stop` is set.
  virtual void find(const SetView& view, const SlotFilter& filter, const VectorQuery& query, const CandidateCounts& counts, std::vector<uint32_t>& found,
                    StopSignal& stop) const = 0;
};

// Trains on a sample of the view's live vectors and encodes all its slots. Returns null if `stop` was set
// during the work. Takes seconds. Runs on the graph lane.
[[nodiscard]] std::shared_ptr<const TrainedIndex> train_index(TrainedKind kind, const SetView& view, const std::atomic<bool>& stop);

// The implementations of `train_index`, by kind.
[[nodiscard]] std::shared_ptr<const TrainedIndex> train_inverted_lists(const SetView& view, const std::atomic<bool>& stop);
[[nodiscard]] std::shared_ptr<const TrainedIndex> train_product_codes(const SetView& view, bool isRotated, const std::atomic<bool>& stop);
[[nodiscard]] std::shared_ptr<const TrainedIndex> make_nibble_codes(const SetView& view, const std::atomic<bool>& stop);
[[nodiscard]] std::shared_ptr<const TrainedIndex> train_sign_codes(const SetView& view, const std::atomic<bool>& stop);

}  // namespace mds
