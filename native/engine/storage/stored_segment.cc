// See stored_segment.h.
#include "storage/stored_segment.h"

#include <cstring>

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

// Descriptor: u32 version, u32 columns, u32 chunks, u32 0, then u64 elements of each column, then u32 checksum of each chunk.
std::vector<uint8_t> encode_descriptor(const std::vector<uint64_t>& sizes, const std::vector<uint32_t>& checksums) {
  std::vector<uint8_t> bytes;
  append(bytes, kSegmentVersion);
  append(bytes, static_cast<uint32_t>(sizes.size()));
  append(bytes, static_cast<uint32_t>(checksums.size()));
  append(bytes, uint32_t{0});
  for (const uint64_t size : sizes) append(bytes, size);
  for (const uint32_t checksum : checksums) append(bytes, checksum);
  return bytes;
}

// Fills chunks in order and writes them group by group.
class ChunkWriter {
 public:
  ChunkWriter(IndexEnv& env, uint64_t serial, const ChunkLayout& layout, const std::atomic<bool>& stop) : env_(env), serial_(serial), layout_(layout), stop_(stop) {}

  // Bytes of a column from `offset` of chunk `chunk` on; columns come in the order of the layout.
  Status put(uint32_t chunk, size_t offset, Bytes bytes) {
    Status status = advance_to(chunk);
    if (status.ok()) std::memcpy(chunks_.back().data() + offset, bytes.data(), bytes.size());
    return status;
  }

  Status finish(const std::vector<uint64_t>& sizes, StoredDescriptor& stored) {
    Status status = advance_to(static_cast<uint32_t>(layout_.chunkValueBytes.size()));
    if (!status.ok()) return status;
    // Of the open group, too: the descriptor goes with it.
    for (const std::vector<uint8_t>& filled : chunks_) checksums_.push_back(crc32c(filled));
    const std::vector<uint8_t> descriptor = encode_descriptor(sizes, checksums_);
    stored = {crc32c(descriptor), static_cast<uint32_t>(checksums_.size())};
    const Record last{{RecordKind::kDescriptor, serial_, 0}, descriptor};
    return write_group(&last);
  }

  // Takes back what a write that failed half-way has left, best effort: a start would do it, too, but a full disk can't wait for one.
  void undo() {
    std::vector<RecordKey> keys;
    for (uint32_t number = 0; number < begun_; ++number) keys.push_back({RecordKind::kChunk, serial_, number});
    for (size_t begin = 0; begin < keys.size(); begin += kStoreDeletesPerTransaction) {
      const size_t count = std::min<size_t>(kStoreDeletesPerTransaction, keys.size() - begin);
      (void)env_.write({}, std::span(keys).subspan(begin, count));
    }
  }

 private:
  Status advance_to(uint32_t chunk) {
    while (begun_ <= chunk && begun_ < layout_.chunkValueBytes.size()) {
      if (chunks_.size() * kChunkValueBytes >= kStoreTransactionBytes) {
        for (const std::vector<uint8_t>& filled : chunks_) checksums_.push_back(crc32c(filled));
        Status status = write_group(nullptr);
        if (!status.ok()) return status;
      }
      chunks_.emplace_back(layout_.chunkValueBytes[begun_++]);
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
  uint32_t begun_ = 0;
  std::vector<std::vector<uint8_t>> chunks_;  // of the open group
  std::vector<uint32_t> checksums_;
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

Status damaged(uint64_t serial, const std::string& what) { return Status::corrupt("stored segment " + std::to_string(serial) + ": " + what); }

}  // namespace

Result<StoredDescriptor> write_stored_segment(IndexEnv& env, uint64_t serial, const SegmentColumns& columns, const std::atomic<bool>& stop) {
  std::vector<uint64_t> sizes;
  zip_columns(columns, columns, [&sizes](const auto& column, const auto&, ColumnPlace) { sizes.push_back(column.size()); });
  const ChunkLayout layout = layout_of(sizes);
  ChunkWriter writer(env, serial, layout, stop);
  Status status;
  size_t index = 0;
  zip_columns(columns, columns, [&](const auto& column, const auto&, ColumnPlace) {
    const ColumnPosition at = layout.columns[index++];
    if (status.ok()) status = write_column(writer, column, at);
  });
  StoredDescriptor stored{};
  if (status.ok()) status = writer.finish(sizes, stored);
  if (!status.ok()) {
    writer.undo();
    return status;
  }
  return stored;
}

Result<StoredChunks> open_stored_chunks(const IndexEnv& env, uint64_t serial, uint32_t descriptorCrc) {
  const Result<std::vector<uint8_t>> found = env.read({RecordKind::kDescriptor, serial, 0});
  if (!found.ok()) return found.status();
  ByteReader reader(found.value());
  if (crc32c(found.value()) != descriptorCrc) return damaged(serial, "checksum of the descriptor");
  const uint32_t version = reader.u32();
  const uint32_t columns = reader.u32();
  const uint32_t chunkCount = reader.u32();
  if (reader.u32() != 0 || version != kSegmentVersion || reader.remaining() != uint64_t{columns} * 8 + uint64_t{chunkCount} * 4) return damaged(serial, "descriptor");
  StoredChunks stored{};
  for (uint32_t column = 0; column < columns; ++column) stored.columnSizes.push_back(reader.u64());
  size_t columnsKnown = 0;
  SegmentViews views;
  zip_columns(views, views, [&columnsKnown](const auto&, const auto&, ColumnPlace) { ++columnsKnown; });
  if (columns != columnsKnown) return damaged(serial, std::to_string(columns) + " columns");
  for (const uint64_t size : stored.columnSizes) {
    if (size > uint64_t{chunkCount} * kChunkBytes) return damaged(serial, "a column larger than all chunks");
  }
  const ChunkLayout layout = layout_of(stored.columnSizes);
  if (layout.chunkValueBytes.size() != chunkCount) return damaged(serial, "another number of chunks than its columns need");
  const Result<std::vector<Bytes>> chunks = env.read_chunks(serial, chunkCount);
  if (!chunks.ok()) return chunks.status();
  for (uint32_t number = 0; number < chunkCount; ++number) {
    const Bytes chunk = chunks.value()[number];
    const uint32_t checksum = reader.u32();
    if (chunk.size() != layout.chunkValueBytes[number] || crc32c(chunk) != checksum) return damaged(serial, "checksum of chunk " + std::to_string(number));
    stored.chunks.push_back(chunk.data());
    stored.bytes += chunk.size();
  }
  return stored;
}

SegmentViews views_of(const StoredChunks& stored) {
  const ChunkLayout layout = layout_of(stored.columnSizes);
  SegmentViews views;
  size_t column = 0;
  zip_columns(views, views, [&](auto& view, const auto&, ColumnPlace) {
    const ColumnPosition at = layout.columns[column];
    view = std::remove_reference_t<decltype(view)>(stored.chunks.data() + at.firstChunk, at.shift, static_cast<size_t>(stored.columnSizes[column]));
    ++column;
  });
  return views;
}

}  // namespace mds
