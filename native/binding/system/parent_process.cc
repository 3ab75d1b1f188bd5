#include "binding/system/parent_process.h"

#ifdef __linux__
#include <sys/prctl.h>
#include <unistd.h>
#endif

#include <csignal>
#include <cstdint>
#include <optional>

#include "binding/call.h"
#include "binding/function.h"

namespace mds::binding {
namespace {

napi_value end_with_parent(const Call& call) {
  const std::optional<uint32_t> parent = call.number(0);
  if (!parent) return call.raise_type("endWithParent: expected a process id");
#ifdef __linux__
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return call.raise("endWithParent: refused by the system");
  // It may have ended before.
  if (getppid() != static_cast<pid_t>(*parent)) (void)raise(SIGKILL);
#endif
  return nullptr;
}

}  // namespace

bool add_parent_process(napi_env env, napi_value exports) noexcept { return add_function<end_with_parent>(env, exports, "endWithParent"); }

}  // namespace mds::binding
