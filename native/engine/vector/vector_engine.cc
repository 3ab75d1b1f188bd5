// See vector_engine.h.
#include "vector/vector_engine.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "vector/graph/similar_groups.h"
#include "vector/graph/vector_graph.h"
#include "vector/search/vector_search.h"
#include "vector/set/set_changes.h"
#include "vector/set/stamp_rows.h"
#include "vector/trained/trained_index.h"

namespace mds {
namespace {

constexpr uint32_t kHitsMagic = 0x3148564D;     // "MVH1"
constexpr uint32_t kSimilarMagic = 0x3153564D;  // "MVS1"
constexpr size_t kVectorHitsHeaderBytes = 16;
constexpr size_t kSimilarBytes = 24;
constexpr size_t kHitBytes = 24;
constexpr uint32_t kStatusStopped = 1;
constexpr uint32_t kStatusExact = 2;

template <class Value>
void store(uint8_t* at, Value value) noexcept {
  std::memcpy(at, &value, sizeof value);
}

std::vector<uint8_t> similar_record(const SimilarGroups& found) {
  std::vector<uint8_t> record(kVectorHitsHeaderBytes + found.documents.size() * kSimilarBytes);
  store(record.data(), kSimilarMagic);
  store(record.data() + 4, static_cast<uint32_t>(found.documents.size()));
  store(record.data() + 8, found.isComplete ? 0 : kStatusStopped);
  store(record.data() + 12, found.looked);
  uint8_t* at = record.data() + kVectorHitsHeaderBytes;
  for (const SimilarDocument& document : found.documents) {
    store(at, document.docid);
    store(at + 4, document.group);
    store(at + 8, document.score);
    store(at + 16, document.groupScore);
    at += kSimilarBytes;
  }
  return record;
}

std::vector<uint8_t> hits_record(const SetView& view, const VectorHits& answer) {
  std::vector<uint8_t> record(kVectorHitsHeaderBytes + answer.hits.size() * kHitBytes);
  store(record.data(), kHitsMagic);
  store(record.data() + 4, static_cast<uint32_t>(answer.hits.size()));
  store(record.data() + 8, (answer.isComplete ? 0 : kStatusStopped) | (answer.isExact ? kStatusExact : 0));
  store(record.data() + 12, view.documents);
  uint8_t* at = record.data() + kVectorHitsHeaderBytes;
  for (const VectorCandidate& hit : answer.hits) {
    const SlotIdentity& identity = view.identity(hit.slot);
    store(at, identity.docid);
    store(at + 4, uint32_t{identity.chunk});
    store(at + 8, identity.lsn);
    store(at + 16, hit.score);
    at += kHitBytes;
  }
  return record;
}

VectorSetStats stats_of(const VectorSet& set) {
  const std::shared_ptr<const SetView> view = set.view();
  VectorSetStats stats{set.collection(), set.dims(), view->documents, view->liveSlots, view->slots - view->liveSlots, 0, 0, 0, 0, 0};
  const uint64_t codeBytes = code_stride(view->dims) + sizeof(CodedVector) + sizeof(float) + sizeof(SlotIdentity) + sizeof(const float*);
  const uint64_t fullBytes = uint64_t{view->dims} * sizeof(float);
  for (const BlockRef& block : view->blocks) {
    stats.memoryBytes += block.codes->capacity() * codeBytes + sizeof(BlockBits);
    (block.full->is_mapped() ? stats.mappedBytes : stats.memoryBytes) += block.codes->capacity() * fullBytes;
  }
  if (view->graph != nullptr) {
    stats.graphSlots = view->graph->slots();
    stats.graphBytes = view->graph->bytes();
  }
  for (size_t kind = 0; kind < kTrainedKinds; ++kind) {
    if (view->trained[kind] != nullptr) stats.trainedBytes += view->trained[kind]->bytes();
  }
  return stats;
}

}  // namespace

VectorEngine::VectorEngine() = default;
VectorEngine::~VectorEngine() {
  graphLane_.stop();
  storeLane_.stop();
}

void VectorEngine::wake() noexcept {
  // Without threads there are no graphs and no files. Search results stay correct.
  (void)graphLane_.wake();
  (void)storeLane_.wake();
}

void VectorEngine::settle() noexcept {
  // The graph lane settles first: a compacted set is stored again, and so is a graph that has grown.
  graphLane_.settle();
  storeLane_.settle();
}

std::vector<std::shared_ptr<VectorSet>> VectorEngine::all_sets() const {
  const std::shared_lock lock(setsMutex_);
  std::vector<std::shared_ptr<VectorSet>> sets;
  sets.reserve(sets_.size());
  for (const auto& [key, set] : sets_) sets.push_back(set);
  return sets;
}

std::shared_ptr<VectorSet> VectorEngine::find_set(uint32_t collection, uint32_t dims) const {
  const std::shared_lock lock(setsMutex_);
  const auto found = sets_.find({collection, dims});
  return found == sets_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<VectorSet>> VectorEngine::sets_of(uint32_t collection) const {
  const std::shared_lock lock(setsMutex_);
  std::vector<std::shared_ptr<VectorSet>> sets;
  for (auto at = sets_.lower_bound({collection, 0}); at != sets_.end() && at->first.first == collection; ++at) sets.push_back(at->second);
  return sets;
}

std::shared_ptr<VectorSet> VectorEngine::make_set(uint32_t collection, uint32_t dims) {
  const std::unique_lock lock(setsMutex_);
  std::shared_ptr<VectorSet>& set = sets_[{collection, dims}];
  if (set == nullptr) set = std::make_shared<VectorSet>(collection, dims);
  return set;
}

void VectorEngine::drop_collection(uint32_t collection) {
  // Destroyed after the lock is released, because that frees the blocks.
  std::vector<std::shared_ptr<VectorSet>> dropped;
  const std::unique_lock lock(setsMutex_);
  for (auto at = sets_.lower_bound({collection, 0}); at != sets_.end() && at->first.first == collection;) {
    dropped.push_back(at->second);
    at = sets_.erase(at);
  }
}

Status VectorEngine::apply(Bytes bytes) noexcept {
  try {
    const Result<std::vector<VectorOp>> ops = parse_vector_batch(bytes);
    if (!ops.ok()) return ops.status();
    Status applied;
    {
      const std::lock_guard lock(writerMutex_);
      applied = apply_ops(ops.value());
    }
    wake();
    return applied;
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

Status VectorEngine::apply_ops(std::span<const VectorOp> ops) {
  bool fits = true;
  SetChanges changes;
  for (const VectorOp& op : ops) {
    if (op.kind == VectorOpKind::kDrop) {
      changes.publish();
      drop_collection(op.collection);
      continue;
    }
    // If the number of dimensions of a document has changed, the document is removed from the old set.
    bool isNewest = true;
    for (const std::shared_ptr<VectorSet>& set : sets_of(op.collection)) {
      const DocumentSlots* known = set->find(op.docid);
      if (known == nullptr) continue;
      // After a start vectors are added again. An equal LSN then means that the version is already stored.
      if (known->lsn > op.lsn || (known->lsn == op.lsn && op.kind == VectorOpKind::kSet && set->dims() == op.dims)) {
        isNewest = false;
      } else {
        changes.of(set).remove(op.docid);
      }
    }
    if (op.kind == VectorOpKind::kRemove || !isNewest) continue;
    if (!changes.of(make_set(op.collection, op.dims)).put(op.docid, op.lsn, op.chunks, op.vectors)) fits = false;
  }
  changes.publish();
  return fits ? Status() : Status::too_large("vector set: no more slots");
}

Result<std::vector<uint32_t>> VectorEngine::compare(Bytes bytes) noexcept {
  try {
    const Result<StampRows> stamps = StampRows::parse(bytes);
    if (!stamps.ok()) return stamps.status();
    const std::lock_guard lock(writerMutex_);
    for (const std::shared_ptr<VectorSet>& set : all_sets()) {
      std::vector<uint32_t> foreign;
      for (const auto& [docid, slots] : set->documents()) {
        const Stamp* stamp = stamps.value().find(set->collection(), docid);
        if (stamp == nullptr || stamp->lsn != slots.lsn || stamp->dims != set->dims()) foreign.push_back(docid);
      }
      if (foreign.empty()) continue;
      SetChange change(*set);
      for (const uint32_t docid : foreign) change.remove(docid);
      change.publish();
    }
    std::vector<uint32_t> missing;
    std::shared_ptr<VectorSet> set;
    for (const Stamp& stamp : stamps.value().rows()) {
      if (set == nullptr || set->collection() != stamp.collection || set->dims() != stamp.dims) set = find_set(stamp.collection, stamp.dims);
      if (set == nullptr || set->find(stamp.docid) == nullptr) missing.insert(missing.end(), {stamp.collection, stamp.docid});
    }
    wake();
    return missing;
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

Result<std::vector<uint8_t>> VectorEngine::search(const VectorSearchRequest& request, const std::vector<uint32_t>* documents, StopSignal stop) noexcept {
  try {
    const std::shared_ptr<VectorSet> set = find_set(request.collection, static_cast<uint32_t>(request.vector.size()));
    if (set == nullptr) return hits_record(SetView(), {{}, true, true, {}});
    const std::shared_ptr<const SetView> view = set->view();
    const ScanHelpers::Searching searching(scanHelpers_);
    const VectorHits answer = search_vectors(*view, request, documents, scanHelpers_, stop);
    if (answer.wanted && set->want(*answer.wanted)) (void)graphLane_.wake();
    return hits_record(*view, answer);
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

Result<std::vector<uint8_t>> VectorEngine::similar(uint32_t collection, uint32_t dims, double threshold, uint32_t docidMax, StopSignal stop) const noexcept {
  if (!(threshold >= -1 && threshold <= 1)) return Status::malformed("similar documents: threshold out of range");
  try {
    const std::shared_ptr<VectorSet> set = find_set(collection, dims);
    return similar_record(set == nullptr ? SimilarGroups() : similar_groups(*set->view(), threshold, docidMax, stop));
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

std::vector<VectorSetStats> VectorEngine::stats() const {
  std::vector<VectorSetStats> stats;
  const std::shared_lock lock(setsMutex_);
  for (const auto& [key, set] : sets_) stats.push_back(stats_of(*set));
  return stats;
}

}  // namespace mds
