// The vector engine's calls from JavaScript: plain bytes in, plain bytes out. Any thread.
#pragma once

#include <node_api.h>

namespace mds::binding {

// False where a function could not be made.
[[nodiscard]] bool add_vector_calls(napi_env env, napi_value exports) noexcept;

}  // namespace mds::binding
