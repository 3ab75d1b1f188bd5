// The merging part of the engine (see engine.h): two threads, one per lane, and forced merges on the caller's
// thread. A merge claims its sources under the writer mutex, runs without it, and commits under it.
#include <algorithm>
#include <chrono>
#include <new>

#include "base/limits.h"
#include "index/engine.h"
#include "index/segment_merger.h"

#ifdef __linux__
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace mds {
namespace {

// Long merges yield to searches: on Linux, the nice value is per thread. Best effort.
void lower_priority() noexcept {
#ifdef __linux__
  constexpr int kNice = 10;
  (void)setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kNice);
#endif
}

uint64_t live_bytes(const SegmentRef& ref) noexcept { return ref.segment->column_bytes() / ref.segment->slot_count() * ref.live_count(); }

const SegmentRef* find_serial(const SegmentSet& set, uint64_t serial) noexcept {
  const auto found = std::find_if(set.segments.begin(), set.segments.end(), [serial](const SegmentRef& ref) { return ref.segment->serial() == serial; });
  return found == set.segments.end() ? nullptr : &*found;
}

// Returns the slots of the merged segment whose documents died in their source since the merge began. If a
// source has left the set meanwhile, all of its documents are dead.
std::vector<uint32_t> killed_meanwhile(const SegmentRef& source, const SegmentRef* now, const std::vector<uint32_t>& slotMap) {
  std::vector<uint32_t> killed;
  if (now != nullptr && now->live == source.live) return killed;
  for (uint32_t slot = 0; slot < slotMap.size(); ++slot) {
    if (slotMap[slot] != kEndOfList && (now == nullptr || !now->alive(slot))) killed.push_back(slotMap[slot]);
  }
  return killed;
}

}  // namespace

void Engine::wake_lanes() noexcept {
  {
    const std::lock_guard lock(wakeMutex_);
    ++wakeCount_;
  }
  wake_.notify_all();
}

void Engine::merge_loop(MergeLane lane) noexcept {
  if (lane == MergeLane::kLong) lower_priority();
  uint64_t seen = 0;
  bool isRetiredLeft = false;
  while (!stop_.load()) {
    {
      std::unique_lock lock(wakeMutex_);
      const auto isWoken = [&] { return stop_.load() || wakeCount_ != seen; };
      if (isRetiredLeft) {
        wake_.wait_for(lock, std::chrono::milliseconds(kRetiredPollMs), isWoken);
      } else {
        wake_.wait(lock, isWoken);
      }
      seen = wakeCount_;
    }
    // The sources of a failed merge are left until the lane is woken again.
    while (merge_once(lane)) {
      if (lane == MergeLane::kQuick) (void)sweep_retired();
    }
    isRetiredLeft = lane == MergeLane::kQuick && sweep_retired();
  }
}

bool Engine::sweep_retired() noexcept {
  std::list<std::shared_ptr<const SegmentSet>> droppable;
  const std::lock_guard lock(retiredMutex_);
  for (auto next = retired_.begin(); next != retired_.end();) {
    const auto set = next++;
    // New readers cannot obtain a retired set, so its use count only decreases. 1 means that only this list
    // refers to it.
    if (set->use_count() == 1) droppable.splice(droppable.end(), retired_, set);
  }
  return !retired_.empty();
}

std::vector<SegmentRef> Engine::claim_merge(MergeLane lane) {
  const std::lock_guard lock(writerMutex_);
  const std::shared_ptr<const SegmentSet> set = snapshot();
  if (forcedWaiting_ > 0 && set->segments.size() <= kSegmentsCrowded) return {};
  std::vector<SegmentRef> sources;
  if (lane == MergeLane::kLong && has_store()) sources = pick_sealed_otherwise(*set);
  for (const bool isSealed : {false, true}) {
    if (sources.empty()) sources = pick_among(*set, lane, isSealed);
  }
  claim_locked(sources);
  return sources;
}

std::vector<SegmentRef> Engine::pick_sealed_otherwise(const SegmentSet& set) const {
  for (const SegmentRef& ref : set.segments) {
    if (ref.segment->is_stored() && !merging_.contains(ref.segment->serial()) && store_->is_sealed_otherwise(*ref.segment)) return {ref};
  }
  return {};
}

std::vector<SegmentRef> Engine::pick_among(const SegmentSet& set, MergeLane lane, bool isSealed) const {
  std::vector<MergeCandidate> candidates;
  for (uint32_t index = 0; index < set.segments.size(); ++index) {
    const SegmentRef& ref = set.segments[index];
    if (merging_.contains(ref.segment->serial()) || sealing_->is_sealed(*ref.segment) != isSealed) continue;
    // With a store, the quick lane merges only segments in memory (the flush merges the large ones), and the
    // long lane merges only stored ones.
    // Without a store, stored segments are read-only and are not merged.
    if (has_store() ? ref.segment->is_stored() != (lane == MergeLane::kLong) : ref.segment->is_stored()) continue;
    const uint32_t documents = ref.segment->slot_count();
    candidates.push_back({index, live_bytes(ref), documents, documents - ref.live_count()});
  }
  std::vector<SegmentRef> sources;
  std::vector<uint32_t> picked = pick_merge(candidates, lane);
  if (picked.empty() && lane == MergeLane::kLong && has_store()) picked = pick_merge(candidates, MergeLane::kQuick);
  if (picked.empty() && lane == MergeLane::kLong && isResting_.load(std::memory_order_relaxed)) picked = pick_resting_merge(candidates);
  sources.reserve(picked.size());
  for (const uint32_t index : picked) sources.push_back(set.segments[index]);
  return sources;
}

std::vector<SegmentRef> Engine::claim_all(bool isSealed) {
  std::unique_lock lock(writerMutex_);
  ++forcedWaiting_;
  mergeEnded_.wait(lock, [this] { return merging_.empty(); });
  --forcedWaiting_;
  std::vector<SegmentRef> sources;
  for (const SegmentRef& ref : snapshot()->segments) {
    if (sealing_->is_sealed(*ref.segment) == isSealed) sources.push_back(ref);
  }
  claim_locked(sources);
  return sources;
}

void Engine::claim_locked(const std::vector<SegmentRef>& sources) {
  try {
    for (const SegmentRef& source : sources) merging_.insert(source.segment->serial());
  } catch (const std::bad_alloc&) {
    // A remaining serial would exclude its segment from every later merge, and a forced merge would wait
    // forever.
    for (const SegmentRef& source : sources) merging_.erase(source.segment->serial());
    throw;
  }
}

void Engine::release_sources(const std::vector<SegmentRef>& sources) noexcept {
  {
    const std::lock_guard lock(writerMutex_);
    for (const SegmentRef& source : sources) merging_.erase(source.segment->serial());
  }
  mergeEnded_.notify_all();
}

bool Engine::merge_once(MergeLane lane) noexcept {
  try {
    const std::vector<SegmentRef> sources = claim_merge(lane);
    return !sources.empty() && run_merge(sources, sources[0].segment->is_stored()).ok();
  } catch (const std::bad_alloc&) {
    return false;
  }
}

Status Engine::run_merge(const std::vector<SegmentRef>& sources, bool isStoring) noexcept {
  Status status;
  bool isCommitted = false;
  try {
    Result<MergedSegment> merged = merge_segments(sources, serialNext_.fetch_add(1), stop_);
    status = merged.status();
    if (status.ok() && isStoring && merged.value().segment->slot_count() > 0) {
      Result<std::shared_ptr<const Segment>> stored = store_->write_segment(*merged.value().segment, stop_);
      status = stored.status();
      if (status.ok()) merged.value().segment = std::move(stored.value());
    }
    if (status.ok()) commit_merge(sources, merged.value().segment, merged.value().slotMaps);
    isCommitted = status.ok();
  } catch (const std::bad_alloc&) {
    status = Status::out_of_memory();
  }
  release_sources(sources);
  if (status.ok() && isStoring) {
    status = persist();
    // The manifest on disk refers to the sources until the next manifest. The flush thread retries, even if
    // nothing more is published.
    if (!status.ok()) want_flush();
  }
  if (!status.ok() && status.code() != StatusCode::kCancelled) storageFailures_.fetch_add(1, std::memory_order_relaxed);
  // The sources can be freed, and the result may complete a tier of the other lane. A failed merge wakes no
  // lane: otherwise a lane would retry it without a pause.
  if (isCommitted) wake_lanes();
  return status;
}

void Engine::commit_merge(const std::vector<SegmentRef>& sources, const std::shared_ptr<const Segment>& merged, const std::vector<std::vector<uint32_t>>& slotMaps) {
  const std::lock_guard lock(writerMutex_);
  const std::shared_ptr<const SegmentSet> now = snapshot();
  std::shared_ptr<LiveDocs> live;
  for (size_t index = 0; index < sources.size(); ++index) {
    const SegmentRef* source = find_serial(*now, sources[index].segment->serial());
    for (const uint32_t slot : killed_meanwhile(sources[index], source, slotMaps[index])) {
      if (live == nullptr) live = std::make_shared<LiveDocs>(merged->slot_count());
      live->kill(slot);
    }
  }
  auto next = std::make_shared<SegmentSet>();
  next->lsnLast = now->lsnLast;
  for (const SegmentRef& ref : now->segments) {
    const auto isSource = [&ref](const SegmentRef& source) { return source.segment == ref.segment; };
    if (std::none_of(sources.begin(), sources.end(), isSource)) next->segments.push_back(ref);
  }
  SegmentRef result{merged, live, UINT64_MAX};
  for (const SegmentRef& source : sources) result.lsnFirst = std::min(result.lsnFirst, source.lsnFirst);
  if (merged->slot_count() > 0 && result.live_count() > 0) next->segments.push_back(std::move(result));
  swap_snapshot(std::move(next));
  merges_.fetch_add(1, std::memory_order_relaxed);
}

Status Engine::force_merge() noexcept {
  try {
    for (const bool isSealed : {false, true}) {
      const std::vector<SegmentRef> sources = claim_all(isSealed);
      uint64_t bytes = 0;
      for (const SegmentRef& source : sources) bytes += source.segment->column_bytes();
      if (bytes > kForcedMergeBytesMax) {
        release_sources(sources);
        wake_lanes();
        return Status::too_large("forced merge: " + std::to_string(bytes) + " bytes of segments");
      }
      Status status = sources.empty() ? Status() : run_merge(sources, has_store());
      if (!status.ok()) return status;
    }
    return {};
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

}  // namespace mds
