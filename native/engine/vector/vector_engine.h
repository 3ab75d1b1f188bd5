// The vectors of all collections: applies batches, answers searches, and in the background builds graphs and
// stores vectors. One per process; every method may be called from any thread.
//
// Threads. A search takes the view of its set (VectorSet::view locks a mutex only while it copies a
// pointer) and reads only immutable data. A writer of a set locks `writerMutex_` from reading its view to
// publishing the next. Lock order: writerMutex_, a set's own.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "base/stop_signal.h"
#include "storage/epoch.h"
#include "vector/files/vector_file.h"
#include "vector/maintenance_lane.h"
#include "vector/scan/scan_helpers.h"
#include "vector/search/vector_request.h"
#include "vector/set/vector_batch.h"
#include "vector/set/vector_set.h"

namespace mds {

// Of one set.
struct VectorSetStats {
  uint32_t collection;
  uint32_t dims;
  uint32_t documents;
  uint32_t chunks;
  uint32_t deadSlots;
  uint64_t memoryBytes;  // codes, identities, vectors that are not stored yet
  uint64_t mappedBytes;  // vectors in files
  uint32_t graphSlots;   // slots in its graph; 0: none
  uint64_t graphBytes;
  uint64_t trainedBytes;  // of all trained kinds
};

class VectorEngine {
 public:
  VectorEngine();
  ~VectorEngine();
  VectorEngine(const VectorEngine&) = delete;
  VectorEngine& operator=(const VectorEngine&) = delete;

  // Gives the engine its directory, created if missing: once, before anything is applied; a later call does
  // nothing. Files that can't be used are removed; the result has a line for each. `history`: of the store,
  // which decides the vectors that are valid (epoch_mark.h); without it all undamaged ones are. Without a
  // directory, and after an error, everything stays in memory. If the disk refuses the mark of the epoch, it
  // is retried; nothing is stored before it succeeds.
  [[nodiscard]] Result<std::vector<std::string>> open(const std::string& directory, std::span<const EpochSpan> history = {}) noexcept;

  // Whether vectors of the collection must not lie on disk: set before `open` and at every change, before the
  // first vector that it concerns is applied. They are not stored then, and are added again after a start.
  [[nodiscard]] Status set_sealed(uint32_t collection, bool isSealed) noexcept;

  // Applies one batch; its changes to one set become visible together. Malformed bytes change nothing. Writes
  // of one document come in the order of their LSNs.
  [[nodiscard]] Status apply(Bytes batch) noexcept;

  // Removes every document that `stamps` (rows of u32 collection, u32 docid, u64 lsn, u32 dims, ascending)
  // does not name, or names with another LSN or other dimensions. Returns rows of u32 collection, u32 docid
  // that must be added again.
  [[nodiscard]] Result<std::vector<uint32_t>> compare(Bytes stamps) noexcept;

  // Answers a request with a hits record. `documents`: docids that its filter admits; null: all. Formats:
  // docs/formats/vector-index.md.
  [[nodiscard]] Result<std::vector<uint8_t>> search(const VectorSearchRequest& request, const std::vector<uint32_t>* documents, StopSignal stop) noexcept;

  // A record of groups of similar documents (similar_groups.h) among the collection's vectors of these
  // dimensions.
  [[nodiscard]] Result<std::vector<uint8_t>> similar(uint32_t collection, uint32_t dims, double threshold, uint32_t docidMax, StopSignal stop) const noexcept;

  [[nodiscard]] std::vector<VectorSetStats> stats() const;
  // Number of writes that the disk has refused; they are retried.
  [[nodiscard]] uint64_t storage_failures() const noexcept { return storageFailures_.load(std::memory_order_relaxed); }
  // Whether the disk refused the last step of the store lane; it is retried.
  [[nodiscard]] bool is_store_refused() const noexcept { return isStoreRefused_.load(std::memory_order_relaxed); }

  // Waits until graphs contain every slot and files are up to date: for the end of the process, tests and
  // benches.
  void settle() noexcept;

 private:
  using SetKey = std::pair<uint32_t, uint32_t>;  // collection, dimensions

  [[nodiscard]] std::shared_ptr<VectorSet> find_set(uint32_t collection, uint32_t dims) const;
  [[nodiscard]] std::vector<std::shared_ptr<VectorSet>> sets_of(uint32_t collection) const;
  [[nodiscard]] std::shared_ptr<VectorSet> make_set(uint32_t collection, uint32_t dims);
  void drop_collection(uint32_t collection);
  [[nodiscard]] Status apply_ops(std::span<const VectorOp> ops);
  [[nodiscard]] std::vector<std::shared_ptr<VectorSet>> all_sets() const;
  void wake() noexcept;

  // The graph lane.
  [[nodiscard]] LaneStep step_graphs(bool isResting);
  [[nodiscard]] LaneStep extend_graph(const std::shared_ptr<VectorSet>& set, bool isResting);
  [[nodiscard]] LaneStep train(const std::shared_ptr<VectorSet>& set);
  [[nodiscard]] LaneStep compact(const std::shared_ptr<VectorSet>& set);
  // Applies `change` to the view of the set and publishes the result. False: its slots were renumbered, or
  // the set is gone.
  [[nodiscard]] bool publish_made(const std::shared_ptr<VectorSet>& set, uint32_t generation, const std::function<void(SetView&)>& change);
  [[nodiscard]] bool is_current(const std::shared_ptr<VectorSet>& set) const;

  // The store lane.
  struct SetFiles {
    std::weak_ptr<VectorSet> set;
    std::unique_ptr<VectorFile> rows;
    uint32_t graphSlots = 0;  // of the graph on disk
  };
  // A line for each file that can't be used.
  [[nodiscard]] Result<std::vector<std::string>> open_directory(const std::string& directory, uint64_t lsnMax);
  [[nodiscard]] Status begin_directory();
  [[nodiscard]] LaneStep step_storage(bool isResting);
  [[nodiscard]] LaneStep step_files(bool isResting);
  [[nodiscard]] LaneStep remove_dropped();
  [[nodiscard]] LaneStep store_set(const std::shared_ptr<VectorSet>& set, bool isResting);
  [[nodiscard]] LaneStep store_rows(const std::shared_ptr<VectorSet>& set, const SetView& view, SetFiles& files);
  [[nodiscard]] LaneStep unstore_set(const std::shared_ptr<VectorSet>& set);
  void remove_files(const VectorFileName& name);
  // False: some remain.
  [[nodiscard]] bool remove_leftovers();
  // Whether files may be written: under the mark of the current epoch, and where none of their names belongs
  // to a file that is to be removed.
  [[nodiscard]] bool may_store();
  [[nodiscard]] Status mark_present_epoch();
  [[nodiscard]] bool is_sealed(uint32_t collection) const;

  std::mutex writerMutex_;
  mutable std::shared_mutex setsMutex_;  // protects the map only
  std::map<SetKey, std::shared_ptr<VectorSet>> sets_;

  // Locked during one step of the store lane, and while the directory is opened.
  std::mutex filesMutex_;
  std::string directory_;         // empty: none
  std::string refusedDirectory_;  // a directory that could not be opened; empty: none
  std::map<SetKey, SetFiles> files_;
  std::vector<std::string> leftovers_;  // names of files that are to be removed
  std::optional<Epoch> unmarkedEpoch_;  // the current one, until the directory has its mark
  mutable std::mutex sealedMutex_;
  std::unordered_set<uint32_t> sealed_;
  std::atomic<uint64_t> storageFailures_{0};
  std::atomic<bool> isStoreRefused_{false};

  ScanHelpers scanHelpers_;
  MaintenanceLane graphLane_{[this](bool isResting) { return step_graphs(isResting); }};
  MaintenanceLane storeLane_{[this](bool isResting) { return step_storage(isResting); }};
};

}  // namespace mds
