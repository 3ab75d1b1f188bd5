/*
 * The build (CMakeLists.txt) includes this header before LMDB's own sources. It corrects LMDB's handling of
 * a failed write, because the index env continues to run afterwards. LMDB allocates 100 bytes with malloc,
 * prints up to 126 bytes into them, formats them into a second text of 300 bytes, and frees neither. On a
 * full disk each attempt would leak memory. Here both texts use static memory, which is never freed. LMDB
 * also prints to stderr without a newline, so the next log line would be appended to the same line.
 */
#ifndef MDS_STORAGE_LMDB_ERRORS_H
#define MDS_STORAGE_LMDB_ERRORS_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MDS_LMDB_LINE_ASKED = 100, MDS_LMDB_LINE_BYTES = 160, MDS_LMDB_ERROR_BYTES = 300 };

static inline void* mds_lmdb_text(size_t bytes) {
  static char line[MDS_LMDB_LINE_BYTES];
  static _Thread_local char error[MDS_LMDB_ERROR_BYTES];
  return bytes == MDS_LMDB_LINE_ASKED ? line : error;
}

__attribute__((format(printf, 2, 3))) static inline int mds_lmdb_print(FILE* file, const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  return fprintf(file, strchr(format, '\n') == NULL ? "index env: %s\n" : "%s", length < 0 ? format : line);
}

/* Only the two texts are allocated with a constant size. */
#define malloc(bytes) (__builtin_constant_p(bytes) && ((bytes) == MDS_LMDB_LINE_ASKED || (bytes) == MDS_LMDB_ERROR_BYTES) ? mds_lmdb_text(bytes) : malloc(bytes))
#define fprintf(...) mds_lmdb_print(__VA_ARGS__)

#endif
