#include "truth/residency.h"

#include <sys/resource.h>

namespace mds {
namespace {

#ifdef RUSAGE_THREAD
constexpr int kFaultsCounted = RUSAGE_THREAD;
#else
constexpr int kFaultsCounted = RUSAGE_SELF;
#endif

}  // namespace

uint64_t major_faults() noexcept {
  struct rusage usage {};
  return getrusage(kFaultsCounted, &usage) == 0 ? static_cast<uint64_t>(usage.ru_majflt) : 0;
}

}  // namespace mds
