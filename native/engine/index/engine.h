// The engine: publishes batches as immutable snapshots, answers searches from them, merges behind both. One per process; every method may be called from any thread.
//
// Threads. A search copies the current shared_ptr<const SegmentSet> under `snapshotMutex_` (held for the copy only) and then reads nothing that anyone changes.
// Publishers and the commit of a merge hold `writerMutex_` from reading the current set to swapping in the next, so that no kill and no segment is lost between them.
// Merging itself runs without a lock on sources that are immutable; documents killed meanwhile are carried over at the commit. Two merge threads, one per lane. Replaced
// sets go to `retired_`: the quick merge thread, woken by whoever replaced one, drops them once no reader holds them, so that a search never pays for freeing a segment.
// Lock order: writerMutex_, retiredMutex_, snapshotMutex_; none of the three is held while another thread is waited for.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "base/stop_signal.h"
#include "index/index_batch.h"
#include "index/merge_policy.h"
#include "index/segment_set.h"

namespace mds {

struct EngineStats {
  uint32_t segments;
  uint64_t documents;
  uint64_t deadDocuments;
  uint64_t terms;  // summed over segments: a term in two segments counts twice
  uint64_t memoryBytes;
  uint64_t merges;
  uint64_t lsnLast;
  bool rebuilding;
};

class Engine {
 public:
  Engine();
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Applies one batch and makes it visible as one snapshot. Malformed bytes change nothing. Format: docs/formats/index-batch.md.
  [[nodiscard]] Status publish(Bytes batch) noexcept;

  // Runs a plan on the current snapshot; the answer is a hits record. Format: docs/formats/search-plan.md. `stop` is looked at every few microseconds of work.
  // `controlBytes`: the caller's control buffer, in which the plan's pollWord lies; empty: never stopped.
  [[nodiscard]] Result<std::vector<uint8_t>> search(Bytes plan, std::span<const int32_t> control) const noexcept;

  // JSON object of metadata key -> sorted values that a live document of the collection has.
  [[nodiscard]] Result<std::string> meta_keys(uint32_t collection) const noexcept;

  // Empties the engine and enters rebuild mode: deletes are remembered, so that a page of an older view cannot bring a document back. Without memory nothing changes.
  [[nodiscard]] Status begin_rebuild() noexcept;
  void end_rebuild() noexcept;
  // Empties the engine. Without memory nothing changes.
  [[nodiscard]] Status drop_all() noexcept;

  // Waits for running merges, then merges all segments of that moment into one on the calling thread. What is published meanwhile is merged as always.
  [[nodiscard]] Status force_merge() noexcept;

  [[nodiscard]] EngineStats stats() const noexcept;
  [[nodiscard]] std::shared_ptr<const SegmentSet> snapshot() const noexcept;

 private:
  [[nodiscard]] Status publish_parsed(const IndexBatch& batch);
  // `writerMutex_` is held. Who swaps wakes the lanes once it has released the mutex.
  void swap_snapshot(std::shared_ptr<const SegmentSet> next);
  [[nodiscard]] Status reset(bool isRebuild) noexcept;
  void stop_lanes() noexcept;

  void merge_loop(MergeLane lane) noexcept;
  // One merge of the lane, if the policy finds one. False when there was nothing to do, or no memory to do it: merging is an improvement, not a duty.
  [[nodiscard]] bool merge_once(MergeLane lane) noexcept;
  [[nodiscard]] Status run_merge(const std::vector<SegmentRef>& sources) noexcept;
  [[nodiscard]] std::vector<SegmentRef> claim_merge(MergeLane lane);
  [[nodiscard]] std::vector<SegmentRef> claim_all();
  // All or none. `writerMutex_` is held.
  void claim_locked(const std::vector<SegmentRef>& sources);
  void commit_merge(const std::vector<SegmentRef>& sources, const std::shared_ptr<const Segment>& merged, const std::vector<std::vector<uint32_t>>& slotMaps);
  void release_sources(const std::vector<SegmentRef>& sources) noexcept;
  void wake_lanes() noexcept;
  // Drops retired sets that only this list holds. True when some remain.
  [[nodiscard]] bool sweep_retired() noexcept;

  mutable std::mutex snapshotMutex_;
  std::shared_ptr<const SegmentSet> current_;

  std::mutex writerMutex_;
  std::condition_variable mergeEnded_;
  std::unordered_set<uint64_t> merging_;  // serials of segments that a merge holds
  uint32_t forcedWaiting_ = 0;            // forced merges that wait until merging_ is empty: the lanes begin nothing new unless segments crowd
  std::unordered_set<uint32_t> droppedCollections_;
  std::unordered_map<uint64_t, uint64_t> tombstones_;  // (collection, docid) -> LSN of the delete; rebuild mode only
  std::atomic<bool> rebuilding_{false};
  std::atomic<uint64_t> serialNext_{1};
  std::atomic<uint64_t> merges_{0};
  std::atomic<uint64_t> tombstoneBytes_{0};

  std::mutex retiredMutex_;
  std::list<std::shared_ptr<const SegmentSet>> retired_;

  std::mutex wakeMutex_;
  std::condition_variable wake_;
  uint64_t wakeCount_ = 0;
  std::atomic<bool> stop_{false};
  std::thread quickLane_;
  std::thread longLane_;
};

}  // namespace mds
