// Bodies of documents that lie in the memory of the process and are seen by all of its threads, because JavaScript's memory belongs to one thread. Two kinds under one
// mutex: what is *kept* stays until it is removed, for it lies nowhere else, and is refused where there is no room; what is *cached* lies in an object store, too, and
// what was used longest ago goes first. An id has one record: a kept one takes the place of a cached one, never the other way.
//
// A record never changes. A reader gets a share of it and reads outside of the mutex, while other threads may replace or remove the id. Bytes are copied before the mutex
// is taken and freed after it, so that it is held for some hundred nanoseconds whatever the sizes (but where a table grows).
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
using HeldBody = std::shared_ptr<const std::vector<uint8_t>>;

class HeldBodies {
 public:
  HeldBodies();

  // Bytes count a record with kHeldBodyOverheadBytes, as the bounds do.
  struct Stats {
    uint64_t kept;
    uint64_t keptBytes;
    uint64_t cached;
    uint64_t cachedBytes;
  };

  // Holds a copy until it is removed, in place of what the id held. False, and nothing has changed, where all that is kept would be more than `bytesMax`, or memory has
  // run out.
  [[nodiscard]] bool keep(const BodyId& id, Bytes record, uint64_t bytesMax) noexcept;

  // Holds a copy as the last to go, in place of what was cached under the id; then what was used longest ago goes until `bytesMax` holds. A record larger than half of it
  // is not held: it would drive out everything else. Nothing changes where the id is kept.
  void cache(const BodyId& id, Bytes record, uint64_t bytesMax) noexcept;

  // Null where the id is not held. What is cached becomes the last to go.
  [[nodiscard]] HeldBody get(const BodyId& id) noexcept;

  // Moves nothing in the order of what goes.
  [[nodiscard]] bool has(const BodyId& id) const noexcept;

  // Of either kind.
  void remove(const BodyId& id) noexcept;

  // Forgets all that is kept; what is cached stays, as it lies elsewhere under the same ids.
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
    HeldBody body;
  };

  using Kept = std::unordered_map<BodyId, HeldBody, IdHash>;
  using Cached = std::list<CachedBody>;

  // Moves the node to `gone`, which its caller frees after the mutex.
  void take_cached(Cached::iterator body, Cached& gone) noexcept;
  // The same for what an id has cached, if anything.
  void take_cached_of(const BodyId& id, Cached& gone) noexcept;

  mutable std::mutex mutex_;
  Kept kept_;
  Cached cached_;  // used last first
  std::unordered_map<BodyId, Cached::iterator, IdHash> cachedAt_;
  uint64_t keptBytes_ = 0;
  uint64_t cachedBytes_ = 0;
};

}  // namespace mds
