// The vectors of all collections. Applies batches, answers searches, builds graphs and stores vectors in the
// background. One per process. Every method may be called from any thread.
//
// Threads: a search takes the view of its set and reads only immutable data. VectorSet::view locks a mutex
// only while it copies a pointer. A writer of a set holds `writerMutex_` from reading the current view to
// publishing the next one. Lock order: writerMutex_, then the mutex of a set.
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

// Statistics of one set.
struct VectorSetStats {
  uint32_t collection;
  uint32_t dims;
  uint32_t documents;
  uint32_t chunks;
  uint32_t deadSlots;
  uint64_t memoryBytes;  // codes, identities, and vectors that are not stored yet
  uint64_t mappedBytes;  // vectors in files
  uint32_t graphSlots;   // number of slots in the graph; 0: no graph
  uint64_t graphBytes;
  uint64_t trainedBytes;  // sum over all trained kinds
};

class VectorEngine {
 public:
  VectorEngine();
  ~VectorEngine();
  VectorEngine(const VectorEngine&) = delete;
  VectorEngine& operator=(const VectorEngine&) = delete;

  // Sets the directory of the engine and creates it if it is missing. Must be called once, before anything is
  // applied; a later call does nothing. Files that cannot be used are removed, and the result has a line for
  // each. `history` is the epoch history of the store. It decides which vectors are valid (epoch_mark.h);
  // without it all undamaged vectors are valid. Without a directory, and after an error, everything stays in
  // memory. If the epoch mark cannot be written, the write is retried, and nothing is stored before it
  // succeeds.
  [[nodiscard]] Result<std::vector<std::string>> open(const std::string& directory, std::span<const EpochSpan> history = {}) noexcept;

  // Sets whether vectors of the collection must not be stored on disk. Must be called before `open`, and at
  // every change before the first affected vector is applied. Vectors of a sealed collection are not stored;
  // they are added again after a start.
  [[nodiscard]] Status set_sealed(uint32_t collection, bool isSealed) noexcept;

  // Applies one batch. Its changes to one set become visible together. A malformed batch changes nothing.
  // Writes of one document must arrive in the order of their LSNs.
  [[nodiscard]] Status apply(Bytes batch) noexcept;

  // Removes every document that is missing in `stamps`, or that has another LSN or other dimensions there.
  // `stamps`: rows of u32 collection, u32 docid, u64 lsn, u32 dims, ascending. Returns rows of u32
  // collection, u32 docid: the documents that must be added again.
  [[nodiscard]] Result<std::vector<uint32_t>> compare(Bytes stamps) noexcept;

  // Runs a search and returns a hits record. `documents`: the docids that the filter admits; null: all.
  // Formats: docs/formats/vector-index.md.
  [[nodiscard]] Result<std::vector<uint8_t>> search(const VectorSearchRequest& request, const std::vector<uint32_t>* documents, StopSignal stop) noexcept;

  // Returns a record with groups of similar documents (similar_groups.h) among the collection's vectors with
  // the given number of dimensions.
  [[nodiscard]] Result<std::vector<uint8_t>> similar(uint32_t collection, uint32_t dims, double threshold, uint32_t docidMax, StopSignal stop) const noexcept;

  [[nodiscard]] std::vector<VectorSetStats> stats() const;
  // Number of failed disk writes. They are retried.
  [[nodiscard]] uint64_t storage_failures() const noexcept { return storageFailures_.load(std::memory_order_relaxed); }
  // Returns whether the last step of the store lane failed. It is retried.
  [[nodiscard]] bool is_store_refused() const noexcept { return isStoreRefused_.load(std::memory_order_relaxed); }

  // Waits until graphs contain every slot and files are up to date. Used at shutdown, and by tests and
  // benchmarks.
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

  // Methods of the graph lane.
  [[nodiscard]] LaneStep step_graphs(bool isResting);
  [[nodiscard]] LaneStep extend_graph(const std::shared_ptr<VectorSet>& set, bool isResting);
  [[nodiscard]] LaneStep train(const std::shared_ptr<VectorSet>& set);
  [[nodiscard]] LaneStep compact(const std::shared_ptr<VectorSet>& set);
  // Applies `change` to the view of the set and publishes the result. Returns false if its slots were
  // renumbered or the set was dropped.
  [[nodiscard]] bool publish_made(const std::shared_ptr<VectorSet>& set, uint32_t generation, const std::function<void(SetView&)>& change);
  [[nodiscard]] bool is_current(const std::shared_ptr<VectorSet>& set) const;

  // State and methods of the store lane.
  struct SetFiles {
    std::weak_ptr<VectorSet> set;
    std::unique_ptr<VectorFile> rows;
    uint32_t graphSlots = 0;  // number of slots of the graph on disk
  };
  // The result has a line for each file that cannot be used.
  [[nodiscard]] Result<std::vector<std::string>> open_directory(const std::string& directory, uint64_t lsnMax);
  [[nodiscard]] Status begin_directory();
  [[nodiscard]] LaneStep step_storage(bool isResting);
  [[nodiscard]] LaneStep step_files(bool isResting);
  [[nodiscard]] LaneStep remove_dropped();
  [[nodiscard]] LaneStep store_set(const std::shared_ptr<VectorSet>& set, bool isResting);
  [[nodiscard]] LaneStep store_rows(const std::shared_ptr<VectorSet>& set, const SetView& view, SetFiles& files);
  [[nodiscard]] LaneStep unstore_set(const std::shared_ptr<VectorSet>& set);
  void remove_files(const VectorFileName& name);
  // Returns false if some files remain.
  [[nodiscard]] bool remove_leftovers();
  // Returns whether files may be written: the directory must have the mark of the current epoch, and no file
  // may be pending removal, because a new file could have its name.
  [[nodiscard]] bool may_store();
  [[nodiscard]] Status mark_present_epoch();
  [[nodiscard]] bool is_sealed(uint32_t collection) const;

  std::mutex writerMutex_;
  mutable std::shared_mutex setsMutex_;  // protects the map only
  std::map<SetKey, std::shared_ptr<VectorSet>> sets_;

  // Locked during each step of the store lane and while the directory is opened.
  std::mutex filesMutex_;
  std::string directory_;         // empty: none
  std::string refusedDirectory_;  // a directory that could not be opened; empty: none
  std::map<SetKey, SetFiles> files_;
  std::vector<std::string> leftovers_;  // names of files pending removal
  std::optional<Epoch> unmarkedEpoch_;  // the current epoch; reset when the directory has its mark
  mutable std::mutex sealedMutex_;
  std::unordered_set<uint32_t> sealed_;
  std::atomic<uint64_t> storageFailures_{0};
  std::atomic<bool> isStoreRefused_{false};

  ScanHelpers scanHelpers_;
  MaintenanceLane graphLane_{[this](bool isResting) { return step_graphs(isResting); }};
  MaintenanceLane storeLane_{[this](bool isResting) { return step_storage(isResting); }};
};

}  // namespace mds
