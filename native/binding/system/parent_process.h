#pragma once

#include <node_api.h>

namespace mds::binding {

// endWithParent(parent): on Linux the kernel ends this process by SIGKILL when the thread that has created it
// ends, so also by every end of its parent. Whatever this process does then is not finished. Ends the process
// at once if `parent`, a process id, is no longer its parent. No effect on other systems. Throws for an
// argument of another type. Any thread.
[[nodiscard]] bool add_parent_process(napi_env env, napi_value exports) noexcept;

}  // namespace mds::binding
