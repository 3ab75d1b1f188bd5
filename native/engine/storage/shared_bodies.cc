#include "storage/shared_bodies.h"

#include <iterator>
#include <new>
#include <utility>

#include "base/limits.h"
#include "base/text_hash.h"

namespace mds {

namespace {

uint64_t counted_bytes(size_t recordBytes) noexcept { return uint64_t{recordBytes} + kSharedBodyOverheadBytes; }

SharedBody copy_of(Bytes record) { return std::make_shared<const std::vector<uint8_t>>(record.begin(), record.end()); }

}  // namespace

size_t SharedBodies::IdHash::operator()(const BodyId& id) const noexcept {
  return mix(mix(load_u64(id.data()) ^ seed, 0x9E3779B97F4A7C15) ^ load_u64(id.data() + 8), seed);
}

SharedBodies::SharedBodies() : kept_(0, IdHash{hash_seed()}), cachedAt_(0, IdHash{hash_seed()}) {}

bool SharedBodies::keep(const BodyId& id, Bytes record, uint64_t bytesMax) noexcept {
  const uint64_t bytes = counted_bytes(record.size());
  if (bytes > bytesMax) return false;
  // Both are freed after the mutex is released.
  SharedBody body;
  Cached gone;
  try {
    body = copy_of(record);
    const std::lock_guard lock(mutex_);
    const auto found = kept_.find(id);
    const uint64_t others = keptBytes_ - (found == kept_.end() ? 0 : counted_bytes(found->second->size()));
    if (others > bytesMax - bytes) return false;
    if (found == kept_.end()) {
      kept_.emplace(id, std::move(body));
      take_cached_of(id, gone);
    } else {
      found->second.swap(body);
    }
    keptBytes_ = others + bytes;
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void SharedBodies::cache(const BodyId& id, Bytes record, uint64_t bytesMax) noexcept {
  const uint64_t bytes = counted_bytes(record.size());
  Cached fresh;
  Cached gone;
  try {
    if (bytes <= bytesMax / 2) fresh.push_front({id, copy_of(record)});
  } catch (const std::bad_alloc&) {
    fresh.clear();
  }
  const std::lock_guard lock(mutex_);
  // Even if the new record is not stored, the previous one is outdated.
  take_cached_of(id, gone);
  if (fresh.empty() || kept_.contains(id)) return;
  try {
    cachedAt_.emplace(id, fresh.begin());
  } catch (const std::bad_alloc&) {
    return;
  }
  cached_.splice(cached_.begin(), fresh);
  cachedBytes_ += bytes;
  while (cachedBytes_ > bytesMax) take_cached(std::prev(cached_.end()), gone);
}

SharedBody SharedBodies::get(const BodyId& id) noexcept {
  const std::lock_guard lock(mutex_);
  if (const auto kept = kept_.find(id); kept != kept_.end()) return kept->second;
  const auto cached = cachedAt_.find(id);
  if (cached == cachedAt_.end()) return nullptr;
  cached_.splice(cached_.begin(), cached_, cached->second);
  return cached->second->body;
}

bool SharedBodies::has(const BodyId& id) const noexcept {
  const std::lock_guard lock(mutex_);
  return kept_.contains(id) || cachedAt_.contains(id);
}

void SharedBodies::remove(const BodyId& id) noexcept {
  SharedBody removed;
  Cached gone;
  const std::lock_guard lock(mutex_);
  if (const auto kept = kept_.find(id); kept != kept_.end()) {
    keptBytes_ -= counted_bytes(kept->second->size());
    removed = std::move(kept->second);
    kept_.erase(kept);
    return;
  }
  take_cached_of(id, gone);
}

void SharedBodies::clear() noexcept {
  Kept removed(0, IdHash{hash_seed()});
  const std::lock_guard lock(mutex_);
  kept_.swap(removed);
  keptBytes_ = 0;
}

SharedBodies::Stats SharedBodies::stats() const noexcept {
  const std::lock_guard lock(mutex_);
  return {kept_.size(), keptBytes_, cached_.size(), cachedBytes_};
}

void SharedBodies::take_cached(Cached::iterator body, Cached& gone) noexcept {
  cachedAt_.erase(body->id);
  cachedBytes_ -= counted_bytes(body->body->size());
  gone.splice(gone.begin(), cached_, body);
}

void SharedBodies::take_cached_of(const BodyId& id, Cached& gone) noexcept {
  if (const auto cached = cachedAt_.find(id); cached != cachedAt_.end()) take_cached(cached->second, gone);
}

}  // namespace mds
