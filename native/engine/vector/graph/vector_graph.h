// An HNSW graph over the slots [0, slots()) of a set, by cosine of their eight-bit codes. usearch builds,
// copies and writes it; this class walks it, twice as fast as usearch's own search (decision 0130). Made by
// one maintenance thread; immutable once it is part of a view, and searched by any number of threads then.
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
  float distance;  // 1 - cosine, by the codes
  uint32_t slot;
};

class VectorGraph {
 public:
  ~VectorGraph();
  VectorGraph(const VectorGraph&) = delete;
  VectorGraph& operator=(const VectorGraph&) = delete;

  // A copy of `before`, or an empty graph, with space for `slots`. Null when memory has run out.
  [[nodiscard]] static std::unique_ptr<VectorGraph> make(const VectorGraph* before, uint32_t slots);
  // Reads the output of `save`; an error where it is not a graph of slots of the view.
  [[nodiscard]] static Result<std::unique_ptr<VectorGraph>> load(Bytes bytes, const SetView& view);
  // Passes its bytes to `write`, some at a time, until that fails.
  [[nodiscard]] Status save(const std::function<Status(Bytes)>& write) const;

  [[nodiscard]] uint32_t slots() const noexcept;
  [[nodiscard]] uint64_t bytes() const noexcept;

  // Adds slots() to `end` of the view. Stops early, with fewer, when `stop` is set. False when memory has run
  // out: then the graph must not be used.
  [[nodiscard]] bool extend(const SetView& view, uint32_t end, const std::atomic<bool>& stop);

  // The `wanted` nearest slots that pass, unordered. False when it has measured `distancesMax` distances
  // before the end, or when `stop` was set.
  [[nodiscard]] bool search(const SlotFilter& filter, const VectorQuery& query, uint32_t wanted, uint64_t distancesMax, std::vector<GraphCandidate>& found,
                            StopSignal& stop) const;

 private:
  struct Nodes;
  explicit VectorGraph(std::unique_ptr<Nodes> nodes) noexcept;
  [[nodiscard]] uint32_t descend(const VectorQuery& query, float weight) const noexcept;

  std::unique_ptr<Nodes> nodes_;
};

}  // namespace mds
