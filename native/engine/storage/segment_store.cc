// See segment_store.h.
#include "storage/segment_store.h"

#include <algorithm>
#include <cstring>
#include <list>
#include <new>
#include <optional>
#include <unordered_set>

#include "base/limits.h"
#include "storage/crc32c.h"
#include "storage/stored_segment.h"

namespace mds {
namespace {

// Live-docs record: u64 version, u32 slots, u32 0, then the words.
constexpr size_t kLiveHeaderBytes = 16;

std::vector<uint8_t> encode_live(const LiveDocs& live, uint64_t version, uint32_t slots) {
  std::vector<uint8_t> bytes(kLiveHeaderBytes + live.words().size() * sizeof(uint64_t));
  std::memcpy(bytes.data(), &version, sizeof version);
  std::memcpy(bytes.data() + 8, &slots, sizeof slots);
  std::memcpy(bytes.data() + kLiveHeaderBytes, live.words().data(), live.words().size() * sizeof(uint64_t));
  return bytes;
}

}  // namespace

// Serials whose records are no longer in use and have not been deleted by a sweep yet. Outlives the store,
// because the last reader of a segment may end after it.
struct SegmentStore::Released {
  std::mutex mutex;
  std::list<uint64_t> serials;
};

// A reference to the records of a serial. Every writer and reader has one. Its destructor passes the serial
// to the sweeps without allocating, so that no serial is lost.
class SegmentStore::Hold {
 public:
  Hold(std::shared_ptr<Released> released, uint64_t serial) : released_(std::move(released)), serial_{serial} {}
  ~Hold() {
    const std::lock_guard lock(released_->mutex);
    released_->serials.splice(released_->serials.end(), serial_);
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  std::shared_ptr<Released> released_;
  std::list<uint64_t> serial_;
};

// Keeps the map open while a segment is read, and keeps the pointers to its chunks valid for the views.
class SegmentStore::Lease final : public ChunkLease {
 public:
  Lease(std::shared_ptr<IndexEnv> env, std::unique_ptr<Hold> hold, StoredChunks stored) : hold_(std::move(hold)), stored_(std::move(stored)), env_(std::move(env)) {}
  [[nodiscard]] const StoredChunks& stored() const noexcept { return stored_; }
  [[nodiscard]] uint8_t key_id() const noexcept override { return stored_.keyId; }

 private:
  std::unique_ptr<Hold> hold_;  // destroyed last
  StoredChunks stored_;
  std::shared_ptr<IndexEnv> env_;
};

SegmentStore::SegmentStore(std::shared_ptr<IndexEnv> env, Options options)
    : env_(std::move(env)), options_(std::move(options)), released_(std::make_shared<Released>()) {}

void SegmentStore::at_point(const char* point) const {
  if (options_.onPoint) options_.onPoint(point);
}

Result<std::unique_ptr<SegmentStore>> SegmentStore::open(const std::string& directory, Options options, StoredIndex& found) {
  Result<std::unique_ptr<IndexEnv>> env = IndexEnv::open(directory, options.mapBytes, options.isReadOnly);
  if (!env.ok()) return env.status();
  std::unique_ptr<SegmentStore> store(new SegmentStore(std::shared_ptr<IndexEnv>(std::move(env.value())), std::move(options)));
  Status status = store->load(found);
  if (!status.ok()) return status;
  return store;
}

Status SegmentStore::load(StoredIndex& found) {
  const std::lock_guard lock(mutex_);
  const Result<std::vector<uint8_t>> stored = env_->read({RecordKind::kManifest, 0, 0});
  if (!stored.ok()) return stored.status();
  if (!stored.value().empty()) {
    Result<Manifest> manifest = decode_manifest(stored.value());
    if (!manifest.ok()) return manifest.status();
    found.manifest = std::move(manifest.value());
  }
  for (const ManifestSegment& entry : found.manifest.segments) {
    liveVersionNext_ = std::max(liveVersionNext_, entry.liveVersion + 1);
    known_[entry.serial].isCommitted = true;
    Result<SegmentRef> segment = load_segment(entry);
    if (segment.ok()) {
      found.segments.push_back(std::move(segment.value()));
    } else if (segment.status().code() == StatusCode::kCorrupt) {
      found.damaged.emplace_back(segment.status().message());
    } else {
      return segment.status();
    }
  }
  if (options_.isReadOnly) return {};
  Status status = find_leftovers();
  if (!status.ok()) return status;
  // A failed sweep loses nothing of the index. Later sweeps retry.
  status = sweep_locked();
  return env_->is_lost() ? status : Status();
}

Result<SegmentRef> SegmentStore::load_segment(const ManifestSegment& entry) {
  Result<std::shared_ptr<const Segment>> segment = open_segment(entry.serial, entry.descriptorCrc, std::make_unique<Hold>(released_, entry.serial));
  if (!segment.ok()) return segment.status();
  SegmentRef ref{segment.value(), nullptr, 0};
  if (entry.liveVersion == 0) return ref;
  const Result<std::vector<uint8_t>> bytes = env_->read({RecordKind::kLiveDocs, entry.serial, 0});
  if (!bytes.ok()) return bytes.status();
  const uint32_t slots = ref.segment->slot_count();
  const size_t words = (size_t{slots} + 63) / 64;
  const Status damaged = Status::corrupt("stored segment " + std::to_string(entry.serial) + ": live bits");
  if (crc32c(bytes.value()) != entry.liveCrc || bytes.value().size() != kLiveHeaderBytes + words * sizeof(uint64_t)) return damaged;
  if (load_u64(bytes.value().data()) != entry.liveVersion || load_u32(bytes.value().data() + 8) != slots) return damaged;
  std::vector<uint64_t> copied(words);
  std::memcpy(copied.data(), bytes.value().data() + kLiveHeaderBytes, words * sizeof(uint64_t));
  ref.live = std::make_shared<const LiveDocs>(slots, std::move(copied));
  known_[entry.serial].live = {ref.live, entry.liveVersion, entry.liveCrc};
  return ref;
}

Result<std::shared_ptr<const Segment>> SegmentStore::open_segment(uint64_t serial, uint32_t descriptorCrc, std::unique_ptr<Hold> hold) {
  Result<StoredChunks> stored = open_stored_chunks(*env_, serial, descriptorCrc, options_.sealing.get());
  if (!stored.ok()) return stored.status();
  const uint64_t bytes = stored.value().bytes;
  const uint64_t heapBytes = stored.value().keyId == 0 ? 0 : bytes;
  Known& known = known_[serial];
  known.descriptorCrc = descriptorCrc;
  known.chunkCount = static_cast<uint32_t>(stored.value().chunks.size());
  auto lease = std::make_unique<Lease>(env_, std::move(hold), std::move(stored.value()));
  const SegmentViews views = views_of(lease->stored());
  Result<std::shared_ptr<const Segment>> segment = Segment::open(serial, views, std::move(lease), bytes, heapBytes);
  for (uint32_t slot = 0; segment.ok() && slot < segment.value()->slot_count(); ++slot) known.lsnLast = std::max(known.lsnLast, segment.value()->lsn(slot));
  return segment;
}

Result<std::shared_ptr<const Segment>> SegmentStore::write_segment(const Segment& segment, const std::atomic<bool>& stop) {
  at_point("before chunks");
  std::optional<ChunkSeal> seal;
  const uint8_t keyId = options_.sealing == nullptr ? 0 : options_.sealing->key_id_for(segment);
  if (keyId != 0) {
    const std::optional<AeadKey> key = options_.sealing->find_key(keyId);
    if (!key) return Status::io("no key to seal a segment with");
    seal = ChunkSeal{options_.sealing->aead(), keyId, *key};
  }
  auto hold = std::make_unique<Hold>(released_, segment.serial());
  {
    const std::lock_guard lock(mutex_);
    known_[segment.serial()].chunkCount = chunk_count_of(segment.columns());
  }
  const Result<StoredDescriptor> stored = write_stored_segment(*env_, segment.serial(), segment.columns(), stop, seal ? &*seal : nullptr);
  if (!stored.ok()) {
    // Leftover chunks are deleted immediately to free space on a full disk. If the deletion fails as well, a
    // later sweep retries it.
    hold.reset();
    (void)sweep();
    return stored.status();
  }
  at_point("after chunks");
  const std::lock_guard lock(mutex_);
  return open_segment(segment.serial(), stored.value().crc, std::move(hold));
}

bool SegmentStore::is_sealed_otherwise(const Segment& segment) const { return options_.sealing != nullptr && segment.key_id() != options_.sealing->key_id_for(segment); }

Status SegmentStore::commit(Manifest manifest, const std::vector<SegmentRef>& segments) {
  const std::lock_guard lock(mutex_);
  manifest.segments.clear();
  std::vector<std::vector<uint8_t>> liveRecords;
  std::vector<std::pair<uint64_t, KnownLive>> written;
  for (const SegmentRef& ref : segments) {
    const uint64_t serial = ref.segment->serial();
    const Known& known = known_[serial];
    KnownLive live = ref.live == nullptr ? KnownLive() : known.live;
    if (ref.live != nullptr && ref.live != known.live.live) {
      liveRecords.push_back(encode_live(*ref.live, liveVersionNext_, ref.segment->slot_count()));
      live = {ref.live, liveVersionNext_++, crc32c(liveRecords.back())};
      written.emplace_back(serial, live);
    }
    manifest.segments.push_back({serial, known.lsnLast, live.version, known.descriptorCrc, live.crc});
  }
  const std::vector<uint8_t> bytes = encode_manifest(manifest);
  std::vector<Record> records = {{{RecordKind::kManifest, 0, 0}, bytes}};
  for (size_t index = 0; index < written.size(); ++index) records.push_back({{RecordKind::kLiveDocs, written[index].first, 0}, liveRecords[index]});
  at_point("before manifest");
  Status status = env_->write(records, {});
  if (!status.ok()) return status;
  at_point("after manifest");
  for (auto& [serial, known] : known_) known.isCommitted = false;
  for (const ManifestSegment& entry : manifest.segments) known_[entry.serial].isCommitted = true;
  for (auto& [serial, live] : written) known_[serial].live = std::move(live);
  return {};
}

Status SegmentStore::sweep() noexcept {
  const std::lock_guard lock(mutex_);
  return sweep_locked();
}

// Forgets a serial only after its records have been deleted. A failed deletion is retried by the next sweep.
Status SegmentStore::sweep_locked() noexcept {
  try {
    std::vector<uint64_t> serials;
    {
      const std::lock_guard releasedLock(released_->mutex);
      serials.assign(released_->serials.begin(), released_->serials.end());
    }
    std::vector<RecordKey> keys = leftovers_;
    std::unordered_set<uint64_t> deleted;
    for (const uint64_t serial : serials) {
      const auto found = known_.find(serial);
      // Not in use, but still part of the index on disk. Checked again after the next commit.
      if (found != known_.end() && found->second.isCommitted) continue;
      deleted.insert(serial);
      if (found == known_.end()) continue;
      for (uint32_t number = 0; number < found->second.chunkCount; ++number) keys.push_back({RecordKind::kChunk, serial, number});
      keys.push_back({RecordKind::kDescriptor, serial, 0});
      keys.push_back({RecordKind::kLiveDocs, serial, 0});
    }
    if (!keys.empty()) at_point("before deletion");
    Status status = delete_records(keys);
    if (!status.ok()) return status;
    leftovers_.clear();
    for (const uint64_t serial : deleted) known_.erase(serial);
    const std::lock_guard releasedLock(released_->mutex);
    released_->serials.remove_if([&deleted](uint64_t serial) { return deleted.contains(serial); });
    return {};
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

Status SegmentStore::delete_records(const std::vector<RecordKey>& keys) {
  for (size_t begin = 0; begin < keys.size(); begin += kStoreDeletesPerTransaction) {
    const size_t count = std::min<size_t>(kStoreDeletesPerTransaction, keys.size() - begin);
    Status status = env_->write({}, std::span(keys).subspan(begin, count));
    if (!status.ok()) return status;
  }
  return {};
}

Status SegmentStore::find_leftovers() {
  const Result<std::vector<RecordKey>> keys = env_->keys();
  if (!keys.ok()) return keys.status();
  std::unordered_map<uint64_t, uint32_t> chunks;
  for (const RecordKey& key : keys.value()) {
    if (key.kind != RecordKind::kManifest && !known_.contains(key.serial)) leftovers_.push_back(key);
    if (key.kind == RecordKind::kChunk) ++chunks[key.serial];
  }
  // For damaged segments that were excluded, this list is the only source of their chunk counts once the
  // manifest no longer lists them.
  for (auto& [serial, known] : known_) known.chunkCount = std::max(known.chunkCount, chunks[serial]);
  return {};
}

}  // namespace mds
