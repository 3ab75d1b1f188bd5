// The index on disk: stored segments, their live bits and the manifest that names them, over the index env. Writes go through the engine's storage thread; every method
// may be called from any thread. The mutex guards what is known of the records; the chunks of a segment are written outside of it.
//
// Life of a stored segment: its chunks are written first, by themselves harmless; the manifest that names it makes it part of the index; the manifest without it takes it
// out; and when, after that, nobody reads it any more, its chunks are deleted. What a write or a deletion that the disk refuses leaves behind is deleted by a later
// sweep, what an interrupted one leaves by the next start. Records: docs/formats/index-env.md.
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

// What a start finds.
struct StoredIndex {
  Manifest manifest;
  std::vector<SegmentRef> segments;  // whole, checked, in the order of the manifest
  std::vector<std::string> damaged;  // what is wrong with those that were set aside
};

class SegmentStore {
 public:
  struct Options {
    uint64_t mapBytes;
    // Tests: called at named points of a write, where a crash may be acted.
    std::function<void(const char* point)> onPoint;
    // Which segments are sealed, and how; null: none.
    std::shared_ptr<const IndexSealing> sealing;
    // Nothing is written: what the last process has left over stays.
    bool isReadOnly = false;
  };

  // Corrupt when the env must not be followed: its directory is to be emptied and the index rebuilt. `found` is what the index is then.
  [[nodiscard]] static Result<std::unique_ptr<SegmentStore>> open(const std::string& directory, Options options, StoredIndex& found);

  // Stores the columns of a segment in memory under its serial and opens the result. Not part of the index before a commit names it. After an error nothing of it stays,
  // or what stays is deleted by a later sweep.
  [[nodiscard]] Result<std::shared_ptr<const Segment>> write_segment(const Segment& segment, const std::atomic<bool>& stop);

  // Whether a stored segment lies on disk otherwise than it should now: in clear, or sealed with another key. No lock that a commit holds.
  [[nodiscard]] bool is_sealed_otherwise(const Segment& segment) const;

  // Makes exactly these segments, with these live bits, the index; `about.segments` is not looked at. One small transaction.
  [[nodiscard]] Status commit(Manifest about, const std::vector<SegmentRef>& segments);

  // Deletes what no manifest names and nobody reads any more. What it fails to delete is left to the next one.
  [[nodiscard]] Status sweep() noexcept;

  [[nodiscard]] IndexEnv::Size size() const noexcept { return env_->size(); }
  [[nodiscard]] bool is_lost() const noexcept { return env_->is_lost(); }
  [[nodiscard]] std::chrono::milliseconds silence() const noexcept { return env_->silence(); }

 private:
  struct Released;
  class Hold;
  class Lease;
  // What is known of the record of a segment's live bits.
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
  std::vector<RecordKey> leftovers_;  // of the process before, until they are deleted
  uint64_t liveVersionNext_ = 1;
};

}  // namespace mds
