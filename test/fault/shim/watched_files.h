/*
 * The descriptors that a preload shim watches: files below MDS_FAULT_DIR. A flat table indexed by descriptor,
 * written by open and close, read by every write. Any thread; one atomic word per descriptor. The shim would
 * not see a file with a descriptor above the table, so such a descriptor ends the process.
 */
#ifndef MDS_WATCHED_FILES_H
#define MDS_WATCHED_FILES_H

#include <dlfcn.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 65 536 descriptors x 4 B = 256 KB: above any limit on open files that the tests run with. */
#define WATCHED_DESCRIPTORS_MAX 65536

/* 0 = not watched; else the shim's own value for the file behind the descriptor. */
static _Atomic uint32_t watched[WATCHED_DESCRIPTORS_MAX];
static char watched_directory[PATH_MAX];
static size_t watched_directory_bytes;

static void shim_fail(const char *what) {
  fprintf(stderr, "fault shim: %s\n", what);
  abort();
}

/*
 * The next definition of a libc function. Converts an object pointer to a function pointer by a copy: ISO C
 * has no cast for it.
 */
#define RESOLVE(pointer, name)                          \
  do {                                                  \
    void *symbol_ = dlsym(RTLD_NEXT, name);             \
    if (symbol_ == NULL) shim_fail("no libc " name);    \
    memcpy(&(pointer), &symbol_, sizeof(pointer));      \
  } while (0)

static void watched_start(void) {
  const char *directory = getenv("MDS_FAULT_DIR");
  if (directory == NULL || realpath(directory, watched_directory) == NULL) {
    watched_directory_bytes = 0;
    return;
  }
  watched_directory_bytes = strlen(watched_directory);
}

/*
 * Writes the path below the watched directory to `relative` (PATH_MAX bytes) and returns whether `path` is
 * inside it. The file need not exist, its folder must. The directory itself gives "".
 */
static bool watched_path(const char *path, char *relative) {
  char folder[PATH_MAX];
  char resolved[PATH_MAX];
  if (watched_directory_bytes == 0 || path == NULL || strlen(path) >= PATH_MAX) return false;
  if (realpath(path, resolved) == NULL) {
    strcpy(folder, path);
    char *slash = strrchr(folder, '/');
    const char *name = slash == NULL ? folder : slash + 1;
    char parent[PATH_MAX];
    if (slash == NULL) {
      if (realpath(".", parent) == NULL) return false;
    } else {
      char kept = *slash;
      *slash = '\0';
      bool found = realpath(slash == folder ? "/" : folder, parent) != NULL;
      *slash = kept;
      if (!found) return false;
    }
    if (strlen(parent) + strlen(name) + 2 > PATH_MAX) return false;
    strcpy(resolved, parent);
    strcat(resolved, "/");
    strcat(resolved, name);
  }
  if (strncmp(resolved, watched_directory, watched_directory_bytes) != 0) return false;
  const char *rest = resolved + watched_directory_bytes;
  if (*rest != '\0' && *rest != '/') return false;
  strcpy(relative, *rest == '/' ? rest + 1 : rest);
  return true;
}

static uint32_t watched_get(int fd) {
  return fd >= 0 && fd < WATCHED_DESCRIPTORS_MAX ? atomic_load_explicit(&watched[fd], memory_order_acquire) : 0;
}

static void watched_set(int fd, uint32_t value) {
  if (fd < 0) return;
  if (fd >= WATCHED_DESCRIPTORS_MAX) shim_fail("descriptor above the table");
  atomic_store_explicit(&watched[fd], value, memory_order_release);
}

#endif
