// See engine.h: publication and reading. Merging is in engine_merges.cc.
#include "index/engine.h"

#include <algorithm>
#include <new>

#include "base/limits.h"
#include "index/batch_application.h"
#include "index/meta_keys.h"
#include "index/segment_builder.h"
#include "query/explain/explanation.h"
#include "query/facets/aggregation.h"
#include "query/filter/passing_documents.h"
#include "query/plan/search_plan.h"
#include "query/search.h"

namespace mds {
namespace {

// Bytes per tombstone in the hash map: two words, a link and its bucket.
constexpr uint64_t kTombstoneBytes = 40;

}  // namespace

Engine::Engine() : current_(std::make_shared<const SegmentSet>()) {
  quickLane_ = std::thread([this] { merge_loop(MergeLane::kQuick); });
  try {
    longLane_ = std::thread([this] { merge_loop(MergeLane::kLong); });
  } catch (...) {
    // Thread creation failed: the caller gets an error. Running threads must end before the members that they
    // use are destroyed.
    stop_lanes();
    throw;
  }
}

Engine::~Engine() { stop_lanes(); }

void Engine::stop_lanes() noexcept {
  stop_.store(true);
  wake_lanes();
  {
    // Merging threads also wait for the store's flush.
    const std::lock_guard lock(flushMutex_);
    flushWake_.notify_all();
    flushedMore_.notify_all();
  }
  if (quickLane_.joinable()) quickLane_.join();
  if (longLane_.joinable()) longLane_.join();
  if (flushLane_.joinable()) flushLane_.join();
}

std::shared_ptr<const SegmentSet> Engine::snapshot() const noexcept {
  const std::lock_guard lock(snapshotMutex_);
  return current_;
}

void Engine::swap_snapshot(std::shared_ptr<const SegmentSet> next) {
  // The only allocation comes first: if it fails, nothing has changed.
  std::list<std::shared_ptr<const SegmentSet>> replaced;
  replaced.push_back(std::move(next));
  const std::lock_guard retiredLock(retiredMutex_);
  const std::lock_guard lock(snapshotMutex_);
  current_.swap(replaced.front());
  retired_.splice(retired_.end(), replaced);
}

Status Engine::publish(Bytes bytes) noexcept {
  try {
    const Result<IndexBatch> batch = parse_index_batch(bytes);
    if (!batch.ok()) return batch.status();
    Status published = publish_parsed(batch.value());
    if (!published.ok()) return published;
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
  note_published(bytes.size());
  // The batch is visible even if merging fails.
  wake_lanes();
  if (snapshot()->segments.size() > kSegmentsCrowded) (void)merge_once(MergeLane::kQuick);
  return {};
}

Status Engine::publish_parsed(const IndexBatch& batch) {
  const std::lock_guard lock(writerMutex_);
  const std::shared_ptr<const SegmentSet> before = snapshot();
  BatchApplication application(*before, droppedCollections_, tombstones_, rebuilding_.load(std::memory_order_relaxed));
  for (const IndexOp& op : batch.ops) application.apply(op);

  auto next = std::make_shared<SegmentSet>();
  next->segments = application.survivors();
  next->lsnLast = std::max(before->lsnLast, batch.lsnLast);
  std::vector<const IndexOp*> upserts = application.upserts();
  const auto sealedBegin = std::stable_partition(upserts.begin(), upserts.end(), [this](const IndexOp* op) { return !sealing_->is_sealed(op->collection); });
  for (const std::vector<const IndexOp*>& some : {std::vector(upserts.begin(), sealedBegin), std::vector(sealedBegin, upserts.end())}) {
    if (some.empty()) continue;
    const Result<std::shared_ptr<const Segment>> built = build_segment(some, serialNext_.fetch_add(1));
    if (!built.ok()) return built.status();
    uint64_t lsnFirst = before->lsnLast + 1;
    // A rebuild or a re-index publishes documents of older entries.
    for (const IndexOp* op : some) lsnFirst = std::min(lsnFirst, op->lsn);
    next->segments.push_back({built.value(), nullptr, lsnFirst});
  }

  // From here on nothing but memory allocation can fail. Tombstones are recorded before the swap: if an
  // allocation fails, a delete may be recorded twice, but no document is lost.
  droppedCollections_.insert(application.drops().begin(), application.drops().end());
  for (const auto& [id, lsn] : application.tombstones()) {
    uint64_t& known = tombstones_[id];
    known = std::max(known, lsn);
  }
  tombstoneBytes_.store(tombstones_.size() * kTombstoneBytes, std::memory_order_relaxed);
  swap_snapshot(std::move(next));
  return {};
}

namespace {

// `pollWord`: byte offset in the control buffer, which may be empty.
Result<StopSignal> stop_signal(uint32_t pollWord, std::span<const int32_t> control) {
  if (pollWord == kNoPollWord || control.empty()) return StopSignal(nullptr);
  if (pollWord % sizeof(int32_t) != 0 || pollWord / sizeof(int32_t) >= control.size()) return Status::malformed("poll word outside of the control buffer");
  return StopSignal(&control[pollWord / sizeof(int32_t)]);
}

}  // namespace

Result<std::vector<uint8_t>> Engine::search(Bytes bytes, std::span<const int32_t> control) const noexcept {
  try {
    const Result<SearchPlan> plan = parse_search_plan(bytes);
    if (!plan.ok()) return plan.status();
    const Result<StopSignal> stop = stop_signal(plan.value().pollWord, control);
    if (!stop.ok()) return stop.status();
    return run_search(*snapshot(), plan.value(), stop.value(), &valueOrders_);
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

Result<std::vector<uint32_t>> Engine::passing(Bytes bytes, StopSignal& stop) const noexcept {
  try {
    const Result<SearchPlan> plan = parse_search_plan(bytes);
    if (!plan.ok()) return plan.status();
    return passing_documents(*snapshot(), plan.value(), &valueOrders_, stop);
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

Result<std::string> Engine::aggregate(Bytes bytes, std::span<const int32_t> control) const noexcept {
  try {
    const Result<AggregationRequest> request = parse_aggregation(bytes);
    if (!request.ok()) return request.status();
    const Result<StopSignal> stop = stop_signal(request.value().pollWord, control);
    if (!stop.ok()) return stop.status();
    return aggregation_json(*snapshot(), request.value(), stop.value());
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

Result<std::string> Engine::explain(Bytes bytes, uint32_t docid, std::span<const int32_t> control) const noexcept {
  try {
    const Result<SearchPlan> plan = parse_search_plan(bytes);
    if (!plan.ok()) return plan.status();
    const Result<StopSignal> stop = stop_signal(plan.value().pollWord, control);
    if (!stop.ok()) return stop.status();
    return explanation_json(*snapshot(), plan.value(), docid, stop.value());
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

Result<std::string> Engine::completions(const CompletionRequest& request) const noexcept {
  if (request.prefix.size() > kCompletionPrefixBytesMax) return Status::too_large("completions: prefix too long");
  try {
    return completions_json(*snapshot(), request);
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

Result<std::string> Engine::term_frequencies(const TermFrequenciesRequest& request) const noexcept {
  if (request.terms.size() > kTermFrequenciesMax) return Status::too_large("term frequencies: too many terms");
  try {
    return term_frequencies_json(*snapshot(), request);
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

Result<std::string> Engine::near_terms(const NearTermsRequest& request) const noexcept {
  if (request.word.size() > kNearTermsWordBytesMax) return Status::too_large("near terms: word too long");
  try {
    return near_terms_json(*snapshot(), request);
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

Result<std::string> Engine::meta_keys(uint32_t collection) const noexcept {
  try {
    return meta_keys_json(*snapshot(), collection);
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

Status Engine::reset(bool isRebuild) noexcept {
  try {
    const std::lock_guard lock(writerMutex_);
    swap_snapshot(std::make_shared<const SegmentSet>());
    droppedCollections_.clear();
    tombstones_.clear();
    tombstoneBytes_.store(0, std::memory_order_relaxed);
    if (isRebuild) rebuilding_.store(true, std::memory_order_relaxed);
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
  wake_lanes();
  return {};
}

Status Engine::begin_rebuild() noexcept { return reset(true); }

Status Engine::drop_all() noexcept { return reset(false); }

void Engine::end_rebuild() noexcept {
  {
    const std::lock_guard lock(writerMutex_);
    std::unordered_map<uint64_t, uint64_t>().swap(tombstones_);
    tombstoneBytes_.store(0, std::memory_order_relaxed);
    rebuilding_.store(false, std::memory_order_relaxed);
  }
  // Until a manifest with a checkpoint is written again, the next start would rebuild.
  want_flush();
}

EngineStats Engine::stats() const noexcept {
  const std::shared_ptr<const SegmentSet> set = snapshot();
  EngineStats stats{};
  stats.segments = static_cast<uint32_t>(set->segments.size());
  for (const SegmentRef& ref : set->segments) {
    stats.documents += ref.live_count();
    stats.deadDocuments += ref.segment->slot_count() - ref.live_count();
    stats.terms += ref.segment->term_count();
    stats.memoryBytes += ref.segment->memory_bytes() + (ref.live == nullptr ? 0 : ref.live->memory_bytes());
  }
  stats.memoryBytes += tombstoneBytes_.load(std::memory_order_relaxed) + valueOrders_.bytes();
  stats.merges = merges_.load(std::memory_order_relaxed);
  stats.lsnLast = set->lsnLast;
  stats.rebuilding = rebuilding_.load(std::memory_order_relaxed);
  for (const SegmentRef& ref : set->segments) {
    if (!ref.segment->is_stored()) continue;
    ++stats.storedSegments;
    stats.storedBytes += ref.segment->column_bytes();
  }
  if (has_store()) {
    const IndexEnv::Size size = store_->size();
    stats.indexFileBytes = size.fileBytes;
    stats.indexLiveBytes = size.liveBytes;
  }
  stats.checkpoint = checkpoint_.load(std::memory_order_relaxed);
  stats.unflushedBytes = unflushedBytes_.load(std::memory_order_relaxed);
  stats.flushes = flushes_.load(std::memory_order_relaxed);
  stats.storageFailures = storageFailures_.load(std::memory_order_relaxed);
  return stats;
}

}  // namespace mds
