// Bodies of documents in native memory, shared by all threads of the process, because JavaScript's memory
// belongs to one thread. Two kinds under one mutex. A *kept* body is stored only here: it stays until it is
// removed, and is refused when the bound is reached. A *cached* body is a copy of one in an object store: the
// least recently used goes first. An id has one record: a kept one replaces a cached one, never the other way
// round.
//
// A record never changes. A reader gets a shared pointer to it and reads outside the mutex, while other
// threads may replace or remove the id. Bytes are copied before the mutex is locked and freed after it is
// unlocked, so that it is locked for some hundred nanoseconds whatever the sizes (except when a table grows).
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

  // Bytes include kSharedBodyOverheadBytes for each record, as the bounds do.
  struct Stats {
    uint64_t kept;
    uint64_t keptBytes;
    uint64_t cached;
    uint64_t cachedBytes;
  };

  // Stores a copy until it is removed, in place of any record of the id. False, with nothing changed, where
  // the kept bodies would exceed `bytesMax`, or memory has run out.
  [[nodiscard]] bool keep(const BodyId& id, Bytes record, uint64_t bytesMax) noexcept;

  // Stores a copy as the most recently used, in place of what was cached under the id; then evicts the least
  // recently used until `bytesMax` is met. A record larger than half of `bytesMax` is not stored: it would
  // evict all others. Nothing changes where the id is kept.
  void cache(const BodyId& id, Bytes record, uint64_t bytesMax) noexcept;

  // Null where the id has no record. A cached body becomes the most recently used.
  [[nodiscard]] SharedBody get(const BodyId& id) noexcept;

  // Does not count as a use.
  [[nodiscard]] bool has(const BodyId& id) const noexcept;

  // Removes a body of either kind.
  void remove(const BodyId& id) noexcept;

  // Removes all kept bodies. Cached ones stay: the object store has them under the same ids.
  void clear() noexcept;

  [[nodiscard]] Stats stats() const noexcept;

 private:
  // Seeded, because ids may be made of what clients send.
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

  // Moves the node to `gone`, which the caller frees after it has unlocked the mutex.
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
