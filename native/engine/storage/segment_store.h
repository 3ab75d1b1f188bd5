// The index on disk: stored segments, their live bits and the manifest that lists them, in the index env.
// Writes run on the engine's storage thread. Every method may be called from any thread. The mutex protects
// the table of records. The chunks of a segment are written without holding it.
//
// Lifecycle of a stored segment: its chunks are written first, and nothing refers to them yet. A manifest
// that lists the segment makes it part of the index. A later manifest without it removes it from the index.
// Its chunks are deleted when it then has no readers left. Leftovers of a failed write or deletion are
// deleted by a later sweep. Leftovers of an interrupted one are deleted at the next start. Records:
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

// The index found at a start.
struct StoredIndex {
  Manifest manifest;
  std::vector<SegmentRef> segments;  // complete and checked, in the order of the manifest
  std::vector<std::string> damaged;  // a description of the damage of each excluded segment
};

class SegmentStore {
 public:
  struct Options {
    uint64_t mapBytes;
    // For tests: called at named points of a write to simulate a crash there.
    std::function<void(const char* point)> onPoint;
    // Determines which segments are sealed, and with which keys. Null: none.
    std::shared_ptr<const IndexSealing> sealing;
    // Nothing is written. Leftovers of the previous process remain.
    bool isReadOnly = false;
  };

  // Returns kCorrupt if the env must not be mapped. Its directory must then be emptied and the index rebuilt.
  // `found` receives the index.
  [[nodiscard]] static Result<std::unique_ptr<SegmentStore>> open(const std::string& directory, Options options, StoredIndex& found);

  // Stores the columns of an in-memory segment under its serial and opens the result. The segment is not part
  // of the index until a commit lists it. After an error its records are deleted, now or by a later sweep.
  [[nodiscard]] Result<std::shared_ptr<const Segment>> write_segment(const Segment& segment, const std::atomic<bool>& stop);

  // Returns whether the sealing of a stored segment is outdated: it is plaintext but must be sealed, is
  // sealed but must be plaintext, or is sealed with another key. Takes no lock that a commit holds.
  [[nodiscard]] bool is_sealed_otherwise(const Segment& segment) const;

  // Makes exactly these segments, with these live bits, the index. `about.segments` is ignored. One small
  // transaction.
  [[nodiscard]] Status commit(Manifest about, const std::vector<SegmentRef>& segments);

  // Deletes the records that no manifest lists and that have no readers. A failed deletion is retried by the
  // next sweep.
  [[nodiscard]] Status sweep() noexcept;

  [[nodiscard]] IndexEnv::Size size() const noexcept { return env_->size(); }
  [[nodiscard]] bool is_lost() const noexcept { return env_->is_lost(); }
  [[nodiscard]] std::chrono::milliseconds silence() const noexcept { return env_->silence(); }

 private:
  struct Released;
  class Hold;
  class Lease;
  // The known state of a segment's live-docs record.
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
  // Finds the records of segments that the manifest does not list, and counts the chunks of the other
  // segments.
  [[nodiscard]] Status find_leftovers();
  [[nodiscard]] Status sweep_locked() noexcept;
  [[nodiscard]] Status delete_records(const std::vector<RecordKey>& keys);
  void at_point(const char* point) const;

  mutable std::mutex mutex_;
  std::shared_ptr<IndexEnv> env_;
  Options options_;
  std::unordered_map<uint64_t, Known> known_;  // by serial, while the records exist
  std::shared_ptr<Released> released_;
  std::vector<RecordKey> leftovers_;  // of the previous process, until they are deleted
  uint64_t liveVersionNext_ = 1;
};

}  // namespace mds
