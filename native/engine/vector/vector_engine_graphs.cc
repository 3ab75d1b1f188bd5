// See vector_engine.h. The graph lane: extends graphs, trains indexes, and rewrites sets with many dead
// slots. It processes the sets in turn, one piece of work at a time.
#include <algorithm>

#include "vector/graph/vector_graph.h"
#include "vector/set/set_changes.h"
#include "vector/trained/trained_index.h"
#include "vector/vector_engine.h"

namespace mds {
namespace {

bool has_many_dead(const SetView& view) noexcept {
  const uint32_t dead = view.slots - view.liveSlots;
  return dead > 0 && (view.liveSlots == 0 || (dead >= kDeadSlotsMin && dead > view.slots / kDeadSlotsShareDivisor));
}

// Copies the live documents in the slots [begin, end) of the view to `change`.
void copy_documents(const SetView& view, uint32_t begin, uint32_t end, SetChange& change) {
  std::vector<float> vectors;
  for (uint32_t slot = begin; slot < end;) {
    // A live document has all its chunks. A dead document may lack some.
    if (!view.is_live(slot)) {
      slot += 1;
      continue;
    }
    const SlotIdentity& first = view.identity(slot);
    vectors.clear();
    for (uint32_t chunk = 0; chunk < first.chunks; ++chunk) vectors.insert(vectors.end(), view.full(slot + chunk), view.full(slot + chunk) + view.dims);
    // The copy always fits, because the set was at least as large before.
    (void)change.put(first.docid, first.lsn, first.chunks, {reinterpret_cast<const uint8_t*>(vectors.data()), vectors.size() * sizeof(float)});
    slot += first.chunks;
  }
}

}  // namespace

bool VectorEngine::is_current(const std::shared_ptr<VectorSet>& set) const { return find_set(set->collection(), set->dims()) == set; }

bool VectorEngine::publish_made(const std::shared_ptr<VectorSet>& set, uint32_t generation, const std::function<void(SetView&)>& change) {
  const std::lock_guard lock(writerMutex_);
  const std::shared_ptr<const SetView> view = set->view();
  if (view->generation != generation || !is_current(set)) return false;
  auto next = std::make_shared<SetView>(*view);
  change(*next);
  set->publish(std::move(next));
  return true;
}

LaneStep VectorEngine::step_graphs(bool isResting) {
  bool isFailed = false;
  for (const std::shared_ptr<VectorSet>& set : all_sets()) {
    for (const LaneStep step : {compact(set), extend_graph(set, isResting), train(set)}) {
      if (step == LaneStep::kDone) return step;
      isFailed = isFailed || step == LaneStep::kFailed;
    }
  }
  return isFailed ? LaneStep::kFailed : LaneStep::kNothing;
}

LaneStep VectorEngine::extend_graph(const std::shared_ptr<VectorSet>& set, bool isResting) {
  const std::shared_ptr<const SetView> view = set->view();
  const uint32_t known = view->graph == nullptr ? 0 : view->graph->slots();
  const uint32_t tail = view->slots - known;
  const uint32_t due = isResting ? kGraphRestTail : std::max(kGraphTailMin, view->slots / kGraphTailShareDivisor);
  if (view->slots < kGraphSlotsMin || tail < due) return LaneStep::kNothing;
  // The graph grows in slices, so that searches can use it before the last slot is added.
  const uint32_t end = std::min(view->slots, known + std::max(kGraphSliceMin, known / kGraphSliceShareDivisor));
  std::shared_ptr<VectorGraph> graph = VectorGraph::make(view->graph.get(), end);
  if (graph == nullptr || !graph->extend(*view, end, graphLane_.is_stopping())) return LaneStep::kFailed;
  if (graphLane_.is_stopping()) return LaneStep::kNothing;
  if (publish_made(set, view->generation, [&graph](SetView& next) { next.graph = graph; })) (void)storeLane_.wake();
  return LaneStep::kDone;
}

LaneStep VectorEngine::train(const std::shared_ptr<VectorSet>& set) {
  const std::shared_ptr<const SetView> view = set->view();
  if (view->slots < kTrainedSlotsMin) return LaneStep::kNothing;
  for (uint32_t index = 0; index < kTrainedKinds; ++index) {
    const auto kind = static_cast<TrainedKind>(index);
    const TrainedIndex* present = view->trained[index].get();
    const bool isGrown = present != nullptr && view->slots - present->slots() >= std::max(kTrainedGrowthMin, present->slots() / kTrainedGrowthDivisor);
    if (!set->wants(kind) || (present != nullptr && !isGrown)) continue;
    const std::shared_ptr<const TrainedIndex> trained = train_index(kind, *view, graphLane_.is_stopping());
    if (trained == nullptr) return LaneStep::kNothing;
    (void)publish_made(set, view->generation, [&](SetView& next) { next.trained[index] = trained; });
    return LaneStep::kDone;
  }
  return LaneStep::kNothing;
}

LaneStep VectorEngine::compact(const std::shared_ptr<VectorSet>& set) {
  const std::shared_ptr<const SetView> view = set->view();
  if (!has_many_dead(*view)) return LaneStep::kNothing;
  VectorSet fresh(set->collection(), set->dims());
  {
    SetChange copied(fresh);
    copy_documents(*view, 0, view->slots, copied);
    copied.publish();
  }
  {
    const std::lock_guard lock(writerMutex_);
    const std::shared_ptr<const SetView> now = set->view();
    if (now->generation != view->generation || !is_current(set)) return LaneStep::kDone;
    // Applies the deletes and additions made since the copy began.
    SetChange change(fresh);
    for (uint32_t slot = 0; slot < view->slots; ++slot) {
      if (view->is_live(slot) && !now->is_live(slot)) change.remove(view->identity(slot).docid);
    }
    copy_documents(*now, view->slots, now->slots, change);
    change.view().generation = now->generation + 1;
    set->documents().swap(fresh.documents());
    set->publish(change.finish());
  }
  (void)storeLane_.wake();
  return LaneStep::kDone;
}

}  // namespace mds
