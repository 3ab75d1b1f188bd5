#pragma once

#include <node_api.h>

namespace mds::binding {

// scanJson(text, members, bounds, control, stopWord): looks through a JSON text in place; 0, or what is wrong (base/json_scan.h).
bool add_json_calls(napi_env env, napi_value exports) noexcept;

}  // namespace mds::binding
