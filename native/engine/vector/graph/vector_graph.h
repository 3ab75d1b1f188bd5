// An HNSW graph over the slots [0, slots()) of a set, by the cosine of their eight-bit codes. usearch builds,
// copies and serializes the graph. This class traverses it, twice as fast as usearch's own search (decision
// 0130). Built by one maintenance thread. Immutable once it is part of a view; then any number of threads may
// search it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "base/stop_signal.h"
#include "vector/codes/vector_query.h"
#include "vector/set/slot_filter.h"

namespace mds {

struct GraphCandidate {
  float distance;  // 1 - cosine, computed from the codes
  uint32_t slot;
};

class VectorGraph {
 public:
  ~VectorGraph();
  VectorGraph(const VectorGraph&) = delete;
  VectorGraph& operator=(const VectorGraph&) = delete;

  // Returns a copy of `before`, or an empty graph, with capacity for `slots`. Returns null if memory is
  // exhausted.
  [[nodiscard]] static std::unique_ptr<VectorGraph> make(const VectorGraph* before, uint32_t slots);
  // Reads the output of `save`. Returns an error if it is not a graph of slots of the view.
  [[nodiscard]] static Result<std::unique_ptr<VectorGraph>> load(Bytes bytes, const SetView& view);
  // Passes the serialized bytes to `write` in pieces until `write` fails.
  [[nodiscard]] Status save(const std::function<Status(Bytes)>& write) const;

  [[nodiscard]] uint32_t slots() const noexcept;
  [[nodiscard]] uint64_t bytes() const noexcept;

  // Adds the slots [slots(), end) of the view. Stops early, with fewer slots, if `stop` is set. Returns false
  // if memory is exhausted; the graph must not be used then.
  [[nodiscard]] bool extend(const SetView& view, uint32_t end, const std::atomic<bool>& stop);

  // Finds the `wanted` nearest slots that pass, unordered. Returns false if `distancesMax` distances were
  // computed before the search ended, or if `stop` was set.
  [[nodiscard]] bool search(const SlotFilter& filter, const VectorQuery& query, uint32_t wanted, uint64_t distancesMax, std::vector<GraphCandidate>& found,
                            StopSignal& stop) const;

 private:
  struct Nodes;
  explicit VectorGraph(std::unique_ptr<Nodes> nodes) noexcept;
  [[nodiscard]] uint32_t descend(const VectorQuery& query, float weight) const noexcept;

  std::unique_ptr<Nodes> nodes_;
};

}  // namespace mds
