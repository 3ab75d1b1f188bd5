#pragma once

#include <node_api.h>

namespace mds::binding {

// setTimeSlice(microseconds): the time slice of the calling thread in the scheduler of Linux, but not of the
// threads that it creates. A thread that wakes up preempts one whose slice is longer, as long as it has used
// less than its share; its share does not change. From Linux 6.12 on; without effect before, on other
// systems, and for a thread with a policy other than SCHED_OTHER. Throws for no number: where the system
// refuses one, the slice stays.
[[nodiscard]] bool add_time_slice(napi_env env, napi_value exports) noexcept;

}  // namespace mds::binding
