/*
 * Preload shim that moves the wall clock of a process by MDS_CLOCK_OFFSET_SECONDS, as on a machine with a
 * wrong clock. The result may be before 1970. Monotonic clocks, timers and file times are unchanged. Any
 * thread; the offset is written once, before main.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static time_t offset;
static int (*real_clock_gettime)(clockid_t, struct timespec*);

__attribute__((constructor)) static void start(void) {
  const char* seconds = getenv("MDS_CLOCK_OFFSET_SECONDS");
  if (seconds != NULL) offset = (time_t)strtoll(seconds, NULL, 10);
}

/* Other libraries may read the time before the constructor has run. */
static int read_clock(clockid_t clock, struct timespec* now) {
  if (real_clock_gettime == NULL) {
    void* symbol = dlsym(RTLD_NEXT, "clock_gettime");
    if (symbol == NULL) abort();
    /* Converts an object pointer to a function pointer by a copy: ISO C has no cast for it. */
    memcpy(&real_clock_gettime, &symbol, sizeof(real_clock_gettime));
  }
  const int result = real_clock_gettime(clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += offset;
  return result;
}

int clock_gettime(clockid_t clock, struct timespec* now) { return read_clock(clock, now); }

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  (void)zone;
  struct timespec exact;
  if (read_clock(CLOCK_REALTIME, &exact) != 0) return -1;
  now->tv_sec = exact.tv_sec;
  now->tv_usec = (suseconds_t)(exact.tv_nsec / 1000);
  return 0;
}

time_t time(time_t* stored) {
  struct timespec exact;
  if (read_clock(CLOCK_REALTIME, &exact) != 0) return -1;
  if (stored != NULL) *stored = exact.tv_sec;
  return exact.tv_sec;
}
