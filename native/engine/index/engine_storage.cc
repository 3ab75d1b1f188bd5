// The storage part of the engine (see engine.h): opening the index env, flushing segments from memory, and
// the manifest.
//
// The manifest describes one snapshot N: its stored segments with the live bits of N and, as the checkpoint,
// the LSN below the first entry that is in memory only. The bits may reflect entries later than the
// checkpoint: replay finds their documents dead and adds their new versions again. But no bit and no segment
// may reflect an entry that the store could still lose; otherwise a document would be missing after a power
// failure. The manifest is therefore written only after the store has flushed N's last entry. A snapshot only
// grows, so whichever flush or merge comes first may write the manifest for the others.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <new>

#include "index/engine.h"

namespace mds {
namespace {

// Whether the history contains this checkpoint. LSNs above the end of an epoch were assigned again in the
// next epoch.
bool is_known(const std::vector<EpochSpan>& history, const Manifest& manifest) noexcept {
  return std::any_of(history.begin(), history.end(), [&manifest](const EpochSpan& span) { return span.epoch == manifest.epoch && manifest.checkpoint <= span.lsnLast; });
}

// The checkpoint is written only after the store has reported everything up to it as flushed. If the same
// epoch ends before it, the store has lost entries.
bool is_store_behind(const std::vector<EpochSpan>& history, const Manifest& manifest) noexcept {
  return std::any_of(history.begin(), history.end(), [&manifest](const EpochSpan& span) { return span.epoch == manifest.epoch && manifest.checkpoint > span.lsnLast; });
}

std::string foreign_reason(const OpenRequest& request, const Manifest& manifest) {
  if (!is_store_behind(request.history, manifest)) return "the index does not belong to this history of the store";
  return "the index knows of entries up to " + std::to_string(manifest.checkpoint) + " that are missing from the store, which ends at " +
         std::to_string(request.history.back().lsnLast);
}

Status remove_contents(const std::string& directory) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    std::filesystem::remove_all(entry.path(), error);
    if (error) break;
  }
  return error ? Status::io("can't empty " + directory + ": " + error.message()) : Status();
}

}  // namespace

Result<OpenedIndex> Engine::open(OpenRequest request) noexcept {
  const std::lock_guard lock(openMutex_);
  if (opened_) return *opened_;
  try {
    Result<OpenedIndex> opened = open_store(std::move(request));
    if (opened.ok()) opened_ = opened.value();
    return opened;
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  } catch (const std::exception& error) {
    return Status::io(error.what());
  }
}

Result<OpenedIndex> Engine::open_store(OpenRequest request) {
  if (request.history.empty()) return Status::malformed("open: a history has at least the present epoch");
  if (request.isReadOnly) return open_read_only(request);
  OpenedIndex opened;
  StoredIndex found;
  const auto open_once = [&] { return SegmentStore::open(request.directory, {request.mapBytes, request.onPoint, sealing_}, found); };
  Result<std::unique_ptr<SegmentStore>> store = open_once();
  if (!store.ok() && store.status().code() != StatusCode::kIo && store.status().code() != StatusCode::kCorrupt) return store.status();
  const bool isFilled = store.ok() && found.manifest.checkpoint > 0;
  const bool isForeign = isFilled && !is_known(request.history, found.manifest);
  if (isForeign || (isFilled && found.manifest.analysis != request.analysis)) {
    opened.damage.emplace_back(isForeign ? foreign_reason(request, found.manifest) : "the index was made by another text analysis");
    opened.isStoreBehind = isForeign && is_store_behind(request.history, found.manifest);
    found = {};
    store.value().reset();
  } else if (!store.ok()) {
    opened.damage.emplace_back(store.status().message());
  }
  if (!store.ok() || store.value() == nullptr) {
    found = {};
    Status removed = remove_contents(request.directory);
    if (!removed.ok()) return removed;
    store = open_once();
    if (!store.ok()) return store.status();
  }
  store_ = std::move(store.value());
  adopt(std::move(found), request, opened);
  {
    const std::lock_guard lock(flushMutex_);
    publishedAt_ = std::chrono::steady_clock::now();  // a start does not count as idle time
  }
  flushLane_ = std::thread([this] { flush_loop(); });
  isStored_.store(true, std::memory_order_release);
  wake_lanes();
  return opened;
}

// No store is created: the segments themselves keep the map. If any part of the index cannot be used, the
// whole index is rebuilt in memory.
Result<OpenedIndex> Engine::open_read_only(const OpenRequest& request) {
  OpenedIndex opened;
  StoredIndex found;
  const Result<std::unique_ptr<SegmentStore>> store = SegmentStore::open(request.directory, {request.mapBytes, request.onPoint, sealing_, true}, found);
  if (!store.ok()) {
    if (store.status().code() != StatusCode::kIo && store.status().code() != StatusCode::kCorrupt) return store.status();
    opened.damage.emplace_back(store.status().message());
  } else if (found.manifest.checkpoint > 0 && !is_known(request.history, found.manifest)) {
    opened.damage.emplace_back(foreign_reason(request, found.manifest));
    opened.isStoreBehind = is_store_behind(request.history, found.manifest);
  } else if (found.manifest.checkpoint > 0 && found.manifest.analysis != request.analysis) {
    opened.damage.emplace_back("the index was made by another text analysis");
  } else {
    opened.damage = found.damaged;
  }
  if (!opened.damage.empty()) found = {};
  adopt(std::move(found), request, opened);
  wake_lanes();
  return opened;
}

void Engine::adopt(StoredIndex found, const OpenRequest& request, OpenedIndex& opened) {
  const std::lock_guard lock(writerMutex_);
  epoch_ = request.history.back().epoch;
  analysis_ = request.analysis;
  serialNext_.store(std::max(serialNext_.load(), found.manifest.serialNext));
  opened.checkpoint = found.manifest.checkpoint;
  opened.damage.insert(opened.damage.end(), found.damaged.begin(), found.damaged.end());
  // A checkpoint of 0 denotes an index that was still being built: how far its build had progressed is
  // unknown.
  const bool isUsable = opened.checkpoint > 0;
  if (isUsable) {
    auto next = std::make_shared<SegmentSet>();
    next->segments = std::move(found.segments);
    next->lsnLast = opened.checkpoint;
    swap_snapshot(std::move(next));
    droppedCollections_.insert(found.manifest.droppedCollections.begin(), found.manifest.droppedCollections.end());
    checkpoint_.store(opened.checkpoint);
    persistedLsn_.store(opened.checkpoint);
  }
  rebuilding_.store(!isUsable || !found.damaged.empty());
}

void Engine::flushed_to(uint64_t lsn) noexcept {
  const std::lock_guard lock(flushMutex_);
  flushedLsn_ = std::max(flushedLsn_, lsn);
  flushedMore_.notify_all();
}

bool Engine::wait_flushed(uint64_t lsn) noexcept {
  std::unique_lock lock(flushMutex_);
  flushedMore_.wait(lock, [this, lsn] { return stop_.load() || flushedLsn_ >= lsn; });
  return flushedLsn_ >= lsn;
}

void Engine::note_published(uint64_t batchBytes) noexcept {
  if (!has_store()) return;
  isResting_.store(false, std::memory_order_relaxed);
  const uint64_t unflushed = unflushedBytes_.fetch_add(batchBytes, std::memory_order_relaxed) + batchBytes;
  const std::lock_guard lock(flushMutex_);
  publishedAt_ = std::chrono::steady_clock::now();
  if (unflushed >= kFlushBatchBytes) flushWake_.notify_all();
}

void Engine::want_flush() noexcept {
  const std::lock_guard lock(flushMutex_);
  flushWanted_ = true;
  flushWake_.notify_all();
}

// Requires `flushMutex_`.
bool Engine::flush_due(std::chrono::steady_clock::time_point now) const noexcept {
  if (flushWanted_ || unflushedBytes_.load(std::memory_order_relaxed) >= kFlushBatchBytes) return true;
  return unflushedBytes_.load(std::memory_order_relaxed) > 0 && is_idle(now);
}

// Requires `flushMutex_`.
bool Engine::is_idle(std::chrono::steady_clock::time_point now) const noexcept { return now - publishedAt_ >= std::chrono::seconds(kFlushIdleSeconds); }

void Engine::rest() noexcept {
  if (!isResting_.exchange(true)) wake_lanes();
}

void Engine::flush_loop() noexcept {
  bool hasFailed = false;
  while (!stop_.load()) {
    bool isQuiet = false;
    {
      std::unique_lock lock(flushMutex_);
      // After a failure, the disk is retried after a pause, not in a loop.
      const auto isDue = [&] { return stop_.load() || (!hasFailed && flush_due(std::chrono::steady_clock::now())); };
      // At rest the next flush is due at the earliest when a batch has been the last one for the idle time.
      const bool isAtRest = isResting_.load(std::memory_order_relaxed) && unflushedBytes_.load(std::memory_order_relaxed) == 0 && !hasFailed;
      const std::chrono::seconds pause(isAtRest ? kFlushIdleSeconds : kFlushWatchSeconds);
      isQuiet = !flushWake_.wait_for(lock, pause, isDue) && !hasFailed;
      if (stop_.load()) return;
      if (isQuiet) {
        if (is_idle(std::chrono::steady_clock::now())) rest();
      } else {
        flushWanted_ = false;
      }
    }
    hasFailed = !isQuiet && !flush_memory().ok();
    // Segments that the last manifest dropped may have lost their last reader meanwhile.
    if (isQuiet) sweep_store();
  }
}

// A failed sweep is not a failure of the index, which is complete on disk: the flush thread sweeps again.
void Engine::sweep_store() noexcept {
  if (!store_->sweep().ok()) storageFailures_.fetch_add(1, std::memory_order_relaxed);
}

Status Engine::flush() noexcept {
  if (!has_store()) return {};
  return flush_memory();
}

void Engine::set_seal_keys(const Aead& aead, uint8_t primary, std::unordered_map<uint8_t, AeadKey> keys) { sealing_->set_keys(aead, primary, std::move(keys)); }

Status Engine::set_sealed(uint32_t collection, bool isSealed) {
  if (!sealing_->set_sealed(collection, isSealed)) return Status::malformed("a collection is to be sealed and there is no key");
  wake_lanes();
  return {};
}

std::vector<SegmentRef> Engine::claim_memory(bool isSealed) {
  std::unique_lock lock(writerMutex_);
  ++forcedWaiting_;
  const auto is_free = [this] {
    const std::shared_ptr<const SegmentSet> set = snapshot();
    return std::none_of(set->segments.begin(), set->segments.end(),
                        [this](const SegmentRef& ref) { return !ref.segment->is_stored() && merging_.contains(ref.segment->serial()); });
  };
  mergeEnded_.wait(lock, is_free);
  --forcedWaiting_;
  std::vector<SegmentRef> sources;
  for (const SegmentRef& ref : snapshot()->segments) {
    if (!ref.segment->is_stored() && sealing_->is_sealed(*ref.segment) == isSealed) sources.push_back(ref);
  }
  claim_locked(sources);
  return sources;
}

Status Engine::flush_memory() noexcept {
  try {
    // Read before the claim: a batch published meanwhile is counted for the next flush.
    const uint64_t counted = unflushedBytes_.load();
    bool isPersisted = false;
    for (const bool isSealed : {false, true}) {
      const std::vector<SegmentRef> sources = claim_memory(isSealed);
      if (sources.empty() && (isPersisted || !isSealed)) continue;
      Status status = sources.empty() ? persist() : run_merge(sources, true);
      if (!status.ok()) {
        if (status.code() != StatusCode::kCancelled) isFlushRefused_.store(true, std::memory_order_relaxed);
        return status;
      }
      isPersisted = true;
    }
    isFlushRefused_.store(false, std::memory_order_relaxed);
    unflushedBytes_.fetch_sub(counted);
    flushes_.fetch_add(1, std::memory_order_relaxed);
    return {};
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

StorageState Engine::storage_state() const noexcept {
  if (!has_store()) return StorageState::kGood;
  const std::chrono::milliseconds silence = store_->silence();
  if (store_->is_lost() || silence >= kIndexLostAfter) return StorageState::kLost;
  return isFlushRefused_.load(std::memory_order_relaxed) || silence >= kIndexFailingAfter ? StorageState::kFailing : StorageState::kGood;
}

Status Engine::persist() noexcept {
  try {
    const std::lock_guard persistLock(persistMutex_);
    Manifest manifest;
    std::shared_ptr<const SegmentSet> set;
    {
      const std::lock_guard lock(writerMutex_);
      set = snapshot();
      manifest.epoch = epoch_;
      manifest.analysis = analysis_;
      manifest.serialNext = serialNext_.load();
      manifest.checkpoint = rebuilding_.load() ? 0 : set->lsnLast;
      manifest.droppedCollections.assign(droppedCollections_.begin(), droppedCollections_.end());
    }
    std::sort(manifest.droppedCollections.begin(), manifest.droppedCollections.end());
    std::vector<SegmentRef> stored;
    for (const SegmentRef& ref : set->segments) {
      if (ref.segment->is_stored()) {
        stored.push_back(ref);
      } else {
        manifest.checkpoint = std::min(manifest.checkpoint, std::max<uint64_t>(ref.lsnFirst, 1) - 1);
      }
    }
    if (!wait_flushed(set->lsnLast)) return Status::cancelled();
    Status status = store_->commit(manifest, stored);
    if (!status.ok()) return status;
    checkpoint_.store(manifest.checkpoint);
    persistedLsn_.store(set->lsnLast);
    set.reset();
    stored.clear();
    sweep_store();
    return {};
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

bool Engine::holds(uint32_t collection, uint32_t docid, uint64_t lsn) const noexcept {
  const std::shared_ptr<const SegmentSet> set = snapshot();
  for (const SegmentRef& ref : set->segments) {
    const CollectionEntry* entry = ref.segment->find_collection(collection);
    if (entry == nullptr) continue;
    const std::optional<uint32_t> slot = ref.segment->find_docid(*entry, docid);
    if (slot && ref.alive(*slot) && ref.segment->lsn(*slot) == lsn) return true;
  }
  return false;
}

}  // namespace mds
