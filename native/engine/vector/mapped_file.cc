// See mapped_file.h.
#include "vector/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace mds {
namespace {

struct Mapping {
  void* address;
  size_t size;
  Mapping(void* at, size_t bytes) noexcept : address(at), size(bytes) {}
  ~Mapping() { (void)munmap(address, size); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
};

}  // namespace

Status io_error(const char* call) { return Status::io(std::string("vector index: ") + call + ": " + std::strerror(errno)); }

Status write_at(int descriptor, Bytes bytes, uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return io_error("write");
    bytes = bytes.subspan(static_cast<size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
  return {};
}

Status sync_directory(const std::string& directory) {
  const int descriptor = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return io_error("open of the directory");
  const int synced = fsync(descriptor);
  (void)close(descriptor);
  return synced == 0 ? Status() : io_error("fsync of the directory");
}

Result<MappedBytes> map_file(int descriptor, uint64_t begin, uint64_t end) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t first = begin / page * page;
  const auto size = static_cast<size_t>(end - first);
  void* address = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, static_cast<off_t>(first));
  if (address == MAP_FAILED) return io_error("mmap");
  const auto* bytes = static_cast<const uint8_t*>(address) + (begin - first);
  return MappedBytes{{bytes, static_cast<size_t>(end - begin)}, std::make_shared<const Mapping>(address, size)};
}

}  // namespace mds
