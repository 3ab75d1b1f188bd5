// Exports functions of the addon and builds the objects that they return. Any thread.
#pragma once

#include <node_api.h>

#include <cstdint>
#include <exception>

#include "binding/call.h"

namespace mds::binding {

// Wraps every export in a catch-all. No C++ exception reaches JavaScript.
template <napi_value (*kBody)(const Call&)>
napi_value exported(napi_env env, napi_callback_info info) noexcept {
  const Call call(env, info);
  try {
    return kBody(call);
  } catch (const std::exception& error) {
    return call.raise(error.what());
  } catch (...) {
    return call.raise("native engine: unknown exception");
  }
}

template <napi_value (*kBody)(const Call&)>
bool add_function(napi_env env, napi_value exports, const char* name) noexcept {
  napi_value function = nullptr;
  return napi_create_function(env, name, NAPI_AUTO_LENGTH, exported<kBody>, nullptr, &function) == napi_ok &&
         napi_set_named_property(env, exports, name, function) == napi_ok;
}

// Sets one property. Does nothing after a failure; a failure sets `object` to null.
inline void set(napi_env env, napi_value& object, const char* name, napi_status made, napi_value value) noexcept {
  if (object != nullptr && (made != napi_ok || napi_set_named_property(env, object, name, value) != napi_ok)) object = nullptr;
}

inline void set_number(napi_env env, napi_value& object, const char* name, uint64_t number) noexcept {
  napi_value value = nullptr;
  const napi_status made = napi_create_double(env, static_cast<double>(number), &value);
  set(env, object, name, made, value);
}

}  // namespace mds::binding
