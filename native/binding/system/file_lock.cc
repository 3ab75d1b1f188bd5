// See file_lock.h.
#include "binding/system/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

namespace mds {
namespace {

std::string problem(const char* what, const std::string& path) { return std::string(what) + " " + path + ": " + std::strerror(errno); }

}  // namespace

std::string lock_file_for_life(const std::string& path, bool isShared) {
  static std::mutex mutex;
  static std::set<std::pair<dev_t, ino_t>> locked;
  const std::lock_guard guard(mutex);
  const int flags = isShared ? O_RDONLY : O_RDWR | O_CREAT;
  const int file = open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
  if (file < 0 && isShared && errno == ENOENT) return {};
  if (file < 0) return problem("cannot open", path);
  struct stat status {};
  std::string failure;
  if (fstat(file, &status) != 0) {
    failure = problem("cannot stat", path);
  } else if (locked.contains({status.st_dev, status.st_ino})) {
    // flock belongs to the open file description, so closing this second descriptor does not release the
    // first lock.
    close(file);
    return {};
  } else if (flock(file, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0) {
    failure = errno == EWOULDBLOCK ? "locked" : problem("cannot lock", path);
  }
  if (!failure.empty()) {
    close(file);
    return failure;
  }
  locked.emplace(status.st_dev, status.st_ino);
  return {};
}

}  // namespace mds
