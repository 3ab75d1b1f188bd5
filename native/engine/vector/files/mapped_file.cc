// See mapped_file.h.
#include "vector/files/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

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

// A temporary file next to the file that it will replace. Removed if unfinished, to free its space on a full
// disk.
class UnfinishedFile {
 public:
  explicit UnfinishedFile(std::string path) : path_(std::move(path)), descriptor_(open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {}
  ~UnfinishedFile() {
    if (descriptor_ < 0) return;
    (void)close(descriptor_);
    if (!isFinished_) (void)unlink(path_.c_str());
  }
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  [[nodiscard]] Status rename_to(const std::string& path) {
    isFinished_ = std::rename(path_.c_str(), path.c_str()) == 0;
    return isFinished_ ? Status() : io_error("rename");
  }

 private:
  std::string path_;
  int descriptor_;
  bool isFinished_ = false;
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

Status replace_file(const std::string& directory, const std::string& name, const std::function<Status(int)>& write) {
  const std::string path = directory + "/" + name;
  UnfinishedFile file(path + ".tmp");
  if (file.descriptor() < 0) return io_error("open");
  Status status = write(file.descriptor());
  if (status.ok() && fdatasync(file.descriptor()) != 0) status = io_error("fdatasync");
  if (status.ok()) status = file.rename_to(path);
  return status.ok() ? sync_directory(directory) : status;
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
