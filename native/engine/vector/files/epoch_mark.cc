// See epoch_mark.h.
#include "vector/files/epoch_mark.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <optional>

#include "storage/crc32c.h"
#include "vector/files/mapped_file.h"

namespace mds {
namespace {

constexpr uint32_t kEpochMarkMagic = 0x3145564D;  // "MVE1"

struct EpochMark {
  uint32_t magic;
  Epoch epoch;
  uint32_t crc;  // of all preceding fields
};
static_assert(sizeof(EpochMark) == 24);

uint32_t crc_of(const EpochMark& mark) noexcept { return crc32c({reinterpret_cast<const uint8_t*>(&mark), offsetof(EpochMark, crc)}); }

std::optional<Epoch> read_mark(const std::string& directory) {
  const int descriptor = ::open((directory + "/" + kEpochMarkName).c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  EpochMark mark{};
  const ssize_t size = pread(descriptor, &mark, sizeof mark, 0);
  (void)close(descriptor);
  if (size != static_cast<ssize_t>(sizeof mark) || mark.magic != kEpochMarkMagic || mark.crc != crc_of(mark)) return std::nullopt;
  return mark.epoch;
}

}  // namespace

uint64_t believed_lsn(const std::string& directory, std::span<const EpochSpan> history) {
  const std::optional<Epoch> marked = read_mark(directory);
  for (const EpochSpan& span : history) {
    if (marked && span.epoch == *marked) return span.lsnLast;
  }
  return 0;
}

Status mark_epoch(const std::string& directory, const Epoch& epoch) {
  if (read_mark(directory) == epoch) return {};
  EpochMark mark{kEpochMarkMagic, epoch, 0};
  mark.crc = crc_of(mark);
  const Bytes bytes(reinterpret_cast<const uint8_t*>(&mark), sizeof mark);
  return replace_file(directory, kEpochMarkName, [bytes](int descriptor) { return write_at(descriptor, bytes, 0); });
}

}  // namespace mds
