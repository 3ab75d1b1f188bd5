// See epoch_mark.h.
#include "vector/epoch_mark.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <optional>

#include "storage/crc32c.h"
#include "vector/mapped_file.h"

namespace mds {
namespace {

constexpr uint32_t kMagic = 0x3145564D;  // "MVE1"

struct EpochMark {
  uint32_t magic;
  Epoch epoch;
  uint32_t crc;  // of all fields before it
};
static_assert(sizeof(EpochMark) == 24);

uint32_t crc_of(const EpochMark& mark) noexcept { return crc32c({reinterpret_cast<const uint8_t*>(&mark), offsetof(EpochMark, crc)}); }

std::optional<Epoch> read_mark(const std::string& directory) {
  const int descriptor = ::open((directory + "/" + kEpochMarkName).c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  EpochMark mark{};
  const ssize_t size = pread(descriptor, &mark, sizeof mark, 0);
  (void)close(descriptor);
  if (size != static_cast<ssize_t>(sizeof mark) || mark.magic != kMagic || mark.crc != crc_of(mark)) return std::nullopt;
  return mark.epoch;
}

Status write_mark(const std::string& path, const EpochMark& mark) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0) return io_error("open");
  Status status = write_at(descriptor, {reinterpret_cast<const uint8_t*>(&mark), sizeof mark}, 0);
  if (status.ok() && fdatasync(descriptor) != 0) status = io_error("fdatasync");
  (void)close(descriptor);
  return status;
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
  EpochMark mark{kMagic, epoch, 0};
  mark.crc = crc_of(mark);
  const std::string path = directory + "/" + kEpochMarkName;
  const std::string written = path + ".tmp";
  Status status = write_mark(written, mark);
  if (!status.ok()) return status;
  if (std::rename(written.c_str(), path.c_str()) != 0) return io_error("rename");
  return sync_directory(directory);
}

}  // namespace mds
