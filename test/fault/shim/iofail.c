/*
 * Preload shim that lets calls on the files below MDS_FAULT_DIR fail: MDS_FAULT_OP names the call (fsync, fdatasync, pwrite, writev, pwritev, ftruncate), MDS_FAULT_AT the first call that fails
 * (1 = the next one), MDS_FAULT_ERRNO the error (EIO, ENOSPC; HANG: the call never returns), MDS_FAULT_LASTS=1 that all later ones fail too. Calls count only once the file MDS_FAULT_ARM exists, so that the start succeeds.
 * A call that fails does nothing. Any thread; the count is one atomic.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "watched_files.h"

static const char *failing = "";
static const char *arm_path;
static long first;
static bool lasts;
static int error_number;
static bool hangs;
static _Atomic long calls;

static int (*real_open)(const char *, int, ...);
static int (*real_close)(int);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_writev)(int, const struct iovec *, int);
static ssize_t (*real_pwritev)(int, const struct iovec *, int, off_t);
static int (*real_ftruncate)(int, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);

__attribute__((constructor)) static void start(void) {
  RESOLVE(real_open, "open64");
  RESOLVE(real_close, "close");
  RESOLVE(real_pwrite, "pwrite64");
  RESOLVE(real_writev, "writev");
  RESOLVE(real_pwritev, "pwritev64");
  RESOLVE(real_ftruncate, "ftruncate64");
  RESOLVE(real_fsync, "fsync");
  RESOLVE(real_fdatasync, "fdatasync");
  watched_start();
  const char *at = getenv("MDS_FAULT_AT");
  const char *name = getenv("MDS_FAULT_ERRNO");
  if (getenv("MDS_FAULT_OP") != NULL) failing = getenv("MDS_FAULT_OP");
  arm_path = getenv("MDS_FAULT_ARM");
  first = at == NULL ? 1 : strtol(at, NULL, 10);
  lasts = getenv("MDS_FAULT_LASTS") != NULL;
  hangs = name != NULL && strcmp(name, "HANG") == 0;
  error_number = name != NULL && strcmp(name, "ENOSPC") == 0 ? ENOSPC : EIO;
}

static bool fails(int fd, const char *operation) {
  if (watched_get(fd) == 0 || strcmp(operation, failing) != 0 || arm_path == NULL) return false;
  int kept_errno = errno;
  bool armed = access(arm_path, F_OK) == 0;
  errno = kept_errno;
  if (!armed) return false;
  long call = atomic_fetch_add(&calls, 1) + 1;
  if (call != first && !(lasts && call > first)) return false;
  while (hangs) pause();
  errno = error_number;
  return true;
}

static int opened(int fd, const char *path) {
  char relative[PATH_MAX];
  int kept_errno = errno;
  if (fd >= 0 && watched_path(path, relative)) watched_set(fd, 1);
  errno = kept_errno;
  return fd;
}

int open64(const char *path, int flags, ...) {
  mode_t mode = 0;
  if ((flags & (O_CREAT | O_TMPFILE)) != 0) {
    va_list arguments;
    va_start(arguments, flags);
    mode = (mode_t)va_arg(arguments, int);
    va_end(arguments);
  }
  return opened(real_open(path, flags, mode), path);
}

int open(const char *path, int flags, ...) {
  mode_t mode = 0;
  if ((flags & (O_CREAT | O_TMPFILE)) != 0) {
    va_list arguments;
    va_start(arguments, flags);
    mode = (mode_t)va_arg(arguments, int);
    va_end(arguments);
  }
  return opened(real_open(path, flags, mode), path);
}

int close(int fd) {
  if (watched_get(fd) != 0) watched_set(fd, 0);
  return real_close(fd);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) { return fails(fd, "pwrite") ? -1 : real_pwrite(fd, bytes, count, offset); }
ssize_t writev(int fd, const struct iovec *parts, int count) { return fails(fd, "writev") ? -1 : real_writev(fd, parts, count); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) { return fails(fd, "pwritev") ? -1 : real_pwritev(fd, parts, count, offset); }
int ftruncate(int fd, off_t length) { return fails(fd, "ftruncate") ? -1 : real_ftruncate(fd, length); }
int fsync(int fd) { return fails(fd, "fsync") ? -1 : real_fsync(fd); }
int fdatasync(int fd) { return fails(fd, "fdatasync") ? -1 : real_fdatasync(fd); }

/* On this ABI off_t has 64 bits: the names with 64 are the same functions. */
ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset) { return pwrite(fd, bytes, count, offset); }
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off_t offset) { return pwritev(fd, parts, count, offset); }
int ftruncate64(int fd, off_t length) { return ftruncate(fd, length); }
