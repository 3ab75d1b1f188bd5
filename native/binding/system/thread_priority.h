#pragma once

#include <node_api.h>

namespace mds::binding {

// raisePriority(nice, microseconds): what the scheduler of Linux gives the calling thread, but not the
// threads and processes that it creates. The nice value, at most 0, changes only from 0 and where the process
// may lower it. The time slice is in force from Linux 6.12 on: a thread that wakes up preempts one whose
// slice is longer, as long as it has used less than its share. No effect on other systems, and on a thread
// with a policy other than SCHED_OTHER. Throws for arguments of other types; never for what the system
// refuses.
[[nodiscard]] bool add_thread_priority(napi_env env, napi_value exports) noexcept;

}  // namespace mds::binding
