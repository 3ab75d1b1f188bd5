// See index_sealing.h.
#include "storage/index_sealing.h"

#include <algorithm>

namespace mds {

void IndexSealing::set_keys(const Aead& aead, uint8_t primary, std::unordered_map<uint8_t, AeadKey> keys) {
  const std::lock_guard lock(mutex_);
  aead_ = aead;
  primary_ = primary;
  keys_ = std::move(keys);
}

void IndexSealing::copy(const IndexSealing& other) {
  const std::scoped_lock lock(mutex_, other.mutex_);
  aead_ = other.aead_;
  primary_ = other.primary_;
  keys_ = other.keys_;
  collections_ = other.collections_;
  isUsed_.store(!collections_.empty(), std::memory_order_release);
}

bool IndexSealing::set_sealed(uint32_t collection, bool isSealed) {
  const std::lock_guard lock(mutex_);
  if (isSealed && !keys_.contains(primary_)) return false;
  if (isSealed) {
    collections_.insert(collection);
  } else {
    collections_.erase(collection);
  }
  isUsed_.store(!collections_.empty(), std::memory_order_release);
  return true;
}

bool IndexSealing::is_sealed(uint32_t collection) const {
  if (!isUsed_.load(std::memory_order_acquire)) return false;
  const std::lock_guard lock(mutex_);
  return collections_.contains(collection);
}

bool IndexSealing::is_sealed(const Segment& segment) const {
  if (!isUsed_.load(std::memory_order_acquire)) return false;
  const std::lock_guard lock(mutex_);
  const auto collections = segment.collections();
  return std::any_of(collections.begin(), collections.end(), [this](const CollectionEntry& entry) { return collections_.contains(entry.collection); });
}

uint8_t IndexSealing::key_id_for(const Segment& segment) const {
  if (!is_sealed(segment)) return 0;
  const std::lock_guard lock(mutex_);
  return primary_;
}

std::optional<AeadKey> IndexSealing::find_key(uint8_t id) const {
  const std::lock_guard lock(mutex_);
  const auto found = keys_.find(id);
  return found == keys_.end() ? std::nullopt : std::optional(found->second);
}

Aead IndexSealing::aead() const {
  const std::lock_guard lock(mutex_);
  return aead_;
}

}  // namespace mds
