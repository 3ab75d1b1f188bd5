// The N-API face of the bodies that all threads share (storage/shared_bodies.h). Needs no open index: any
// thread that has loaded the addon may call it.
#pragma once

#include <node_api.h>

namespace mds::binding {

// Adds keepBody, cacheBody, heldBody, holdsBody, removeBody, clearBodies and bodyStats. False on failure.
[[nodiscard]] bool add_shared_bodies(napi_env env, napi_value exports) noexcept;

}  // namespace mds::binding
