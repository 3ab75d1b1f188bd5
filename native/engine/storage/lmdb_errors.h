/*
 * Included before everything else of LMDB's sources by the build (CMakeLists.txt); two corrections of what this LMDB does where a write is refused, after which the index
 * env goes on. It prints up to 126 bytes into the 100 that it has asked of malloc: no block of its own is smaller than that. It says so on stderr without an end of line:
 * the next line of the log would be on the same.
 */
#ifndef MDS_STORAGE_LMDB_ERRORS_H
#define MDS_STORAGE_LMDB_ERRORS_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MDS_LMDB_LINE_BYTES = 160 };

static inline void* mds_lmdb_allocate(size_t bytes) { return malloc(bytes < MDS_LMDB_LINE_BYTES ? MDS_LMDB_LINE_BYTES : bytes); }

__attribute__((format(printf, 2, 3))) static inline int mds_lmdb_tell(FILE* file, const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  return fprintf(file, strchr(format, '\n') == NULL ? "index env: %s\n" : "%s", length < 0 ? format : line);
}

#define malloc(bytes) mds_lmdb_allocate(bytes)
#define fprintf(...) mds_lmdb_tell(__VA_ARGS__)

#endif
