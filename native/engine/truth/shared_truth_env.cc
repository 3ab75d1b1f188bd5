#include "truth/shared_truth_env.h"

#include <lmdb.h>
#include <pthread.h>
#include <sys/stat.h>

#include <cstddef>
#include <mutex>
#include <type_traits>

#include "base/limits.h"

namespace mds {
namespace {

// The package's own structures (lmdb 3.5.6, src/lmdb-js.h: SharedEnv, env_tracking_t). A std::vector is three
// pointers in every implementation that the package is built with.
struct SharedEnv {
  MDB_env* env;
  uint64_t device;
  uint64_t inode;
  int users;
  bool hasWrites;
};
static_assert(std::is_trivially_copyable_v<SharedEnv> && sizeof(SharedEnv) == 32);

struct PackageEnvs {
  pthread_mutex_t* mutex;
  const SharedEnv* begin;
  const SharedEnv* end;
  const SharedEnv* capacity;
};

// More envs than a process of this server opens. A longer list has another layout.
constexpr ptrdiff_t kPackageEnvsMax = 64;

// A lock file of another version may have more slots than this one asks for.
constexpr unsigned int kTruthReadersMax = 4096;

struct PackageLock {
  explicit PackageLock(pthread_mutex_t* mutex) noexcept : mutex_(mutex) { (void)pthread_mutex_lock(mutex); }
  ~PackageLock() { (void)pthread_mutex_unlock(mutex_); }
  PackageLock(const PackageLock&) = delete;
  PackageLock& operator=(const PackageLock&) = delete;

 private:
  pthread_mutex_t* mutex_;
};

MDB_env* find_env(const PackageEnvs& envs, const struct stat& file) noexcept {
  const PackageLock lock(envs.mutex);
  const ptrdiff_t count = envs.end - envs.begin;
  if (envs.begin == nullptr || count < 0 || count > kPackageEnvsMax || envs.capacity < envs.end) return nullptr;
  for (const SharedEnv* each = envs.begin; each != envs.end; ++each)
    if (each->device == file.st_dev && each->inode == file.st_ino) return each->env;
  return nullptr;
}

// From the fields at the beginning of MDB_env to those behind its parts of variable layout, so that an
// unknown layout is found before a pointer is followed.
bool has_shape(MDB_env* env, const struct stat& file, const TruthEnvShape& shape) noexcept {
  mdb_filehandle_t descriptor{};
  struct stat opened {};
  if (mdb_env_get_fd(env, &descriptor) != MDB_SUCCESS || fstat(descriptor, &opened) != 0 || opened.st_dev != file.st_dev || opened.st_ino != file.st_ino) return false;
  unsigned int readers = 0;
  unsigned int flags = 0;
  if (mdb_env_get_maxreaders(env, &readers) != MDB_SUCCESS || readers < shape.readersMin || readers > kTruthReadersMax) return false;
  if (mdb_env_get_flags(env, &flags) != MDB_SUCCESS || (flags & MDB_NOTLS) == 0 || (flags & (MDB_WRITEMAP | MDB_NOLOCK | MDB_REMAP_CHUNKS)) != 0) return false;
  if (mdb_env_get_maxkeysize(env) != static_cast<int>(kTruthKeyBytesMax)) return false;
  MDB_envinfo info{};
  return mdb_env_info(env, &info) == MDB_SUCCESS && info.me_mapsize == shape.mapBytes;
}

}  // namespace

Result<MDB_env*> shared_truth_env(const void* packageEnvs, const std::string& path, const TruthEnvShape& shape) {
  struct stat file {};
  if (packageEnvs == nullptr || stat(path.c_str(), &file) != 0) return Status::io("the package has no list of envs, or the file is missing");
  const auto& envs = *static_cast<const PackageEnvs*>(packageEnvs);
  if (envs.mutex == nullptr) return Status::corrupt("the package's list of envs has another layout");
  MDB_env* env = find_env(envs, file);
  if (env == nullptr) return Status::corrupt("the package's list of envs does not have the file");
  if (!has_shape(env, file, shape)) return Status::corrupt("the package's env has another layout");
  return env;
}

}  // namespace mds
