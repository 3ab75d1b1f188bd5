// The collections that must not be stored on disk as plaintext, and the keys that seal their segments. A
// segment with a document of such a collection is sealed as a whole. The engine therefore keeps documents of
// sealed and unsealed collections in separate segments. Set by the service before the index is opened and
// whenever a collection's setting changes; read by flushes and merges. Thread-safe. Bytes:
// docs/formats/index-env.md.
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
  // `keys` by id, 1 to 255. New segments are sealed with the key `primary`, which must be in `keys`.
  void set_keys(const Aead& aead, uint8_t primary, std::unordered_map<uint8_t, AeadKey> keys);
  // Copies the keys and collections of another index of the same service. `other` is not changed.
  void copy(const IndexSealing& other);
  // Returns false if there is no key to seal with.
  [[nodiscard]] bool set_sealed(uint32_t collection, bool isSealed);

  // Returns whether documents of the collection must not be stored on disk as plaintext.
  [[nodiscard]] bool is_sealed(uint32_t collection) const;
  // Returns whether the segment contains a document of a sealed collection.
  [[nodiscard]] bool is_sealed(const Segment& segment) const;
  // Returns the id of the key that the segment must be sealed with now; 0: stored as plaintext.
  [[nodiscard]] uint8_t key_id_for(const Segment& segment) const;
  [[nodiscard]] std::optional<AeadKey> find_key(uint8_t id) const;
  [[nodiscard]] Aead aead() const;

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> isUsed_{false};  // true if some collection is sealed; otherwise the mutex is never locked
  Aead aead_;
  uint8_t primary_ = 0;
  std::unordered_map<uint8_t, AeadKey> keys_;
  std::unordered_set<uint32_t> collections_;
};

}  // namespace mds
