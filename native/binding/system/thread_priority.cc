#include "binding/system/thread_priority.h"

#ifdef __linux__
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <cstdint>
#include <optional>

#include "binding/call.h"
#include "binding/function.h"

namespace mds::binding {
namespace {

#ifdef __linux__

// struct sched_attr of the kernel in its first version. The C library has none.
struct SchedulingAttributes {
  uint32_t size;
  uint32_t policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  // Nanoseconds; for SCHED_OTHER the time slice.
  uint64_t runtime;
  uint64_t deadline;
  uint64_t period;
};
static_assert(sizeof(SchedulingAttributes) == 48);

constexpr uint64_t kNanosecondsOfMicrosecond = 1000;
// SCHED_FLAG_RESET_ON_FORK: threads and processes that this one creates have nice 0 and the system's slice.
constexpr uint64_t kNotInherited = 1;

void raise_priority_of_this_thread(int32_t nice, uint32_t microseconds) noexcept {
  SchedulingAttributes attributes{};
  constexpr unsigned kNoFlags = 0;
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), kNoFlags) != 0 || attributes.policy != SCHED_OTHER) return;
  const int32_t before = attributes.nice;
  attributes.size = sizeof(attributes);
  attributes.flags = kNotInherited;
  // Another value than 0 is the wish of whoever has started the process.
  if (before == 0) attributes.nice = nice;
  attributes.runtime = microseconds * kNanosecondsOfMicrosecond;
  if (syscall(SYS_sched_setattr, 0, &attributes, kNoFlags) == 0) return;
  // The process may not lower it.
  attributes.nice = before;
  (void)syscall(SYS_sched_setattr, 0, &attributes, kNoFlags);
}

#else

void raise_priority_of_this_thread(int32_t /*nice*/, uint32_t /*microseconds*/) noexcept {}

#endif

napi_value raise_priority(const Call& call) {
  const std::optional<double> nice = call.real(0);
  const std::optional<uint32_t> microseconds = call.number(1);
  if (!nice || !microseconds || *nice < -20 || *nice > 0) return call.raise_type("raisePriority: expected a nice value of -20 to 0 and microseconds");
  raise_priority_of_this_thread(static_cast<int32_t>(*nice), *microseconds);
  return nullptr;
}

}  // namespace

bool add_thread_priority(napi_env env, napi_value exports) noexcept { return add_function<raise_priority>(env, exports, "raisePriority"); }

}  // namespace mds::binding
