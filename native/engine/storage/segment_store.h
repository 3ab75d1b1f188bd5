// The index on disk: stored segments, their live bits and the manifest that names them, over the index env.
// Writes go through the engine's storage thread; every method may be called from any thread. The mutex guards
// the table of records; the chunks of a segment are written outside it.
//
// Life of a stored segment: its chunks are written first, and nothing refers to them yet. The manifest
// that names it makes it part of the index; a manifest without it removes it. When it has no readers left
// after that, its chunks are deleted. The leftovers of a write or a deletion that the disk refuses are
// deleted by a later sweep, those of an interrupted one by the next start. Records:
// docs/formats/index-env.md.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "segment/segment_set.h"
#include "storage/index_env.h"
#include "storage/index_sealing.h"
#include "storage/manifest.h"

namespace mds {

// The index that a start finds.
struct StoredIndex {
  Manifest manifest;
  std::vector<SegmentRef> segments;  // whole, checked, in the order of the manifest
  std::vector<std::string> damaged;  // what is wrong with those that were set aside
};

class SegmentStore {
 public:
  struct Options {
    uint64_t mapBytes;
    // Tests: called at named points of a write, to simulate a crash there.
    std::function<void(const char* point)> onPoint;
    // Which segments are sealed, and how; null: none.
    std::shared_ptr<const IndexSealing> sealing;
    // Nothing is written: leftovers of the last process stay.
    bool isReadOnly = false;
  };

  // Corrupt when the env must not be mapped: its directory must be emptied and the index rebuilt. `found`
  // receives the index.
  [[nodiscard]] static Result<std::unique_ptr<SegmentStore>> open(const std::string& directory, Options options, StoredIndex& found);

  // Stores the columns of a segment in memory under its serial and opens the result. Not part of the index
  // before a commit names it. After an error nothing of it stays, or a later sweep deletes it.
  [[nodiscard]] Result<std::shared_ptr<const Segment>> write_segment(const Segment& segment, const std::atomic<bool>& stop);

  // Whether a stored segment is sealed otherwise than it should be: plaintext, or sealed with another key.
  // Takes no lock that a commit holds.
  [[nodiscard]] bool is_sealed_otherwise(const Segment& segment) const;

  // Makes exactly these segments, with these live bits, the index; `about.segments` is ignored. One small
  // transaction.
  [[nodiscard]] Status commit(Manifest about, const std::vector<SegmentRef>& segments);

  // Deletes the records that no manifest names and that have no readers. A failed deletion is left to the
  // next sweep.
  [[nodiscard]] Status sweep() noexcept;

  [[nodiscard]] IndexEnv::Size size() const noexcept { return env_->size(); }
  [[nodiscard]] bool is_lost() const noexcept { return env_->is_lost(); }
  [[nodiscard]] std::chrono::milliseconds silence() const noexcept { return env_->silence(); }

 private:
  struct Released;
  class Hold;
  class Lease;
  // The known state of the record of a segment's live bits.
  struct KnownLive {
    std::shared_ptr<const LiveDocs> live;
    uint64_t version = 0;
    uint32_t crc = 0;
  };
  struct Known {
    uint32_t descriptorCrc = 0;
    uint32_t chunkCount = 0;
    uint64_t lsnLast = 0;
    bool isCommitted = false;
    KnownLive live;
  };

  SegmentStore(std::shared_ptr<IndexEnv> env, Options options);

  [[nodiscard]] Status load(StoredIndex& found);
  [[nodiscard]] Result<SegmentRef> load_segment(const ManifestSegment& entry);
  [[nodiscard]] Result<std::shared_ptr<const Segment>> open_segment(uint64_t serial, uint32_t descriptorCrc, std::unique_ptr<Hold> hold);
  // Records of segments that the manifest does not name, and how many chunks the others have.
  [[nodiscard]] Status find_leftovers();
  [[nodiscard]] Status sweep_locked() noexcept;
  [[nodiscard]] Status delete_records(const std::vector<RecordKey>& keys);
  void at_point(const char* point) const;

  mutable std::mutex mutex_;
  std::shared_ptr<IndexEnv> env_;
  Options options_;
  std::unordered_map<uint64_t, Known> known_;  // by serial, as long as the records exist
  std::shared_ptr<Released> released_;
  std::vector<RecordKey> leftovers_;  // of the previous process, until they are deleted
  uint64_t liveVersionNext_ = 1;
};

}  // namespace mds
