// See stored_segment.h.
#include "storage/stored_segment.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "base/limits.h"
#include "storage/chunk_layout.h"
#include "storage/crc32c.h"

namespace mds {
namespace {

template <class T>
void append(std::vector<uint8_t>& out, T value) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof value);
}

// Size of the proof of one chunk in a descriptor: a checksum, or for a sealed chunk a nonce and a tag.
constexpr size_t kChecksumBytes = sizeof(uint32_t);
constexpr size_t kSealBytes = kAeadNonceBytes + kAeadTagBytes;

// SegmentDescriptor: u32 version, u32 columns, u32 chunks, u32 key id, u64 number of elements of each column,
// then the proof of each chunk.
std::vector<uint8_t> encode_descriptor(const std::vector<uint64_t>& sizes, uint32_t chunks, uint32_t keyId, const std::vector<uint8_t>& proofs) {
  std::vector<uint8_t> bytes;
  append(bytes, kSegmentVersion);
  append(bytes, static_cast<uint32_t>(sizes.size()));
  append(bytes, chunks);
  append(bytes, keyId);
  for (const uint64_t size : sizes) append(bytes, size);
  bytes.insert(bytes.end(), proofs.begin(), proofs.end());
  return bytes;
}

// Binds a sealed chunk to its position.
std::array<uint8_t, 17> associated_with(uint64_t serial, uint32_t number) {
  std::array<uint8_t, 17> bytes{};
  bytes[0] = static_cast<uint8_t>(RecordKind::kChunk);
  std::memcpy(bytes.data() + 1, &serial, sizeof serial);
  std::memcpy(bytes.data() + 9, &number, sizeof number);
  std::memcpy(bytes.data() + 13, &kSegmentVersion, sizeof kSegmentVersion);
  return bytes;
}

// 96 random bits. After 2^32 chunks (256 TB of index) under one key, the probability of two equal nonces is
// 2^-33.
std::array<uint8_t, kAeadNonceBytes> fresh_nonce() {
  std::random_device random;
  std::array<uint8_t, kAeadNonceBytes> nonce{};
  for (size_t at = 0; at < nonce.size(); at += sizeof(uint32_t)) {
    const uint32_t word = random();
    std::memcpy(nonce.data() + at, &word, sizeof word);
  }
  return nonce;
}

// Fills chunks in order and writes them in groups.
class ChunkWriter {
 public:
  ChunkWriter(IndexEnv& env, uint64_t serial, const ChunkLayout& layout, const std::atomic<bool>& stop, const ChunkSeal* seal)
      : env_(env), serial_(serial), layout_(layout), stop_(stop), seal_(seal) {}

  // Writes bytes of a column, starting at `offset` of chunk `chunk`. Columns must be written in layout order.
  Status put(uint32_t chunk, size_t offset, Bytes bytes) {
    Status status = advance_to(chunk);
    if (status.ok()) std::memcpy(chunks_.back().data() + offset, bytes.data(), bytes.size());
    return status;
  }

  Status finish(const std::vector<uint64_t>& sizes, StoredDescriptor& stored) {
    Status status = advance_to(static_cast<uint32_t>(layout_.chunkValueBytes.size()));
    if (!status.ok()) return status;
    // The last group needs its proofs first, because the descriptor is written with it.
    status = prove_group();
    if (!status.ok()) return status;
    const std::vector<uint8_t> descriptor = encode_descriptor(sizes, begun_, seal_ == nullptr ? 0 : seal_->keyId, proofs_);
    stored = {crc32c(descriptor), begun_};
    const Record last{{RecordKind::kDescriptor, serial_, 0}, descriptor};
    return write_group(&last);
  }

 private:
  Status advance_to(uint32_t chunk) {
    while (begun_ <= chunk && begun_ < layout_.chunkValueBytes.size()) {
      if (chunks_.size() * kChunkValueBytes >= kStoreTransactionBytes) {
        Status status = prove_group();
        if (status.ok()) status = write_group(nullptr);
        if (!status.ok()) return status;
      }
      chunks_.emplace_back(layout_.chunkValueBytes[begun_++]);
    }
    return {};
  }

  // Computes the proof of each chunk of the open group, and seals the chunk if required. The chunks must be
  // complete.
  Status prove_group() {
    uint32_t number = begun_ - static_cast<uint32_t>(chunks_.size());
    for (std::vector<uint8_t>& filled : chunks_) {
      if (seal_ == nullptr) {
        append(proofs_, crc32c(filled));
        continue;
      }
      const auto nonce = fresh_nonce();
      const auto associated = associated_with(serial_, number++);
      std::array<uint8_t, kAeadTagBytes> tag{};
      std::vector<uint8_t> sealed(filled.size());
      if (!seal_->aead.seal(seal_->key.data(), nonce.data(), associated, filled, sealed.data(), tag.data())) return Status::io("a chunk can't be sealed");
      filled = std::move(sealed);
      proofs_.insert(proofs_.end(), nonce.begin(), nonce.end());
      proofs_.insert(proofs_.end(), tag.begin(), tag.end());
    }
    return {};
  }

  Status write_group(const Record* last) {
    if (stop_.load(std::memory_order_relaxed)) return Status::cancelled();
    std::vector<Record> records;
    uint32_t number = begun_ - static_cast<uint32_t>(chunks_.size());
    for (const std::vector<uint8_t>& chunk : chunks_) records.push_back({{RecordKind::kChunk, serial_, number++}, chunk});
    if (last != nullptr) records.push_back(*last);
    Status status = env_.write(records, {});
    chunks_.clear();
    return status;
  }

  IndexEnv& env_;
  uint64_t serial_;
  const ChunkLayout& layout_;
  const std::atomic<bool>& stop_;
  const ChunkSeal* seal_;
  uint32_t begun_ = 0;
  std::vector<std::vector<uint8_t>> chunks_;  // of the open group
  std::vector<uint8_t> proofs_;
};

template <class T>
Status write_column(ChunkWriter& writer, const std::vector<T>& column, ColumnPosition at) {
  constexpr size_t kPerChunk = kChunkBytes / sizeof(T);
  for (size_t done = 0; done < column.size();) {
    const size_t count = std::min(kPerChunk - at.shift, column.size() - done);
    Status status = writer.put(at.firstChunk, at.shift * sizeof(T), Bytes(reinterpret_cast<const uint8_t*>(column.data() + done), count * sizeof(T)));
    if (!status.ok()) return status;
    done += count;
    at = {at.firstChunk + 1, 0};
  }
  return {};
}

// Number of elements of each column, in the order of zip_columns.
std::vector<uint64_t> sizes_of(const SegmentColumns& columns) {
  std::vector<uint64_t> sizes;
  zip_columns(columns, columns, [&sizes](const auto& column, const auto&, ColumnStart) { sizes.push_back(column.size()); });
  return sizes;
}

Status damaged(uint64_t serial, const std::string& what) { return Status::corrupt("stored segment " + std::to_string(serial) + ": " + what); }

}  // namespace

Result<StoredDescriptor> write_stored_segment(IndexEnv& env, uint64_t serial, const SegmentColumns& columns, const std::atomic<bool>& stop, const ChunkSeal* seal) {
  const std::vector<uint64_t> sizes = sizes_of(columns);
  const ChunkLayout layout = layout_of(sizes);
  ChunkWriter writer(env, serial, layout, stop, seal);
  Status status;
  size_t index = 0;
  zip_columns(columns, columns, [&](const auto& column, const auto&, ColumnStart) {
    const ColumnPosition at = layout.columns[index++];
    if (status.ok()) status = write_column(writer, column, at);
  });
  StoredDescriptor stored{};
  if (status.ok()) status = writer.finish(sizes, stored);
  if (!status.ok()) return status;
  return stored;
}

uint32_t chunk_count_of(const SegmentColumns& columns) { return static_cast<uint32_t>(layout_of(sizes_of(columns)).chunkValueBytes.size()); }

namespace {

struct SegmentDescriptor {
  std::vector<uint64_t> columnSizes;
  uint32_t chunkCount = 0;
  uint8_t keyId = 0;
  std::vector<uint8_t> proofs;
};

Result<SegmentDescriptor> decode_descriptor(Bytes bytes, uint64_t serial) {
  ByteReader reader(bytes);
  const uint32_t version = reader.u32();
  const uint32_t columns = reader.u32();
  const uint32_t chunkCount = reader.u32();
  const uint32_t keyId = reader.u32();
  const uint64_t proofBytes = keyId == 0 ? kChecksumBytes : kSealBytes;
  if (keyId > UINT8_MAX || version != kSegmentVersion || reader.remaining() != uint64_t{columns} * 8 + chunkCount * proofBytes) return damaged(serial, "descriptor");
  SegmentDescriptor found{{}, chunkCount, static_cast<uint8_t>(keyId), {}};
  for (uint32_t column = 0; column < columns; ++column) found.columnSizes.push_back(reader.u64());
  size_t columnsKnown = 0;
  SegmentViews views;
  zip_columns(views, views, [&columnsKnown](const auto&, const auto&, ColumnStart) { ++columnsKnown; });
  if (columns != columnsKnown) return damaged(serial, std::to_string(columns) + " columns");
  for (const uint64_t size : found.columnSizes) {
    if (size > uint64_t{chunkCount} * kChunkBytes) return damaged(serial, "a column larger than all chunks");
  }
  const Bytes rest = bytes.last(reader.remaining());
  found.proofs.assign(rest.begin(), rest.end());
  return found;
}

// Decrypts the chunks into separate memory.
Status open_sealed(const SegmentDescriptor& descriptor, const std::vector<Bytes>& chunks, uint64_t serial, const IndexSealing* sealing, StoredChunks& stored) {
  const std::optional<AeadKey> key = sealing == nullptr ? std::nullopt : sealing->find_key(descriptor.keyId);
  if (!key) return damaged(serial, "sealed under key id " + std::to_string(descriptor.keyId) + ", which is not known");
  const Aead aead = sealing->aead();
  stored.opened.reserve(chunks.size());
  for (uint32_t number = 0; number < chunks.size(); ++number) {
    const uint8_t* nonce = descriptor.proofs.data() + number * kSealBytes;
    // Not initialized, because it is filled immediately.
    stored.opened.emplace_back(new uint8_t[chunks[number].size()]);
    uint8_t* text = stored.opened.back().get();
    const auto associated = associated_with(serial, number);
    if (!aead.open(key->data(), nonce, associated, chunks[number], nonce + kAeadNonceBytes, text)) return damaged(serial, "seal of chunk " + std::to_string(number));
    stored.chunks.push_back(text);
  }
  return {};
}

Status check_clear(const SegmentDescriptor& descriptor, const std::vector<Bytes>& chunks, uint64_t serial, StoredChunks& stored) {
  for (uint32_t number = 0; number < chunks.size(); ++number) {
    if (crc32c(chunks[number]) != load_u32(descriptor.proofs.data() + number * kChecksumBytes)) return damaged(serial, "checksum of chunk " + std::to_string(number));
    stored.chunks.push_back(chunks[number].data());
  }
  return {};
}

}  // namespace

Result<StoredChunks> open_stored_chunks(const IndexEnv& env, uint64_t serial, uint32_t descriptorCrc, const IndexSealing* sealing) {
  const Result<std::vector<uint8_t>> found = env.read({RecordKind::kDescriptor, serial, 0});
  if (!found.ok()) return found.status();
  if (crc32c(found.value()) != descriptorCrc) return damaged(serial, "checksum of the descriptor");
  const Result<SegmentDescriptor> descriptor = decode_descriptor(found.value(), serial);
  if (!descriptor.ok()) return descriptor.status();
  StoredChunks stored;
  stored.columnSizes = descriptor.value().columnSizes;
  stored.keyId = descriptor.value().keyId;
  const ChunkLayout layout = layout_of(stored.columnSizes);
  if (layout.chunkValueBytes.size() != descriptor.value().chunkCount) return damaged(serial, "another number of chunks than its columns need");
  const Result<std::vector<Bytes>> chunks = env.read_chunks(serial, descriptor.value().chunkCount);
  if (!chunks.ok()) return chunks.status();
  for (uint32_t number = 0; number < chunks.value().size(); ++number) {
    if (chunks.value()[number].size() != layout.chunkValueBytes[number]) return damaged(serial, "size of chunk " + std::to_string(number));
    stored.bytes += chunks.value()[number].size();
  }
  Status status =
      stored.keyId == 0 ? check_clear(descriptor.value(), chunks.value(), serial, stored) : open_sealed(descriptor.value(), chunks.value(), serial, sealing, stored);
  if (!status.ok()) return status;
  return stored;
}

SegmentViews views_of(const StoredChunks& stored) {
  const ChunkLayout layout = layout_of(stored.columnSizes);
  SegmentViews views;
  size_t column = 0;
  zip_columns(views, views, [&](auto& view, const auto&, ColumnStart) {
    const ColumnPosition at = layout.columns[column];
    view = std::remove_reference_t<decltype(view)>(stored.chunks.data() + at.firstChunk, at.shift, static_cast<size_t>(stored.columnSizes[column]));
    ++column;
  });
  return views;
}

}  // namespace mds
