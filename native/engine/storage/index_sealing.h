// Which collections must not lie on disk as plaintext, and the keys that their segments are sealed with. A
// segment with a document of one of them is sealed as a whole; the engine therefore keeps documents of sealed
// and of other collections in separate segments. Set by the service before the index is opened and whenever a
// collection's setting changes; read by flushes and merges. Thread-safe. Bytes: docs/formats/index-env.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/aead.h"
#include "segment/segment.h"

namespace mds {

class IndexSealing {
 public:
  // `keys` by id, 1 to 255. New segments are sealed with `primary`, one of them.
  void set_keys(const Aead& aead, uint8_t primary, std::unordered_map<uint8_t, AeadKey> keys);
  // Copies keys and collections of another index of the same service, which is not changed.
  void copy(const IndexSealing& other);
  // False: there is no key to seal with.
  [[nodiscard]] bool set_sealed(uint32_t collection, bool isSealed);

  // Whether documents of the collection must not lie on disk as plaintext.
  [[nodiscard]] bool is_sealed(uint32_t collection) const;
  // Whether the segment has such a document.
  [[nodiscard]] bool is_sealed(const Segment& segment) const;
  // The id of the key that the segment should be sealed with now; 0: stored as plaintext.
  [[nodiscard]] uint8_t key_id_for(const Segment& segment) const;
  [[nodiscard]] std::optional<AeadKey> find_key(uint8_t id) const;
  [[nodiscard]] Aead aead() const;

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> isUsed_{false};  // some collection is sealed: otherwise the mutex is never locked
  Aead aead_;
  uint8_t primary_ = 0;
  std::unordered_map<uint8_t, AeadKey> keys_;
  std::unordered_set<uint32_t> collections_;
};

}  // namespace mds
