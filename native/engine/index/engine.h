// The engine: publishes batches as immutable snapshots, answers searches from them, and merges in the
// background. One per process. Every method may be called from any thread.
//
// Threads. A search copies the current shared_ptr<const SegmentSet> under `snapshotMutex_`, which is locked
// for the copy only, and then reads only immutable data. Publishers and the commit of a merge hold
// `writerMutex_` from reading the current set until the next set is swapped in, so that no kill and no
// segment is lost in between. Merging itself runs without a lock on immutable sources. Documents killed
// during a merge are killed in its result at the commit. There are two merge threads, one per lane.
//
// Replaced sets go to `retired_`. The quick merge thread, woken by the replacer, drops them once no reader
// uses them, so that a search never pays for freeing a segment.
//
// With a directory (open), segments are also stored on disk: a flush thread stores the segments in memory,
// and the long lane merges stored segments instead of large ones in memory (engine_storage.cc). Documents of
// sealed collections (index_sealing.h) and other documents are in separate segments: no publish, flush or
// merge mixes them.
//
// Lock order: persistMutex_, writerMutex_, retiredMutex_, snapshotMutex_. No thread waits for another thread
// while it holds any of the last three.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/status.h"
#include "base/stop_signal.h"
#include "index/index_batch.h"
#include "index/merge_policy.h"
#include "query/completion/completions.h"
#include "query/expansion/near_terms.h"
#include "query/filter/value_order.h"
#include "segment/segment_set.h"
#include "storage/index_sealing.h"
#include "storage/segment_store.h"

namespace mds {

struct EngineStats {
  uint32_t segments;
  uint64_t documents;
  uint64_t deadDocuments;
  uint64_t terms;  // summed over segments: a term in two segments is counted twice
  uint64_t memoryBytes;
  uint64_t merges;
  uint64_t lsnLast;
  bool rebuilding;
  // Of the index env; zero without one.
  uint32_t storedSegments;
  uint64_t storedBytes;     // size of the stored segments
  uint64_t indexFileBytes;  // size of the index file
  uint64_t indexLiveBytes;  // size of the pages of the file that are in use
  uint64_t checkpoint;      // checkpoint of the manifest on disk
  uint64_t unflushedBytes;  // size of the batches that are in memory only
  uint64_t flushes;
  uint64_t storageFailures;
};

// kFailing: the last flush failed and will be retried, or a write has not returned for kIndexFailingAfter.
// kLost: all flushes will fail until another process opens the index, or a write has not returned for
// kIndexLostAfter.
enum class StorageState : uint8_t { kGood = 0, kFailing = 1, kLost = 2 };

struct OpenRequest {
  std::string directory;  // must exist
  std::vector<EpochSpan> history;
  uint32_t analysis = 0;  // version of the analysis: an index of another version is discarded
  uint64_t mapBytes = kIndexMapBytes;
  // Stored segments are read from disk; new ones stay in memory.
  bool isReadOnly = false;
  std::function<void(const char* point)> onPoint;  // for tests: see SegmentStore::Options
};

struct OpenedIndex {
  // Entries above it must be replayed. 0: the engine is empty and in rebuild mode.
  uint64_t checkpoint = 0;
  // Why the index is empty, or what is wrong with the segments that were set aside. If segments were set
  // aside and the checkpoint is above 0, the engine is in rebuild mode as well and lacks only their
  // documents: `holds` reports which documents it has.
  std::vector<std::string> damage;
  // The store has lost entries that were on its disk: it was restored to an older state, or replaced by an
  // older file.
  bool isStoreBehind = false;
};

class Engine {
 public:
  Engine();
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // set_seal_keys: the keys with which sealed segments are written and read; must be called before `open`.
  // set_sealed: whether a collection must not be stored on disk as plaintext; must be called before `open`
  // and at every change, before the first affected document is published. Stored segments that do not comply
  // are rewritten in the background.
  void set_seal_keys(const Aead& aead, uint8_t primary, std::unordered_map<uint8_t, AeadKey> keys);
  [[nodiscard]] Status set_sealed(uint32_t collection, bool isSealed);
  // Copies the keys and sealed collections of `other`; must be called before open.
  void copy_sealing(const Engine& other) { sealing_->copy(*other.sealing_); }

  // Opens the engine's directory. Must be called once, before anything is published; later calls return the
  // first result. An index that cannot be used is removed; in read-only mode it is left unchanged.
  [[nodiscard]] Result<OpenedIndex> open(OpenRequest request) noexcept;
  // Reports that the store has flushed every entry up to `lsn`: the effects of later ones stay in memory.
  void flushed_to(uint64_t lsn) noexcept;
  // Stores everything published so far. Returns when the manifest covers it. Waits for flushed_to.
  [[nodiscard]] Status flush() noexcept;
  // Whether published batches reach the disk. Cheap: no lock, no transaction.
  [[nodiscard]] StorageState storage_state() const noexcept;
  // Called when no write is expected: until the next publish, merges what pick_resting_merge finds, in the
  // background. The engine itself calls it after kFlushIdleSeconds.
  void rest() noexcept;
  // Whether the engine has exactly this version of the document.
  [[nodiscard]] bool holds(uint32_t collection, uint32_t docid, uint64_t lsn) const noexcept;

  // Applies one batch and makes it visible as one snapshot. A malformed batch changes nothing. Format:
  // docs/formats/index-batch.md.
  [[nodiscard]] Status publish(Bytes batch) noexcept;

  // Runs a plan on the current snapshot and returns a hits record. Format: docs/formats/search-plan.md.
  // `control`: the caller's control buffer, which contains the plan's pollWord; empty: the search is never
  // stopped. The word is polled every few microseconds of work.
  [[nodiscard]] Result<std::vector<uint8_t>> search(Bytes plan, std::span<const int32_t> control) const noexcept;

  // Returns the docids of the documents that pass the plan's filters and ranges, on the current snapshot:
  // query/filter/passing_documents.h. Can be stopped like a search; the result is then incomplete.
  [[nodiscard]] Result<std::vector<uint32_t>> passing(Bytes plan, StopSignal& stop) const noexcept;

  // Returns JSON that explains the document's score under the plan: query/explain/explanation.h. Can be
  // stopped like a search.
  [[nodiscard]] Result<std::string> explain(Bytes plan, uint32_t docid, std::span<const int32_t> control) const noexcept;

  // Returns a JSON array of completions of a prefix, on the current snapshot: query/completion/completions.h.
  // Rejects strings beyond their bounds.
  [[nodiscard]] Result<std::string> completions(const CompletionRequest& request) const noexcept;
  // Returns a JSON array of the terms' frequencies, on the current snapshot. Rejects more terms than its
  // bound.
  [[nodiscard]] Result<std::string> term_frequencies(const TermFrequenciesRequest& request) const noexcept;

  // Returns a JSON array of the terms within a given number of edits of a word, on the current snapshot:
  // query/expansion/near_terms.h. Rejects strings beyond their bounds.
  [[nodiscard]] Result<std::string> near_terms(const NearTermsRequest& request) const noexcept;

  // Returns JSON of the requested counts, on the current snapshot: query/facets/aggregation.h. `control`: as
  // for a search.
  [[nodiscard]] Result<std::string> aggregate(Bytes request, std::span<const int32_t> control) const noexcept;

  // Returns a JSON object: metadata key -> sorted values that a live document of the collection has.
  [[nodiscard]] Result<std::string> meta_keys(uint32_t collection) const noexcept;

  // Empties the engine and enters rebuild mode: deletes are recorded as tombstones, so that a page of an
  // older view cannot restore a deleted document. Changes nothing if memory allocation fails.
  [[nodiscard]] Status begin_rebuild() noexcept;
  void end_rebuild() noexcept;
  // Empties the engine. Changes nothing if memory allocation fails.
  [[nodiscard]] Status drop_all() noexcept;

  // Waits for running merges, then merges all current segments into one (and those of sealed collections into
  // another) on the calling thread. Batches published meanwhile are merged as usual.
  [[nodiscard]] Status force_merge() noexcept;

  [[nodiscard]] EngineStats stats() const noexcept;
  // LSN of the current snapshot: while it is unchanged, every result stays valid.
  [[nodiscard]] uint64_t last_lsn() const noexcept { return snapshot()->lsnLast; }
  [[nodiscard]] std::shared_ptr<const SegmentSet> snapshot() const noexcept;

 private:
  [[nodiscard]] Status publish_parsed(const IndexBatch& batch);
  // Requires `writerMutex_`. The caller wakes the lanes after it has released the mutex.
  void swap_snapshot(std::shared_ptr<const SegmentSet> next);
  [[nodiscard]] Status reset(bool isRebuild) noexcept;
  void stop_lanes() noexcept;

  // Storage: engine_storage.cc.
  [[nodiscard]] Result<OpenedIndex> open_store(OpenRequest request);
  [[nodiscard]] Result<OpenedIndex> open_read_only(const OpenRequest& request);
  void adopt(StoredIndex found, const OpenRequest& request, OpenedIndex& opened);
  void note_published(uint64_t batchBytes) noexcept;
  void want_flush() noexcept;
  void flush_loop() noexcept;
  [[nodiscard]] bool flush_due(std::chrono::steady_clock::time_point now) const noexcept;
  [[nodiscard]] bool is_idle(std::chrono::steady_clock::time_point now) const noexcept;
  [[nodiscard]] Status flush_memory() noexcept;
  [[nodiscard]] std::vector<SegmentRef> claim_memory(bool isSealed);
  [[nodiscard]] Status persist() noexcept;
  void sweep_store() noexcept;
  [[nodiscard]] bool wait_flushed(uint64_t lsn) noexcept;
  [[nodiscard]] bool has_store() const noexcept { return isStored_.load(std::memory_order_acquire); }

  void merge_loop(MergeLane lane) noexcept;
  // Runs one merge of the lane, if the policy finds one. Returns false if there was nothing to do or the
  // merge failed, for example for lack of memory: merging is an optimization and may be skipped.
  [[nodiscard]] bool merge_once(MergeLane lane) noexcept;
  [[nodiscard]] Status run_merge(const std::vector<SegmentRef>& sources, bool isStoring) noexcept;
  [[nodiscard]] std::vector<SegmentRef> claim_merge(MergeLane lane);
  [[nodiscard]] std::vector<SegmentRef> claim_all(bool isSealed);
  // Returns the policy's choice among the sealed segments, or among the others. Requires `writerMutex_`.
  [[nodiscard]] std::vector<SegmentRef> pick_among(const SegmentSet& set, MergeLane lane, bool isSealed) const;
  // Returns a single stored segment whose sealing is not as it should be, if there is one. Requires
  // `writerMutex_`.
  [[nodiscard]] std::vector<SegmentRef> pick_sealed_otherwise(const SegmentSet& set) const;
  // Claims all sources or none. Requires `writerMutex_`.
  void claim_locked(const std::vector<SegmentRef>& sources);
  void commit_merge(const std::vector<SegmentRef>& sources, const std::shared_ptr<const Segment>& merged, const std::vector<std::vector<uint32_t>>& slotMaps);
  void release_sources(const std::vector<SegmentRef>& sources) noexcept;
  void wake_lanes() noexcept;
  // Drops retired sets that only this list refers to. Returns true if some remain.
  [[nodiscard]] bool sweep_retired() noexcept;

  mutable std::mutex snapshotMutex_;
  std::shared_ptr<const SegmentSet> current_;

  std::mutex writerMutex_;
  std::condition_variable mergeEnded_;
  std::unordered_set<uint64_t> merging_;  // serials of segments that a merge has claimed
  // Number of forced merges that wait until merging_ is empty. Meanwhile the lanes begin no merge unless
  // there are too many segments.
  uint32_t forcedWaiting_ = 0;
  std::unordered_set<uint32_t> droppedCollections_;
  // (collection, docid) -> LSN of the delete; rebuild mode only.
  std::unordered_map<uint64_t, uint64_t> tombstones_;
  std::atomic<bool> rebuilding_{false};
  std::atomic<uint64_t> serialNext_{1};
  std::atomic<uint64_t> merges_{0};
  std::atomic<uint64_t> tombstoneBytes_{0};

  mutable ValueOrderCache valueOrders_;

  std::mutex retiredMutex_;
  std::list<std::shared_ptr<const SegmentSet>> retired_;

  std::mutex wakeMutex_;
  std::condition_variable wake_;
  uint64_t wakeCount_ = 0;
  std::atomic<bool> stop_{false};
  std::atomic<bool> isStored_{false};  // `store_` is set
  std::atomic<bool> isResting_{false};
  bool flushWanted_ = false;  // guarded by flushMutex_
  std::thread quickLane_;
  std::thread longLane_;

  const std::shared_ptr<IndexSealing> sealing_ = std::make_shared<IndexSealing>();

  // Storage. `store_` is set once, before `isStored_` is set.
  std::mutex openMutex_;
  std::optional<OpenedIndex> opened_;
  std::unique_ptr<SegmentStore> store_;
  Epoch epoch_{};
  uint32_t analysis_ = 0;
  std::mutex persistMutex_;  // serializes the writing of manifests
  std::atomic<uint64_t> checkpoint_{0};
  std::atomic<uint64_t> persistedLsn_{0};  // LSN of the snapshot whose live bits the manifest has
  std::atomic<uint64_t> unflushedBytes_{0};
  std::atomic<uint64_t> flushes_{0};
  std::atomic<uint64_t> storageFailures_{0};
  std::atomic<bool> isFlushRefused_{false};
  mutable std::mutex flushMutex_;
  std::condition_variable flushWake_;
  std::condition_variable flushedMore_;
  uint64_t flushedLsn_ = 0;
  std::chrono::steady_clock::time_point publishedAt_{};
  std::thread flushLane_;
};

}  // namespace mds
