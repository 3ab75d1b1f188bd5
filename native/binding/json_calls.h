#pragma once

#include <node_api.h>

namespace mds::binding {

// scanJson(text, members, bounds, control, stopWord): scans a JSON text in place. Returns 0, or the code of
// the error (base/json_scan.h).
bool add_json_calls(napi_env env, napi_value exports) noexcept;

}  // namespace mds::binding
