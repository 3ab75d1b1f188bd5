#include "binding/time_slice.h"

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
// SCHED_FLAG_RESET_ON_FORK: new threads have the system's slice.
constexpr uint64_t kNotInherited = 1;

void set_slice_of_this_thread(uint32_t microseconds) noexcept {
  SchedulingAttributes attributes{};
  constexpr unsigned kNoFlags = 0;
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), kNoFlags) != 0 || attributes.policy != SCHED_OTHER) return;
  attributes.size = sizeof(attributes);
  attributes.flags = kNotInherited;
  attributes.runtime = microseconds * kNanosecondsOfMicrosecond;
  (void)syscall(SYS_sched_setattr, 0, &attributes, kNoFlags);
}

#else

void set_slice_of_this_thread(uint32_t /*microseconds*/) noexcept {}

#endif

napi_value set_time_slice(const Call& call) {
  const std::optional<uint32_t> microseconds = call.number(0);
  if (!microseconds) return call.raise_type("setTimeSlice: expected a number");
  set_slice_of_this_thread(*microseconds);
  return nullptr;
}

}  // namespace

bool add_time_slice(napi_env env, napi_value exports) noexcept { return add_function<set_time_slice>(env, exports, "setTimeSlice"); }

}  // namespace mds::binding
