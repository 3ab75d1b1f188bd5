// See graph_file.h.
#include "vector/files/graph_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "storage/crc32c.h"
#include "vector/files/mapped_file.h"

namespace mds {
namespace {

constexpr uint32_t kGraphMagic = 0x3148474D;  // "MGH1"

struct GraphHeader {
  uint32_t magic;
  uint32_t collection;
  uint32_t dims;
  uint32_t generation;
  uint64_t payloadBytes;
  uint32_t payloadCrc;
  uint32_t headerCrc;  // of all preceding fields
};
static_assert(sizeof(GraphHeader) == 32);

uint32_t header_crc(const GraphHeader& header) noexcept { return crc32c({reinterpret_cast<const uint8_t*>(&header), offsetof(GraphHeader, headerCrc)}); }

struct FileDescriptor {
  int number;
  explicit FileDescriptor(int opened) noexcept : number(opened) {}
  ~FileDescriptor() {
    if (number >= 0) (void)close(number);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
};

Status write_graph(int descriptor, const VectorFileName& name, const VectorGraph& graph) {
  constexpr size_t kBufferBytes = size_t{256} << 10;
  GraphHeader header{kGraphMagic, name.collection, name.dims, name.generation, 0, 0, 0};
  std::vector<uint8_t> buffer;
  uint64_t at = sizeof header;
  const auto flush = [&] {
    header.payloadCrc = crc32c(buffer, header.payloadCrc);
    header.payloadBytes += buffer.size();
    const Status written = write_at(descriptor, buffer, at);
    at += buffer.size();
    buffer.clear();
    return written;
  };
  // usearch writes a few bytes at a time, so the output is buffered.
  Status status = graph.save([&](Bytes bytes) {
    buffer.insert(buffer.end(), bytes.begin(), bytes.end());
    return buffer.size() < kBufferBytes ? Status() : flush();
  });
  if (status.ok()) status = flush();
  header.headerCrc = header_crc(header);
  if (status.ok()) status = write_at(descriptor, {reinterpret_cast<const uint8_t*>(&header), sizeof header}, 0);
  return status;
}

}  // namespace

Status save_graph(const std::string& directory, const VectorFileName& name, const VectorGraph& graph) {
  return replace_file(directory, name.graph(), [&](int descriptor) { return write_graph(descriptor, name, graph); });
}

std::unique_ptr<VectorGraph> load_graph(const std::string& directory, const VectorFileName& name, const SetView& view) {
  const FileDescriptor file(::open((directory + "/" + name.graph()).c_str(), O_RDONLY | O_CLOEXEC));
  struct stat found {};
  if (file.number < 0 || fstat(file.number, &found) != 0 || found.st_size <= static_cast<off_t>(sizeof(GraphHeader))) return nullptr;
  const Result<MappedBytes> mapped = map_file(file.number, 0, static_cast<uint64_t>(found.st_size));
  if (!mapped.ok()) return nullptr;
  const Bytes payload = mapped.value().bytes.subspan(sizeof(GraphHeader));
  GraphHeader header;
  std::memcpy(&header, mapped.value().bytes.data(), sizeof header);
  if (header.magic != kGraphMagic || header.headerCrc != header_crc(header) || header.collection != name.collection || header.dims != name.dims ||
      header.generation != name.generation || header.payloadBytes != payload.size() || header.payloadCrc != crc32c(payload)) {
    return nullptr;
  }
  Result<std::unique_ptr<VectorGraph>> loaded = VectorGraph::load(payload, view);
  return loaded.ok() ? std::move(loaded.value()) : nullptr;
}

}  // namespace mds
