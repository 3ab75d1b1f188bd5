// The vectors of all collections: applies batches, answers searches, and behind both builds graphs and stores what it has. One per process; every method may be called
// from any thread.
//
// Threads. A search takes the view of its set (VectorSet::view holds a mutex for the copy of a pointer only) and reads nothing that anyone changes. Whoever changes a set
// holds `writerMutex_` from reading its view to publishing the next. Lock order: writerMutex_, a set's own.
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
  uint32_t graphSlots;   // slots that its graph knows; 0: none
  uint64_t graphBytes;
  uint64_t trainedBytes;  // of all trained kinds
};

class VectorEngine {
 public:
  VectorEngine();
  ~VectorEngine();
  VectorEngine(const VectorEngine&) = delete;
  VectorEngine& operator=(const VectorEngine&) = delete;

  // Gives the engine its directory, made where it is missing: before anything is applied, once; a later call does nothing. What can't be used there is removed: a line
  // for each says so. `history`: of the store, by which vectors are believed (epoch_mark.h); without one all that are whole are. Without a directory, and after an error,
  // everything stays in memory. A disk that refuses the mark of the epoch is asked again; nothing is stored before.
  [[nodiscard]] Result<std::vector<std::string>> open(const std::string& directory, std::span<const EpochSpan> history = {}) noexcept;

  // Whether vectors of the collection must not lie on disk: before `open`, and whenever that changes, before the first vector that it concerns is applied. They are not
  // stored then, and given again after a start.
  [[nodiscard]] Status set_sealed(uint32_t collection, bool isSealed) noexcept;

  // Applies one batch; what it does to one set becomes visible as one. Malformed bytes change nothing. Writes of one document come in the order of their LSNs.
  [[nodiscard]] Status apply(Bytes batch) noexcept;

  // Removes every document that `stamps` (rows of u32 collection, u32 docid, u64 lsn, u32 dims, ascending) does not name, or names with another LSN or other dimensions.
  // Returns rows of u32 collection, u32 docid that are to be given again.
  [[nodiscard]] Result<std::vector<uint32_t>> compare(Bytes stamps) noexcept;

  // Answers a request with a hits record. `documents`: docids that its filter lets in; null: all. Formats: docs/formats/vector-index.md.
  [[nodiscard]] Result<std::vector<uint8_t>> search(const VectorSearchRequest& request, const std::vector<uint32_t>* documents, StopSignal stop) noexcept;

  // A record of groups of similar documents (similar_groups.h) of the collection's vectors of so many numbers.
  [[nodiscard]] Result<std::vector<uint8_t>> similar(uint32_t collection, uint32_t dims, double threshold, uint32_t docidMax, StopSignal stop) const noexcept;

  [[nodiscard]] std::vector<VectorSetStats> stats() const;
  // Writes that the disk has refused: they are tried again.
  [[nodiscard]] uint64_t storage_failures() const noexcept { return storageFailures_.load(std::memory_order_relaxed); }
  // The disk does not take what the last step of the store lane had for it; it is asked again.
  [[nodiscard]] bool is_store_refused() const noexcept { return isStoreRefused_.load(std::memory_order_relaxed); }

  // Waits until graphs know every slot and files hold what they should: for the end of the process, tests and benches.
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
  // Publishes the view of the set with what `change` makes of it. False: its slots are numbered anew, or it is gone.
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
  // False: some are still there.
  [[nodiscard]] bool remove_leftovers();
  // Whether files may be written: under the mark of the present epoch, and where none of their names is taken by one that is to go.
  [[nodiscard]] bool may_store();
  [[nodiscard]] Status mark_present_epoch();
  [[nodiscard]] bool is_sealed(uint32_t collection) const;

  std::mutex writerMutex_;
  mutable std::shared_mutex setsMutex_;  // of the map only
  std::map<SetKey, std::shared_ptr<VectorSet>> sets_;

  std::mutex filesMutex_;         // held by one step of the store lane, and while the directory is opened
  std::string directory_;         // empty: none
  std::string refusedDirectory_;  // that could not be opened; empty: none
  std::map<SetKey, SetFiles> files_;
  std::vector<std::string> leftovers_;  // names of files that are to be removed
  std::optional<Epoch> unmarkedEpoch_;  // the present one, until the directory has its mark
  mutable std::mutex sealedMutex_;
  std::unordered_set<uint32_t> sealed_;
  std::atomic<uint64_t> storageFailures_{0};
  std::atomic<bool> isStoreRefused_{false};

  ScanHelpers scanHelpers_;
  MaintenanceLane graphLane_{[this](bool isResting) { return step_graphs(isResting); }};
  MaintenanceLane storeLane_{[this](bool isResting) { return step_storage(isResting); }};
};

}  // namespace mds
