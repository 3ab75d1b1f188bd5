/*
 * The build (CMakeLists.txt) includes this before LMDB's own sources. It corrects what this LMDB does when a
 * write is refused; the index env continues afterwards. LMDB asks malloc for 100 bytes, prints up to 126 into
 * them, makes another text of 300 bytes from that, and frees neither: a disk that stays full would cost
 * memory with every attempt. Here both texts have static memory, which is never freed. LMDB also prints to
 * stderr without an end of line: the next line of the log would continue it.
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
