// See vector_graph.h. Keys and slots of the usearch index equal the slots of the set, because nodes are added
// in slot order.
#include "vector/graph/vector_graph.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <usearch/index.hpp>
#include <usearch/index_plugins.hpp>

#include "vector/graph/code_table.h"
#include "vector/graph/graph_check.h"

namespace mds {
namespace {

namespace us = unum::usearch;
// Nodes are stored in arenas that double in size, not in separate allocations.
using Index = us::index_gt<float, uint32_t, uint32_t, us::aligned_allocator_gt<us::byte_t, 64>, us::memory_mapping_allocator_gt<8>>;

struct Probe {
  const int8_t* codes;
  float weight;
};

// A metric in the form that usearch requires: between a query and a member, and between two members.
struct CodeMetric {
  const CodeTable* table;

  float operator()(const Probe& probe, const Index::member_citerator_t& member) const noexcept { return table->distance(probe.codes, probe.weight, get_slot(member)); }
  float operator()(const Probe& probe, const Index::member_cref_t& member) const noexcept { return table->distance(probe.codes, probe.weight, member.slot); }
  float operator()(const Index::member_citerator_t& a, const Index::member_citerator_t& b) const noexcept {
    return table->distance(table->codes(get_slot(a)), table->weight(get_slot(a)), get_slot(b));
  }
};

struct CodePrefetch {
  const CodeTable* table;

  template <class Begin, class End>
  void operator()(Begin begin, End end) const noexcept {
    // NOLINTNEXTLINE(clang-diagnostic-ambiguous-reversed-operator): usearch's iterators compare so
    for (; begin != end; ++begin) table->prefetch(get_slot(begin));
  }
};

// usearch throws if an error is not released from its result.
template <class Outcome>
bool is_good(Outcome& outcome) noexcept {
  return outcome.error.release() == nullptr;
}

bool is_farther(const GraphCandidate& a, const GraphCandidate& b) noexcept { return a.distance > b.distance; }
bool is_nearer(const GraphCandidate& a, const GraphCandidate& b) noexcept { return a.distance < b.distance; }

// Memory of a search. The thread keeps it for its next search.
struct Scratch {
  std::vector<uint64_t> visited;         // one bit per slot
  std::vector<GraphCandidate> frontier;  // heap with the nearest candidate on top
  std::vector<GraphCandidate> nearest;   // heap with the farthest candidate on top

  void begin(size_t slots) {
    visited.assign((slots + 63) / 64, 0);
    frontier.clear();
    nearest.clear();
  }
  void end() noexcept {
    if (visited.capacity() * sizeof(uint64_t) > kGraphScratchBytesMax) visited = {};
    if (frontier.capacity() * sizeof(GraphCandidate) > kGraphScratchBytesMax) frontier = {};
  }
  // Returns true on the first visit.
  [[nodiscard]] bool visit(uint32_t slot) noexcept {
    uint64_t& word = visited[slot / 64];
    const uint64_t bit = uint64_t{1} << (slot % 64);
    const bool isNew = (word & bit) == 0;
    word |= bit;
    return isNew;
  }
};

constexpr uint32_t kNeighboursMax = 2 * kGraphConnectivity;
constexpr size_t kBaseRow = kNeighboursMax + 1;  // the number of neighbours, followed by the neighbours

}  // namespace

struct VectorGraph::Nodes {
  Index index;
  CodeTable table;
  uint32_t entry = 0;
  // The neighbours of each base-level node, row by row. usearch stores them behind one pointer per node, and
  // a search would wait for each of these loads.
  std::vector<uint32_t> base;

  explicit Nodes(Index from) : index(std::move(from)) {}

  // The search starts where usearch's own search starts: at the first node of the highest level.
  void finish(CodeTable from) {
    table = std::move(from);
    base.assign(index.size() * kBaseRow, 0);
    for (uint32_t slot = 0; slot < index.size(); ++slot) {
      uint32_t* row = base.data() + slot * kBaseRow;
      const auto neighbours = index.neighbors(slot, 0);
      for (auto at = neighbours.begin(); at != neighbours.end() && row[0] < kNeighboursMax; ++at) row[++row[0]] = at.slot();
    }
    for (uint32_t slot = 0; slot < index.size(); ++slot) {
      if (index.level_of(slot) <= index.level_of(entry)) continue;
      entry = slot;
      if (index.level_of(entry) == index.max_level()) break;
    }
  }
};

VectorGraph::VectorGraph(std::unique_ptr<Nodes> nodes) noexcept : nodes_(std::move(nodes)) {}
VectorGraph::~VectorGraph() = default;

std::unique_ptr<VectorGraph> VectorGraph::make(const VectorGraph* before, uint32_t slots) {
  auto made = before != nullptr ? before->nodes_->index.copy() : Index::make(us::index_config_t(kGraphConnectivity, kNeighboursMax));
  if (!is_good(made) || !made.index.try_reserve(us::index_limits_t(slots, 1))) return nullptr;
  return std::unique_ptr<VectorGraph>(new VectorGraph(std::make_unique<Nodes>(std::move(made.index))));
}

uint32_t VectorGraph::slots() const noexcept { return static_cast<uint32_t>(nodes_->index.size()); }

uint64_t VectorGraph::bytes() const noexcept {
  return nodes_->index.stats().allocated_bytes + nodes_->index.capacity() * sizeof(void*) + nodes_->base.size() * sizeof(uint32_t);
}

bool VectorGraph::extend(const SetView& view, uint32_t end, const std::atomic<bool>& stop) {
  CodeTable table(view);
  us::index_update_config_t config;
  config.expansion = kGraphExpansionAdd;
  for (uint32_t slot = slots(); slot < end && !stop.load(std::memory_order_relaxed); ++slot) {
    const Probe probe{table.codes(slot), table.weight(slot)};
    auto added = nodes_->index.add(slot, probe, CodeMetric{&table}, config, us::dummy_callback_t{}, CodePrefetch{&table});
    if (!is_good(added)) return false;
  }
  nodes_->finish(std::move(table));
  return true;
}

// Descends greedily through the levels above the base level.
uint32_t VectorGraph::descend(const VectorQuery& query, float weight) const noexcept {
  const Index& index = nodes_->index;
  const CodeTable& table = nodes_->table;
  uint32_t nearest = nodes_->entry;
  float distance = table.distance(query.codes(), weight, nearest);
  for (size_t level = index.level_of(nearest); level > 0; --level) {
    for (bool isChanged = true; isChanged;) {
      isChanged = false;
      const auto neighbours = index.neighbors(nearest, level);
      for (auto at = neighbours.begin(); at != neighbours.end(); ++at) {
        const float other = table.distance(query.codes(), weight, at.slot());
        if (other >= distance) continue;
        distance = other;
        nearest = at.slot();
        isChanged = true;
      }
    }
  }
  return nearest;
}

bool VectorGraph::search(const SlotFilter& filter, const VectorQuery& query, uint32_t wanted, uint64_t distancesMax, std::vector<GraphCandidate>& found,
                         StopSignal& stop) const {
  thread_local Scratch scratch;
  const uint32_t* base = nodes_->base.data();
  const CodeTable& table = nodes_->table;
  const VectorKernels& kernels = vector_kernels();
  const float weight = code_weight(query.coded());
  std::array<uint32_t, kNeighboursMax> slots{};
  std::array<const int8_t*, kNeighboursMax> rows{};
  std::array<int32_t, kNeighboursMax> dots{};
  scratch.begin(this->slots());
  uint64_t measured = 0;
  const auto prefetch_row = [](const uint32_t* row) {
    for (size_t at = 0; at < kBaseRow; at += 16) __builtin_prefetch(row + at);
  };
  const auto meet = [&](GraphCandidate met) {
    if (scratch.nearest.size() >= wanted && met.distance >= scratch.nearest.front().distance) return;
    scratch.frontier.push_back(met);
    std::push_heap(scratch.frontier.begin(), scratch.frontier.end(), is_farther);
    if (scratch.frontier.front().slot == met.slot) prefetch_row(base + met.slot * kBaseRow);
    if (!filter.passes(met.slot)) return;
    scratch.nearest.push_back(met);
    std::push_heap(scratch.nearest.begin(), scratch.nearest.end(), is_nearer);
    if (scratch.nearest.size() <= wanted) return;
    std::pop_heap(scratch.nearest.begin(), scratch.nearest.end(), is_nearer);
    scratch.nearest.pop_back();
  };
  const uint32_t first = descend(query, weight);
  (void)scratch.visit(first);
  meet({table.distance(query.codes(), weight, first), first});
  while (!scratch.frontier.empty() && measured <= distancesMax && !stop.after(1)) {
    const GraphCandidate next = scratch.frontier.front();
    if (scratch.nearest.size() >= wanted && next.distance > scratch.nearest.front().distance) break;
    std::pop_heap(scratch.frontier.begin(), scratch.frontier.end(), is_farther);
    scratch.frontier.pop_back();
    const uint32_t* neighbours = base + next.slot * kBaseRow;
    uint32_t count = 0;
    for (uint32_t at = 1; at <= neighbours[0]; ++at) {
      const uint32_t slot = neighbours[at];
      if (!scratch.visit(slot)) continue;
      table.prefetch(slot);
      rows[count] = table.codes(slot);
      slots[count++] = slot;
    }
    // Prefetches the neighbours of the most likely next node while distances are computed.
    if (!scratch.frontier.empty()) prefetch_row(base + scratch.frontier.front().slot * kBaseRow);
    kernels.dot_i8_list(query.codes(), rows.data(), table.dims(), count, dots.data());
    for (uint32_t at = 0; at < count; ++at) meet({1.0F - static_cast<float>(dots[at]) * weight * table.weight(slots[at]), slots[at]});
    measured += count;
  }
  found = scratch.nearest;
  scratch.end();
  return measured <= distancesMax && !stop.stopped();
}

Status VectorGraph::save(const std::function<Status(Bytes)>& write) const {
  Status status;
  auto saved = nodes_->index.save_to_stream([&](const void* data, size_t size) {
    status = write({static_cast<const uint8_t*>(data), size});
    return status.ok();
  });
  if (!is_good(saved) && status.ok()) return Status::out_of_memory();
  return status;
}

Result<std::unique_ptr<VectorGraph>> VectorGraph::load(Bytes bytes, const SetView& view) {
  if (!is_sound_graph(bytes, view.slots)) return Status::corrupt("vector graph: not one of slots of the set");
  us::index_serialized_header_t header;
  std::memcpy(&header, bytes.data(), sizeof header);
  auto made = Index::make(us::index_config_t(kGraphConnectivity, kNeighboursMax));
  if (!is_good(made) || !made.index.try_reserve(us::index_limits_t(header.size, 1))) return Status::out_of_memory();
  ByteReader reader(bytes);
  auto loaded = made.index.load_from_stream([&reader](void* data, size_t size) {
    const Bytes taken = reader.take(size);
    if (!reader.ok()) return false;
    std::memcpy(data, taken.data(), size);
    return true;
  });
  if (!is_good(loaded) || reader.remaining() != 0) return Status::corrupt("vector graph: not as long as its header says");
  std::unique_ptr<VectorGraph> graph(new VectorGraph(std::make_unique<Nodes>(std::move(made.index))));
  graph->nodes_->finish(CodeTable(view));
  return graph;
}

}  // namespace mds
