// The LMDB environment of the index. Values are stored under (kind, serial, number), written in transactions
// that flush before they return, and read in place. Callable from any thread: one transaction runs at a time,
// under the env's own mutex. The process has locked the lock file of the data directory.
//
// Pointers to chunks in the map remain valid after the transaction that returned them. LMDB never moves the
// pages of a key that is neither overwritten nor deleted, and never writes to them without WRITEMAP. Pointers
// are obtained after the commit that wrote the value, because the pages of an open transaction are on the
// heap. The map is reserved once and never resized. Keys and values: docs/formats/index-env.md.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"

struct MDB_env;

namespace mds {

enum class RecordKind : uint8_t { kManifest = 1, kDescriptor = 2, kLiveDocs = 3, kChunk = 4 };

struct RecordKey {
  RecordKind kind;
  uint64_t serial;  // of the segment; 0 for the manifest
  uint32_t number;  // of the chunk; otherwise 0
};

struct Record {
  RecordKey key;
  Bytes value;
};

class IndexEnv {
 public:
  // `directory` must exist. `mapBytes`: the address space reserved for the lifetime of the env, far above the
  // size of any index. Returns kCorrupt if the file must not be mapped (env_check.h). Read-only: nothing is
  // written, not even locks, and the file must exist.
  [[nodiscard]] static Result<std::unique_ptr<IndexEnv>> open(const std::string& directory, uint64_t mapBytes, bool isReadOnly = false);
  ~IndexEnv();
  IndexEnv(const IndexEnv&) = delete;
  IndexEnv& operator=(const IndexEnv&) = delete;

  // Runs one transaction. It is durable when the function returns. It is atomic: if it fails, the pages that
  // it wrote after the last page are truncated.
  [[nodiscard]] Status write(std::span<const Record> records, std::span<const RecordKey> deleted);

  // Returns a copy of the value, empty if the key does not exist. The value is not read in place, because
  // small values are stored on pages of the tree, which move when neighbouring values are written.
  [[nodiscard]] Result<std::vector<uint8_t>> read(const RecordKey& key) const;
  // Returns the values of the chunks [0, count) of a segment, in place. Returns kCorrupt if one is missing.
  [[nodiscard]] Result<std::vector<Bytes>> read_chunks(uint64_t serial, uint32_t count) const;
  // Returns all keys, in order.
  [[nodiscard]] Result<std::vector<RecordKey>> keys() const;

  struct Size {
    uint64_t fileBytes;
    uint64_t liveBytes;  // without free pages
  };
  // The size as of the last write transaction. Does not wait for a running one.
  [[nodiscard]] Size size() const noexcept { return {fileBytes_.load(std::memory_order_relaxed), liveBytes_.load(std::memory_order_relaxed)}; }

  // Returns whether LMDB rejects every transaction because a write of its meta page failed. The index on disk
  // is intact, but only another process can continue to use it.
  [[nodiscard]] bool is_lost() const noexcept { return isLost_.load(std::memory_order_relaxed); }
  // Returns the duration of the running write; 0 if none is running.
  [[nodiscard]] std::chrono::milliseconds silence() const noexcept;

 private:
  explicit IndexEnv(MDB_env* env) noexcept : env_(env) {}
  [[nodiscard]] Status in_transaction(bool isWrite, const std::function<int(void* transaction)>& body, const char* what) const;
  [[nodiscard]] Status run_transaction(bool isWrite, const std::function<int(void* transaction)>& body, const char* what) const;
  void look_whether_lost() const noexcept;
  void cut_tail() const noexcept;
  void note_size() const noexcept;

  mutable std::mutex mutex_;
  mutable std::atomic<int64_t> writeBeganMs_{0};
  mutable std::atomic<uint64_t> fileBytes_{0};
  mutable std::atomic<uint64_t> liveBytes_{0};
  mutable std::atomic<bool> isLost_{false};
  MDB_env* env_;
  unsigned int table_ = 0;
};

}  // namespace mds
