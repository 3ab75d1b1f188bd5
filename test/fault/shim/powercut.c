/*
 * Preload shim that records, in one total order, the calls of a process on the files below MDS_FAULT_DIR, so
 * that a test can rebuild what a power cut would have left.
 * Order: the log (MDS_FAULT_LOG) is opened with O_APPEND and every record is one writev. The position in the
 * file is therefore the order, across threads and across processes: the client appends its own
 * acknowledgement records to the same file. A write is recorded after it returned. A flush is recorded before
 * it begins and after it returned. A flush covers exactly the writes recorded before its beginning; a write
 * that overlaps a flush counts as unflushed. A write to an O_DSYNC or O_SYNC descriptor is recorded as
 * flushed by itself. The log survives SIGKILL of the process (page cache).
 * MDS_FAULT_SWALLOW_FLUSHES turns the program into one built without flushes: fsync and fdatasync report
 * success and do nothing, and O_DSYNC is ignored.
 * Record (little endian): u32 kind, u32 file, u64 offset, u32 payload bytes, u32 sequence of the flush or 0;
 * then the payload. Reader: test/fault/power_cut/io_log.ts.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "watched_files.h"

enum kind {
  KIND_OPEN = 1,
  KIND_WRITE = 2,
  KIND_WRITE_FLUSHED = 3,
  KIND_TRUNCATE = 4,
  KIND_FLUSH_BEGIN = 5,
  KIND_FLUSH_END = 6,
  KIND_RENAME = 7,
  KIND_UNLINK = 8,
  KIND_BLIND = 9,
};

/*
 * A watched descriptor's value: file number in the upper 30 bits, then "is flushed by each write", then "is a
 * directory". File numbers start at 1.
 */
#define FILE_OF(value) ((value) >> 2)
#define VALUE_FLUSHED 2U
#define VALUE_DIRECTORY 1U

/* Linux accepts at most this many parts in one vector; one is the record's head. */
#define PARTS_MAX 1024

static int log_fd = -1;
static bool swallow_flushes;
static _Atomic uint32_t files = 1;
static _Atomic uint32_t flushes = 1;

static int (*real_open)(const char *, int, ...);
static int (*real_open64)(const char *, int, ...);
static int (*real_openat)(int, const char *, int, ...);
static int (*real_openat64)(int, const char *, int, ...);
static int (*real_close)(int);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_writev)(int, const struct iovec *, int);
static ssize_t (*real_pwritev)(int, const struct iovec *, int, off_t);
static int (*real_ftruncate)(int, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_rename)(const char *, const char *);
static int (*real_unlink)(const char *);
static void *(*real_mmap)(void *, size_t, int, int, int, off_t);

__attribute__((constructor)) static void start(void) {
  RESOLVE(real_open, "open");
  RESOLVE(real_open64, "open64");
  RESOLVE(real_openat, "openat");
  RESOLVE(real_openat64, "openat64");
  RESOLVE(real_close, "close");
  RESOLVE(real_write, "write");
  RESOLVE(real_pwrite, "pwrite64");
  RESOLVE(real_writev, "writev");
  RESOLVE(real_pwritev, "pwritev64");
  RESOLVE(real_ftruncate, "ftruncate64");
  RESOLVE(real_fsync, "fsync");
  RESOLVE(real_fdatasync, "fdatasync");
  RESOLVE(real_rename, "rename");
  RESOLVE(real_unlink, "unlink");
  RESOLVE(real_mmap, "mmap64");
  watched_start();
  swallow_flushes = getenv("MDS_FAULT_SWALLOW_FLUSHES") != NULL;
  const char *path = getenv("MDS_FAULT_LOG");
  if (watched_directory_bytes != 0 && path != NULL) {
    log_fd = real_open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (log_fd < 0) shim_fail("cannot open the log");
  } else {
    watched_directory_bytes = 0;
  }
}

static void append(enum kind kind, uint32_t file, uint64_t offset, uint32_t sequence, const struct iovec *parts, int count, size_t bytes) {
  struct {
    uint32_t kind, file;
    uint64_t offset;
    uint32_t bytes, sequence;
  } head = {(uint32_t)kind, file, offset, (uint32_t)bytes, sequence};
  struct iovec vector[PARTS_MAX];
  if (count >= PARTS_MAX || bytes > UINT32_MAX) shim_fail("write too large for one record");
  vector[0] = (struct iovec){&head, sizeof(head)};
  size_t left = bytes;
  int used = 1;
  for (int i = 0; i < count && left > 0; i++, used++) {
    vector[used] = parts[i];
    if (vector[used].iov_len > left) vector[used].iov_len = left;
    left -= vector[used].iov_len;
  }
  int kept_errno = errno;
  if (real_writev(log_fd, vector, used) != (ssize_t)(sizeof(head) + bytes)) shim_fail("short write to the log");
  errno = kept_errno;
}

static void append_text(enum kind kind, uint32_t file, uint64_t offset, const char *text, size_t bytes) {
  struct iovec part = {(void *)(uintptr_t)text, bytes};
  append(kind, file, offset, 0, &part, 1, bytes);
}

static void record_write(int fd, uint32_t value, const struct iovec *parts, int count, ssize_t written, off_t offset) {
  if (value == 0 || written <= 0) return;
  if (offset < 0) offset = lseek(fd, 0, SEEK_CUR) - written;
  append(value & VALUE_FLUSHED ? KIND_WRITE_FLUSHED : KIND_WRITE, FILE_OF(value), (uint64_t)offset, 0, parts, count, (size_t)written);
}

/*
 * KIND_OPEN: offset 1 = the file was created or emptied by this open. The directory itself has the path ".".
 */
static int opened(int fd, const char *path, int flags, bool existed) {
  char relative[PATH_MAX];
  struct stat status;
  if (fd < 0 || !watched_path(path, relative) || fstat(fd, &status) != 0) return fd;
  bool directory = S_ISDIR(status.st_mode);
  if (!directory && !S_ISREG(status.st_mode)) return fd;
  uint32_t file = atomic_fetch_add(&files, 1);
  const char *name = relative[0] == '\0' ? "." : relative;
  bool fresh = !directory && (!existed || (flags & O_TRUNC) != 0);
  append_text(KIND_OPEN, file, fresh ? 1 : 0, name, strlen(name));
  uint32_t value = file << 2;
  if ((flags & O_DSYNC) != 0 && !swallow_flushes) value |= VALUE_FLUSHED; /* O_SYNC contains O_DSYNC */
  if (directory) value |= VALUE_DIRECTORY;
  watched_set(fd, value);
  return fd;
}

#define OPEN_MODE(mode)                           \
  mode_t mode = 0;                                \
  if ((flags & (O_CREAT | O_TMPFILE)) != 0) {     \
    va_list arguments;                            \
    va_start(arguments, flags);                   \
    mode = (mode_t)va_arg(arguments, int);        \
    va_end(arguments);                            \
  }

static bool exists(const char *path) { return access(path, F_OK) == 0; }

int open(const char *path, int flags, ...) {
  OPEN_MODE(mode)
  bool existed = exists(path);
  return opened(real_open(path, flags, mode), path, flags, existed);
}

int open64(const char *path, int flags, ...) {
  OPEN_MODE(mode)
  bool existed = exists(path);
  return opened(real_open64(path, flags, mode), path, flags, existed);
}

/*
 * A relative path below a directory descriptor would need that directory's name. Nothing here uses one for a
 * file it writes, and the whole-log comparison would reveal it.
 */
int openat(int directory, const char *path, int flags, ...) {
  OPEN_MODE(mode)
  bool existed = exists(path);
  int fd = real_openat(directory, path, flags, mode);
  return directory == AT_FDCWD || path[0] == '/' ? opened(fd, path, flags, existed) : fd;
}

int openat64(int directory, const char *path, int flags, ...) {
  OPEN_MODE(mode)
  bool existed = exists(path);
  int fd = real_openat64(directory, path, flags, mode);
  return directory == AT_FDCWD || path[0] == '/' ? opened(fd, path, flags, existed) : fd;
}

int close(int fd) {
  if (watched_get(fd) != 0) watched_set(fd, 0);
  return real_close(fd);
}

ssize_t write(int fd, const void *bytes, size_t count) {
  ssize_t written = real_write(fd, bytes, count);
  struct iovec part = {(void *)(uintptr_t)bytes, count};
  record_write(fd, watched_get(fd), &part, 1, written, -1);
  return written;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
  ssize_t written = real_pwrite(fd, bytes, count, offset);
  struct iovec part = {(void *)(uintptr_t)bytes, count};
  record_write(fd, watched_get(fd), &part, 1, written, offset);
  return written;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  ssize_t written = real_writev(fd, parts, count);
  record_write(fd, watched_get(fd), parts, count, written, -1);
  return written;
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
  ssize_t written = real_pwritev(fd, parts, count, offset);
  record_write(fd, watched_get(fd), parts, count, written, offset);
  return written;
}

int ftruncate(int fd, off_t length) {
  int result = real_ftruncate(fd, length);
  uint32_t value = watched_get(fd);
  if (result == 0 && value != 0) append(KIND_TRUNCATE, FILE_OF(value), (uint64_t)length, 0, NULL, 0, 0);
  return result;
}

static int flushed(int fd, int (*flush)(int)) {
  uint32_t value = watched_get(fd);
  if (value == 0) return flush(fd);
  if (swallow_flushes) return 0;
  uint32_t sequence = atomic_fetch_add(&flushes, 1);
  append(KIND_FLUSH_BEGIN, FILE_OF(value), 0, sequence, NULL, 0, 0);
  int result = flush(fd);
  if (result == 0) append(KIND_FLUSH_END, FILE_OF(value), 0, sequence, NULL, 0, 0);
  return result;
}

int fsync(int fd) { return flushed(fd, real_fsync); }

int fdatasync(int fd) { return flushed(fd, real_fdatasync); }

/* Payload: source, NUL, target. */
int rename(const char *source, const char *target) {
  char names[2 * PATH_MAX];
  char below[PATH_MAX];
  bool from = watched_path(source, names);
  bool to = watched_path(target, below);
  int result = real_rename(source, target);
  if (result == 0 && from && to) {
    size_t first = strlen(names) + 1;
    strcpy(names + first, below);
    append_text(KIND_RENAME, 0, 0, names, first + strlen(below));
  } else if (result == 0 && (from || to)) {
    append_text(KIND_BLIND, 0, 0, "rename across the directory's border", 36);
  }
  return result;
}

int unlink(const char *path) {
  char relative[PATH_MAX];
  bool below = watched_path(path, relative);
  int result = real_unlink(path);
  if (result == 0 && below) append_text(KIND_UNLINK, 0, 0, relative, strlen(relative));
  return result;
}

/*
 * A writable shared map can change a file without a recorded call. LMDB maps its lock file in this way, whose
 * contents do not outlive the process.
 */
static void *mapped(void *map, int protection, int flags, int fd) {
  uint32_t value = watched_get(fd);
  if (map != MAP_FAILED && value != 0 && (protection & PROT_WRITE) != 0 && (flags & MAP_SHARED) != 0) append_text(KIND_BLIND, FILE_OF(value), 0, "writable map", 12);
  return map;
}

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
  return mapped(real_mmap(address, length, protection, flags, fd, offset), protection, flags, fd);
}

/* On this ABI off_t has 64 bits: the names with 64 are the same functions. */
ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset) { return pwrite(fd, bytes, count, offset); }
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off_t offset) { return pwritev(fd, parts, count, offset); }
int ftruncate64(int fd, off_t length) { return ftruncate(fd, length); }
void *mmap64(void *address, size_t length, int protection, int flags, int fd, off_t offset) { return mmap(address, length, protection, flags, fd, offset); }
