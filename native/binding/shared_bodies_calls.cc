#include "binding/shared_bodies_calls.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "binding/call.h"
#include "binding/function.h"
#include "storage/shared_bodies.h"

namespace mds::binding {

namespace {

// One per process. Never destroyed: threads may still call it while the process exits, and freeing a GiB at
// that time would only delay the exit.
SharedBodies& shared_bodies() {
  static SharedBodies* const bodies = std::make_unique<SharedBodies>().release();
  return *bodies;
}

std::optional<BodyId> body_id(const Call& call) noexcept {
  const std::optional<Bytes> bytes = call.bytes(0);
  BodyId id{};
  if (!bytes || bytes->size() != id.size()) return std::nullopt;
  std::copy_n(bytes->begin(), id.size(), id.begin());
  return id;
}

napi_value boolean_value(const Call& call, bool value) noexcept {
  napi_value answer = nullptr;
  return napi_get_boolean(call.env(), value, &answer) == napi_ok ? answer : nullptr;
}

napi_value keep_body(const Call& call) {
  const std::optional<BodyId> id = body_id(call);
  const std::optional<Bytes> record = call.bytes(1);
  const std::optional<uint64_t> bytesMax = call.size(2);
  if (!id || !record || !bytesMax) return call.raise_type("keepBody: expected an id of 16 bytes, a Uint8Array and a number of bytes");
  return boolean_value(call, shared_bodies().keep(*id, *record, *bytesMax));
}

napi_value cache_body(const Call& call) {
  const std::optional<BodyId> id = body_id(call);
  const std::optional<Bytes> record = call.bytes(1);
  const std::optional<uint64_t> bytesMax = call.size(2);
  if (!id || !record || !bytesMax) return call.raise_type("cacheBody: expected an id of 16 bytes, a Uint8Array and a number of bytes");
  shared_bodies().cache(*id, *record, *bytesMax);
  return nullptr;
}

napi_value shared_body(const Call& call) {
  const std::optional<BodyId> id = body_id(call);
  if (!id) return call.raise_type("sharedBody: expected an id of 16 bytes");
  const SharedBody body = shared_bodies().get(*id);
  if (body == nullptr) return nullptr;
  napi_value buffer = nullptr;
  // Throws, because undefined means that the body is not stored.
  if (napi_create_buffer_copy(call.env(), body->size(), body->data(), nullptr, &buffer) != napi_ok) return call.raise("sharedBody: no memory for a copy");
  return buffer;
}

napi_value has_body(const Call& call) {
  const std::optional<BodyId> id = body_id(call);
  return id ? boolean_value(call, shared_bodies().has(*id)) : call.raise_type("holdsBody: expected an id of 16 bytes");
}

napi_value remove_body(const Call& call) {
  const std::optional<BodyId> id = body_id(call);
  if (!id) return call.raise_type("removeBody: expected an id of 16 bytes");
  shared_bodies().remove(*id);
  return nullptr;
}

napi_value clear_bodies(const Call&) {
  shared_bodies().clear();
  return nullptr;
}

napi_value body_stats(const Call& call) {
  const SharedBodies::Stats stats = shared_bodies().stats();
  napi_value object = nullptr;
  if (napi_create_object(call.env(), &object) != napi_ok) return nullptr;
  set_number(call.env(), object, "kept", stats.kept);
  set_number(call.env(), object, "keptBytes", stats.keptBytes);
  set_number(call.env(), object, "cached", stats.cached);
  set_number(call.env(), object, "cachedBytes", stats.cachedBytes);
  return object;
}

}  // namespace

bool add_shared_bodies(napi_env env, napi_value exports) noexcept {
  return add_function<keep_body>(env, exports, "keepBody") && add_function<cache_body>(env, exports, "cacheBody") &&
         add_function<shared_body>(env, exports, "sharedBody") && add_function<has_body>(env, exports, "holdsBody") &&
         add_function<remove_body>(env, exports, "removeBody") && add_function<clear_bodies>(env, exports, "clearBodies") &&
         add_function<body_stats>(env, exports, "bodyStats");
}

}  // namespace mds::binding
