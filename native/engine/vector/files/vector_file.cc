// See vector_file.h.
#include "vector/files/vector_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "storage/crc32c.h"
#include "vector/codes/vector_codes.h"
#include "vector/files/mapped_file.h"

namespace mds {
namespace {

constexpr uint32_t kVectorGroupMagic = 0x3147564D;  // "MVG1"
constexpr uint64_t kGroupAlignment = 4096;

struct GroupHeader {
  uint32_t magic;
  uint32_t collection;
  uint32_t dims;
  uint32_t generation;
  uint32_t slotBegin;
  uint32_t slots;
  uint32_t payloadCrc;
  uint32_t headerCrc;  // of all preceding fields
};
static_assert(sizeof(GroupHeader) == 32);
constexpr uint64_t kGroupHeaderBytes = 64;
// The maximum length of a valid vector. The widest vector with the largest elements has a length of 9e16.
constexpr float kNormMax = 1e17F;

// Offsets of the columns of a group with the given number of slots, relative to the end of its header.
struct GroupLayout {
  uint64_t coded;
  uint64_t codes;
  uint64_t full;
  uint64_t payload;  // bytes of all columns
  uint64_t total;    // with header and padding

  GroupLayout(uint32_t dims, uint64_t slots) noexcept
      : coded(slots * sizeof(SlotIdentity)),
        codes((coded + slots * sizeof(CodedVector) + 63) / 64 * 64),
        full(codes + slots * code_stride(dims)),
        payload(full + slots * dims * sizeof(float)),
        total((kGroupHeaderBytes + payload + kGroupAlignment - 1) / kGroupAlignment * kGroupAlignment) {}
};

uint32_t header_crc(const GroupHeader& header) noexcept { return crc32c({reinterpret_cast<const uint8_t*>(&header), offsetof(GroupHeader, headerCrc)}); }

template <class Value>
Bytes bytes_of(const Value* values, size_t count) noexcept {
  return {reinterpret_cast<const uint8_t*>(values), count * sizeof(Value)};
}

// Writes the columns of slots one after another and accumulates their checksum. `at`: offset of the next
// byte.
class ColumnWriter {
 public:
  ColumnWriter(int descriptor, uint64_t at) noexcept : descriptor_(descriptor), at_(at) {}

  [[nodiscard]] Status write(Bytes bytes) {
    crc_ = crc32c(bytes, crc_);
    if (buffer_.size() + bytes.size() > kBufferBytes) {
      const Status flushed = flush();
      if (!flushed.ok()) return flushed;
    }
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    return {};
  }
  [[nodiscard]] Status flush() {
    const Status written = write_at(descriptor_, buffer_, at_);
    at_ += buffer_.size();
    buffer_.clear();
    return written;
  }
  [[nodiscard]] uint32_t crc() const noexcept { return crc_; }

 private:
  static constexpr size_t kBufferBytes = size_t{256} << 10;

  int descriptor_;
  uint64_t at_;
  uint32_t crc_ = 0;
  std::vector<uint8_t> buffer_;
};

Status write_columns(ColumnWriter& writer, const SetView& view, uint32_t begin, uint32_t end) {
  const GroupLayout layout(view.dims, end - begin);
  Status status;
  for (uint32_t slot = begin; status.ok() && slot < end; ++slot) status = writer.write(bytes_of(&view.identity(slot), 1));
  for (uint32_t slot = begin; status.ok() && slot < end; ++slot) status = writer.write(bytes_of(&view.coded(slot), 1));
  const uint8_t zeros[64] = {};
  if (status.ok()) status = writer.write(Bytes(zeros, layout.codes - layout.coded - uint64_t{end - begin} * sizeof(CodedVector)));
  for (uint32_t slot = begin; status.ok() && slot < end; ++slot) status = writer.write(bytes_of(view.codes(slot), code_stride(view.dims)));
  for (uint32_t slot = begin; status.ok() && slot < end; ++slot) status = writer.write(bytes_of(view.full(slot), view.dims));
  return status.ok() ? writer.flush() : status;
}

bool is_plausible(const GroupHeader& header, const VectorFileName& name, uint32_t slotBegin) noexcept {
  return header.magic == kVectorGroupMagic && header.headerCrc == header_crc(header) && header.collection == name.collection && header.dims == name.dims &&
         header.generation == name.generation && header.slotBegin == slotBegin && header.slots > 0 && header.slots <= kVectorSlotsMax - slotBegin;
}

// Returns a column of a group without copying it.
template <class Value>
std::span<const Value> column_at(Bytes payload, uint64_t offset, uint64_t count) noexcept {
  return {reinterpret_cast<const Value*>(payload.data() + offset), static_cast<size_t>(count)};
}

// A checksum proves that the bytes are unchanged since they were written, not that they are valid. Values
// that could corrupt a search are checked here.
bool are_plausible(std::span<const SlotIdentity> identities, std::span<const CodedVector> coded, std::span<const float> full, uint64_t lsnMax) noexcept {
  const auto isIdentity = [lsnMax](const SlotIdentity& identity) { return identity.docid != UINT32_MAX && identity.lsn <= lsnMax; };
  const auto isCoded = [](const CodedVector& vector) {
    return vector.scale >= 0 && vector.scale <= vector.norm && vector.residual >= 0 && vector.residual <= kNormMax && vector.norm <= kNormMax;
  };
  return std::all_of(identities.begin(), identities.end(), isIdentity) && std::all_of(coded.begin(), coded.end(), isCoded) && is_usable(full);
}

}  // namespace

std::string VectorFileName::rows() const { return std::to_string(collection) + "-" + std::to_string(dims) + "-" + std::to_string(generation) + ".rows"; }
std::string VectorFileName::graph() const { return std::to_string(collection) + "-" + std::to_string(dims) + "-" + std::to_string(generation) + ".graph"; }

VectorFile::~VectorFile() { (void)close(descriptor_); }

Result<std::unique_ptr<VectorFile>> VectorFile::create(const std::string& directory, const VectorFileName& name) {
  const int descriptor = ::open((directory + "/" + name.rows()).c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0) return io_error("open");
  std::unique_ptr<VectorFile> file(new VectorFile(name, descriptor));
  const Status synced = sync_directory(directory);
  if (!synced.ok()) return synced;
  return file;
}

Result<std::unique_ptr<VectorFile>> VectorFile::open(const std::string& directory, const VectorFileName& name, uint64_t lsnMax, bool& isDamaged) {
  const int descriptor = ::open((directory + "/" + name.rows()).c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return io_error("open");
  std::unique_ptr<VectorFile> file(new VectorFile(name, descriptor));
  struct stat found {};
  if (fstat(descriptor, &found) != 0) return io_error("fstat");
  const auto size = static_cast<uint64_t>(found.st_size);
  if (size >= kGroupHeaderBytes) {
    const Status mapped = file->map_groups(0, size, lsnMax);
    if (!mapped.ok()) return mapped;
  }
  isDamaged = file->bytes_ != size;
  if (isDamaged && ftruncate(descriptor, static_cast<off_t>(file->bytes_)) != 0) return io_error("ftruncate");
  if (isDamaged && fdatasync(descriptor) != 0) return io_error("fdatasync");
  return file;
}

Status VectorFile::map_groups(uint64_t begin, uint64_t end, uint64_t lsnMax) {
  const Result<MappedBytes> mapped = map_file(descriptor_, begin, end);
  if (!mapped.ok()) return mapped.status();
  Bytes rest = mapped.value().bytes;
  while (rest.size() >= kGroupHeaderBytes) {
    GroupHeader header;
    std::memcpy(&header, rest.data(), sizeof header);
    if (!is_plausible(header, name_, slots_)) return {};
    const GroupLayout layout(name_.dims, header.slots);
    if (layout.total > rest.size()) return {};
    const Bytes payload = rest.subspan(kGroupHeaderBytes, static_cast<size_t>(layout.payload));
    if (crc32c(payload) != header.payloadCrc) return {};
    // Groups are page-aligned, and columns are aligned for their element type.
    const auto identities = column_at<SlotIdentity>(payload, 0, header.slots);
    const auto coded = column_at<CodedVector>(payload, layout.coded, header.slots);
    const auto full = column_at<float>(payload, layout.full, uint64_t{header.slots} * name_.dims);
    if (!are_plausible(identities, coded, full, lsnMax)) return {};
    groups_.push_back({header.slotBegin, header.slots, identities.data(), coded.data(), reinterpret_cast<const int8_t*>(payload.data() + layout.codes), full.data(),
                       mapped.value().owner});
    slots_ += header.slots;
    bytes_ += layout.total;
    rest = rest.subspan(static_cast<size_t>(layout.total));
  }
  return {};
}

Status VectorFile::append(const SetView& view, uint32_t end) {
  const GroupLayout layout(name_.dims, end - slots_);
  // The header is written last. Without a header the group does not exist.
  Status status = ftruncate(descriptor_, static_cast<off_t>(bytes_ + layout.total)) == 0 ? Status() : io_error("ftruncate");
  ColumnWriter writer(descriptor_, bytes_ + kGroupHeaderBytes);
  if (status.ok()) status = write_columns(writer, view, slots_, end);
  GroupHeader header{kVectorGroupMagic, name_.collection, name_.dims, name_.generation, slots_, end - slots_, writer.crc(), 0};
  header.headerCrc = header_crc(header);
  if (status.ok()) status = write_at(descriptor_, bytes_of(&header, 1), bytes_);
  if (status.ok() && fdatasync(descriptor_) != 0) status = io_error("fdatasync");
  const uint64_t before = bytes_;
  if (status.ok()) status = map_groups(before, before + layout.total, UINT64_MAX);
  if (status.ok() && bytes_ == before) status = Status::corrupt("vector index: what was written is not what is read");
  if (!status.ok()) (void)ftruncate(descriptor_, static_cast<off_t>(before));
  return status;
}

const StoredGroup& VectorFile::group_of(uint32_t slot) const noexcept {
  const auto after = std::upper_bound(groups_.begin(), groups_.end(), slot, [](uint32_t at, const StoredGroup& group) { return at < group.slotBegin; });
  return *(after - 1);
}

}  // namespace mds
