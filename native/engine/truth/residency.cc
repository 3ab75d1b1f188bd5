#include "truth/residency.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "base/limits.h"
#include "storage/lmdb_residency.h"

__thread void* mds_lmdb_residency = nullptr;

int mds_lmdb_may_read(void* residency, const void* page) {
  return static_cast<mds::Residency*>(residency)->holds(mds::Bytes(static_cast<const uint8_t*>(page), 1)) ? 1 : 0;
}

namespace mds {
namespace {

#ifdef RUSAGE_THREAD
constexpr int kFaultsCounted = RUSAGE_THREAD;
#else
constexpr int kFaultsCounted = RUSAGE_SELF;
#endif

// Its tick is that of the kernel, 1 to 10 ms, and reading it costs a few nanoseconds.
#ifdef CLOCK_MONOTONIC_COARSE
constexpr clockid_t kTrustClock = CLOCK_MONOTONIC_COARSE;
#else
constexpr clockid_t kTrustClock = CLOCK_MONOTONIC;
#endif

constexpr size_t kPagesAskedAtOnce = 256;

uint64_t trust_clock_ms() noexcept {
  struct timespec now {};
  (void)clock_gettime(kTrustClock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1'000'000;
}

size_t system_page_bytes() noexcept {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// page: the first byte of the first page.
bool are_in_memory(const uint8_t* page, size_t count) noexcept {
#ifdef __linux__
  std::array<unsigned char, kPagesAskedAtOnce> states;
  while (count > 0) {
    const size_t asked = std::min(count, states.size());
    // mincore reads nothing of the pages.
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
    if (mincore(const_cast<uint8_t*>(page), asked * system_page_bytes(), states.data()) != 0) return true;
    if (!std::all_of(states.begin(), states.begin() + static_cast<ptrdiff_t>(asked), [](unsigned char state) { return (state & 1U) != 0; })) return false;
    page += asked * system_page_bytes();
    count -= asked;
  }
#else
  (void)page;
  (void)count;
#endif
  return true;
}

}  // namespace

uint64_t major_faults() noexcept {
  struct rusage usage {};
  return getrusage(kFaultsCounted, &usage) == 0 ? static_cast<uint64_t>(usage.ru_majflt) : 0;
}

Residency::Asked::Asked(Residency& residency) noexcept : residency_(residency) {
  residency_.nowMs_ = trust_clock_ms();
  residency_.isAsked_ = true;
  residency_.hasMissed_ = false;
  mds_lmdb_residency = &residency_;
}

Residency::Asked::~Asked() {
  residency_.isAsked_ = false;
  mds_lmdb_residency = nullptr;
}

Residency::KnownPage& Residency::known(uintptr_t number) noexcept { return known_[number % kKnownPages]; }

bool Residency::holds(Bytes range) noexcept {
  if (range.empty()) return true;
  const size_t pageBytes = system_page_bytes();
  const auto isKnown = [this](uintptr_t number) {
    const KnownPage& page = known(number);
    return page.number == number && nowMs_ - page.seenMs < kResidencyTrustMs;
  };
  const uintptr_t begin = reinterpret_cast<uintptr_t>(range.data()) / pageBytes;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(range.data()) + range.size() - 1) / pageBytes + 1;
  uintptr_t first = begin;
  while (first < end && isKnown(first)) ++first;
  if (first == end) return true;
  const uint8_t* page = range.data() - reinterpret_cast<uintptr_t>(range.data()) % pageBytes + (first - begin) * pageBytes;
  if (!are_in_memory(page, end - first)) {
    hasMissed_ = true;
    return false;
  }
  for (uintptr_t number = first; number < end; ++number) known(number) = {number, nowMs_};
  return true;
}

}  // namespace mds
