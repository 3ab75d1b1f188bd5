// The N-API interface of the bodies that all threads share (storage/shared_bodies.h). Requires no open index.
// Any thread that has loaded the addon may call it.
#pragma once

#include <node_api.h>

namespace mds::binding {

// Adds keepBody, cacheBody, sharedBody, holdsBody, removeBody, clearBodies and bodyStats. Returns false on
// failure.
[[nodiscard]] bool add_shared_bodies(napi_env env, napi_value exports) noexcept;

}  // namespace mds::binding
