// The vector engine's calls from JavaScript. Input and output are plain bytes. Any thread.
#pragma once

#include <node_api.h>

namespace mds::binding {

// Returns false if a function could not be created.
[[nodiscard]] bool add_vector_calls(napi_env env, napi_value exports) noexcept;

}  // namespace mds::binding
