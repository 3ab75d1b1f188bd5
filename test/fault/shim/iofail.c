/*
 * Preload shim that makes calls on files below MDS_FAULT_DIR fail. The failures are described in a small
 * file, MDS_FAULT_CONTROL, that all processes of a run map: a test arms the n-th call of a kind from now on,
 * reads which call was hit, and arms the next without a restart. Layout of that file and meaning of its
 * fields: test/fault/shim/fault_control.ts. Manners: `clean` does nothing and reports the error; `torn` does the
 * work (of a write: half of it) and reports the error; `short` writes half, reports that, and lets the next
 * write to that file fail; `hang` never returns. Any thread; the count is one atomic word, so that exactly
 * one call is the n-th.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "watched_files.h"

enum kind { KIND_FLUSH = 1, KIND_WRITE = 2, KIND_TRUNCATE = 4, KIND_NAME = 8 };
enum manner { MANNER_CLEAN = 0, MANNER_TORN = 1, MANNER_SHORT = 2, MANNER_HANG = 3 };

#define CONTROL_BYTES 4096
#define HIT_BYTES_MAX 256
#define ONLY_BYTES_MAX 64
/* Longest vector that is cut for a torn write; Linux accepts no longer one. */
#define PARTS_MAX 1024

struct control {
  _Atomic uint32_t armed;
  uint32_t kinds;
  uint32_t error;
  uint32_t manner;
  uint32_t first;
  uint32_t lasts;
  _Atomic uint32_t calls;
  _Atomic uint32_t hits;
  char hit[HIT_BYTES_MAX];
  /* Only calls on files whose path contains this count; empty: all. */
  char only[ONLY_BYTES_MAX];
};

/* A watched descriptor's value: watched, or watched and its next write fails. */
enum { VALUE_WATCHED = 1, VALUE_CUT_SHORT = 2 };

static struct control *control;

static int (*real_open)(const char *, int, ...);
static int (*real_close)(int);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_writev)(int, const struct iovec *, int);
static ssize_t (*real_pwritev)(int, const struct iovec *, int, off_t);
static ssize_t (*real_sendfile)(int, int, off_t *, size_t);
static ssize_t (*real_copy_file_range)(int, off_t *, int, off_t *, size_t, unsigned int);
static int (*real_ftruncate)(int, off_t);
static int (*real_fallocate)(int, int, off_t, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_rename)(const char *, const char *);
static int (*real_link)(const char *, const char *);
static int (*real_unlink)(const char *);
static int (*real_mkdir)(const char *, mode_t);
static int (*real_rmdir)(const char *);
static char *(*real_mkdtemp)(char *);

__attribute__((constructor)) static void start(void) {
  RESOLVE(real_open, "open64");
  RESOLVE(real_close, "close");
  RESOLVE(real_write, "write");
  RESOLVE(real_pwrite, "pwrite64");
  RESOLVE(real_writev, "writev");
  RESOLVE(real_pwritev, "pwritev64");
  RESOLVE(real_sendfile, "sendfile64");
  RESOLVE(real_copy_file_range, "copy_file_range");
  RESOLVE(real_ftruncate, "ftruncate64");
  RESOLVE(real_fallocate, "fallocate64");
  RESOLVE(real_fsync, "fsync");
  RESOLVE(real_fdatasync, "fdatasync");
  RESOLVE(real_rename, "rename");
  RESOLVE(real_link, "link");
  RESOLVE(real_unlink, "unlink");
  RESOLVE(real_mkdir, "mkdir");
  RESOLVE(real_rmdir, "rmdir");
  RESOLVE(real_mkdtemp, "mkdtemp");
  watched_start();
  const char *path = getenv("MDS_FAULT_CONTROL");
  if (path == NULL) return;
  int file = real_open(path, O_RDWR | O_CLOEXEC);
  void *map = file < 0 ? MAP_FAILED : mmap(NULL, CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (map == MAP_FAILED) shim_fail("no control file");
  real_close(file);
  control = map;
}

/* The first call that is hit is recorded, by one thread. */
static void note(const char *call, const char *path) {
  if (atomic_fetch_add(&control->hits, 1) != 0) return;
  const char *below = strncmp(path, watched_directory, watched_directory_bytes) == 0 ? path + watched_directory_bytes : path;
  snprintf(control->hit, HIT_BYTES_MAX, "%s %s", call, *below == '/' ? below + 1 : below);
}

static bool is_armed(enum kind kind) {
  return control != NULL && atomic_load_explicit(&control->armed, memory_order_acquire) != 0 && (control->kinds & (uint32_t)kind) != 0;
}

static bool counts(const char *path) {
  if (strstr(path, control->only) == NULL) return false;
  uint32_t call = atomic_fetch_add(&control->calls, 1) + 1;
  return call == control->first || (control->lasts != 0 && call > control->first);
}

static void hang_if_asked(void) {
  while (control->manner == MANNER_HANG) pause();
}

static void path_of(int fd, char *path) {
  char link[64];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  ssize_t bytes = readlink(link, path, PATH_MAX - 1);
  path[bytes < 0 ? 0 : bytes] = '\0';
}

static bool fails_on(int fd, enum kind kind, const char *call) {
  uint32_t value = watched_get(fd);
  if (value == 0) return false;
  bool is_rest = kind == KIND_WRITE && value == VALUE_CUT_SHORT;
  if (!is_rest && !is_armed(kind)) return false;
  int kept_errno = errno;
  char path[PATH_MAX];
  path_of(fd, path);
  bool fails = is_rest || counts(path);
  if (fails) {
    note(call, path);
    hang_if_asked();
  }
  errno = kept_errno;
  return fails;
}

static bool fails_at(const char *path, const char *call) {
  char relative[PATH_MAX];
  int kept_errno = errno;
  bool fails = is_armed(KIND_NAME) && watched_path(path, relative) && counts(relative);
  if (fails) {
    note(call, relative);
    hang_if_asked();
  }
  errno = kept_errno;
  return fails;
}

static int refuse(void) {
  errno = (int)control->error;
  return -1;
}

static bool is_torn(void) { return control->manner == MANNER_TORN; }

static int opened(int fd, const char *path) {
  char relative[PATH_MAX];
  int kept_errno = errno;
  if (fd >= 0 && watched_path(path, relative)) watched_set(fd, VALUE_WATCHED);
  errno = kept_errno;
  return fd;
}

#define OPEN_MODE(mode)                       \
  mode_t mode = 0;                            \
  if ((flags & (O_CREAT | O_TMPFILE)) != 0) { \
    va_list arguments;                        \
    va_start(arguments, flags);               \
    mode = (mode_t)va_arg(arguments, int);    \
    va_end(arguments);                        \
  }

/* Creating a file adds a name. Torn: the file exists, but the call fails. */
static int open_watched(const char *path, int flags, mode_t mode) {
  bool makes = (flags & O_CREAT) != 0 && access(path, F_OK) != 0;
  if (!makes || !fails_at(path, "open")) return opened(real_open(path, flags, mode), path);
  if (is_torn()) {
    int fd = real_open(path, flags, mode);
    if (fd >= 0) real_close(fd);
  }
  return refuse();
}

int open64(const char *path, int flags, ...) {
  OPEN_MODE(mode)
  return open_watched(path, flags, mode);
}

int open(const char *path, int flags, ...) {
  OPEN_MODE(mode)
  return open_watched(path, flags, mode);
}

int close(int fd) {
  if (watched_get(fd) != 0) watched_set(fd, 0);
  return real_close(fd);
}

static size_t bytes_of(const struct iovec *parts, int count) {
  size_t bytes = 0;
  for (int i = 0; i < count; i++) bytes += parts[i].iov_len;
  return bytes;
}

/*
 * Writes half of the bytes, at the offset or (-1) at the descriptor's position. @returns the caller's result
 */
static ssize_t half_written(int fd, const struct iovec *parts, int count, off_t offset) {
  size_t half = bytes_of(parts, count) / 2;
  struct iovec cut[PARTS_MAX];
  int used = 0;
  for (size_t left = half; used < count && used < PARTS_MAX && left > 0; used++) {
    cut[used] = parts[used];
    if (cut[used].iov_len > left) cut[used].iov_len = left;
    left -= cut[used].iov_len;
  }
  ssize_t written = 0;
  if (used > 0) written = offset < 0 ? real_writev(fd, cut, used) : real_pwritev(fd, cut, used, offset);
  if (control->manner == MANNER_TORN || written <= 0) return refuse();
  watched_set(fd, VALUE_CUT_SHORT);
  return written;
}

/*
 * Nothing is written. The write after a short write fails only once; otherwise a writer that starts again
 * would never finish.
 */
static ssize_t refused_write(int fd) {
  if (watched_get(fd) == VALUE_CUT_SHORT) watched_set(fd, VALUE_WATCHED);
  return refuse();
}

static ssize_t failed_write(int fd, const struct iovec *parts, int count, off_t offset) {
  bool is_whole = control->manner == MANNER_CLEAN || watched_get(fd) != VALUE_WATCHED;
  return is_whole ? refused_write(fd) : half_written(fd, parts, count, offset);
}

static ssize_t failed_bytes(int fd, const void *bytes, size_t count, off_t offset) {
  struct iovec part = {(void *)(uintptr_t)bytes, count};
  return failed_write(fd, &part, 1, offset);
}

ssize_t write(int fd, const void *bytes, size_t count) { return fails_on(fd, KIND_WRITE, "write") ? failed_bytes(fd, bytes, count, -1) : real_write(fd, bytes, count); }
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
  return fails_on(fd, KIND_WRITE, "pwrite") ? failed_bytes(fd, bytes, count, offset) : real_pwrite(fd, bytes, count, offset);
}
ssize_t writev(int fd, const struct iovec *parts, int count) { return fails_on(fd, KIND_WRITE, "writev") ? failed_write(fd, parts, count, -1) : real_writev(fd, parts, count); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
  return fails_on(fd, KIND_WRITE, "pwritev") ? failed_write(fd, parts, count, offset) : real_pwritev(fd, parts, count, offset);
}
/* Copies inside the kernel: failing as a whole is enough, because the reader checks the copy. */
ssize_t sendfile(int to, int from, off_t *offset, size_t count) { return fails_on(to, KIND_WRITE, "sendfile") ? refused_write(to) : real_sendfile(to, from, offset, count); }
ssize_t copy_file_range(int from, off_t *from_offset, int to, off_t *to_offset, size_t count, unsigned int flags) {
  return fails_on(to, KIND_WRITE, "copy_file_range") ? refused_write(to) : real_copy_file_range(from, from_offset, to, to_offset, count, flags);
}

/* A call that is done or not. Torn: it is done and reported as failed. */
#define ALL_OR_NOTHING(fails, call)   \
  if (!(fails)) return call;          \
  if (is_torn()) (void)!(call);       \
  return refuse();

int ftruncate(int fd, off_t length) { ALL_OR_NOTHING(fails_on(fd, KIND_TRUNCATE, "ftruncate"), real_ftruncate(fd, length)) }
int fallocate(int fd, int mode, off_t offset, off_t length) { ALL_OR_NOTHING(fails_on(fd, KIND_TRUNCATE, "fallocate"), real_fallocate(fd, mode, offset, length)) }
int fsync(int fd) { ALL_OR_NOTHING(fails_on(fd, KIND_FLUSH, "fsync"), real_fsync(fd)) }
int fdatasync(int fd) { ALL_OR_NOTHING(fails_on(fd, KIND_FLUSH, "fdatasync"), real_fdatasync(fd)) }
int rename(const char *source, const char *target) { ALL_OR_NOTHING(fails_at(target, "rename"), real_rename(source, target)) }
int link(const char *source, const char *target) { ALL_OR_NOTHING(fails_at(target, "link"), real_link(source, target)) }
int unlink(const char *path) { ALL_OR_NOTHING(fails_at(path, "unlink"), real_unlink(path)) }
int mkdir(const char *path, mode_t mode) { ALL_OR_NOTHING(fails_at(path, "mkdir"), real_mkdir(path, mode)) }
int rmdir(const char *path) { ALL_OR_NOTHING(fails_at(path, "rmdir"), real_rmdir(path)) }
char *mkdtemp(char *pattern) {
  if (!fails_at(pattern, "mkdtemp")) return real_mkdtemp(pattern);
  if (is_torn() && real_mkdtemp(pattern) == NULL) return NULL;
  (void)refuse();
  return NULL;
}

/* On this ABI off_t has 64 bits: the names with 64 are the same functions. */
ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset) { return pwrite(fd, bytes, count, offset); }
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off_t offset) { return pwritev(fd, parts, count, offset); }
ssize_t sendfile64(int to, int from, off_t *offset, size_t count) { return sendfile(to, from, offset, count); }
int ftruncate64(int fd, off_t length) { return ftruncate(fd, length); }
int fallocate64(int fd, int mode, off_t offset, off_t length) { return fallocate(fd, mode, offset, length); }
