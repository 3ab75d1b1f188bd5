// Bodies of documents in native memory, shared by all threads of the process. JavaScript memory belongs to a
// single thread. There are two kinds under one mutex. A *kept* body is stored only here: it stays until it is
// removed, and is rejected if the limit is reached. A *cached* body is a copy of a body in an object store:
// the least recently used one is evicted first. An id has one record. A kept body replaces a cached one; a
// cached body never replaces a kept one.
//
// A record is immutable. A reader receives a shared pointer and reads without the mutex, while other threads
// may replace or remove the id. Bytes are copied before the mutex is locked and freed after it is released.
// It is therefore locked for a few hundred nanoseconds regardless of the sizes (except when a table grows).
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"

namespace mds {

using BodyId = std::array<uint8_t, 16>;
using SharedBody = std::shared_ptr<const std::vector<uint8_t>>;

class SharedBodies {
 public:
  SharedBodies();

  // Byte counts include kSharedBodyOverheadBytes for each record, and so do the limits.
  struct Stats {
    uint64_t kept;
    uint64_t keptBytes;
    uint64_t cached;
    uint64_t cachedBytes;
  };

  // Stores a copy until it is removed. Replaces any record of the id. Returns false and changes nothing if
  // the kept bodies would exceed `bytesMax`, or if memory is exhausted.
  [[nodiscard]] bool keep(const BodyId& id, Bytes record, uint64_t bytesMax) noexcept;

  // Stores a copy as the most recently used one and replaces the cached record of the id. Then evicts the
  // least recently used records until the total is at most `bytesMax`. A record larger than half of
  // `bytesMax` is not stored, because it would evict all others. Does nothing if the id is kept.
  void cache(const BodyId& id, Bytes record, uint64_t bytesMax) noexcept;

  // Returns null if the id has no record. A cached body becomes the most recently used one.
  [[nodiscard]] SharedBody get(const BodyId& id) noexcept;

  // Does not count as a use.
  [[nodiscard]] bool has(const BodyId& id) const noexcept;

  // Removes a body of either kind.
  void remove(const BodyId& id) noexcept;

  // Removes all kept bodies. Cached bodies stay, because the object store has them under the same ids.
  void clear() noexcept;

  [[nodiscard]] Stats stats() const noexcept;

 private:
  // Seeded, because clients may influence the ids.
  struct IdHash {
    uint64_t seed;
    [[nodiscard]] size_t operator()(const BodyId& id) const noexcept;
  };

  struct CachedBody {
    BodyId id;
    SharedBody body;
  };

  using Kept = std::unordered_map<BodyId, SharedBody, IdHash>;
  using Cached = std::list<CachedBody>;

  // Moves the node to `gone`. The caller frees it after releasing the mutex.
  void take_cached(Cached::iterator body, Cached& gone) noexcept;
  // The same for the cached body of an id, if any.
  void take_cached_of(const BodyId& id, Cached& gone) noexcept;

  mutable std::mutex mutex_;
  Kept kept_;
  Cached cached_;  // most recently used first
  std::unordered_map<BodyId, Cached::iterator, IdHash> cachedAt_;
  uint64_t keptBytes_ = 0;
  uint64_t cachedBytes_ = 0;
};

}  // namespace mds
