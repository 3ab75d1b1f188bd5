#include "binding/json_calls.h"

#include <optional>

#include "base/json_scan.h"
#include "binding/call.h"
#include "binding/function.h"

namespace mds::binding {

namespace {

constexpr size_t kBoundsBytes = 16;

// The bounds are four u32: depth, containers, values, shapes.
napi_value scan_json_text(const Call& call) {
  const auto text = call.space(0);
  const std::optional<Bytes> tree = call.bytes(1);
  const std::optional<Bytes> limits = call.bytes(2);
  const auto control = call.control(3);
  const std::optional<uint32_t> stopWord = control && !control->empty() ? call.number(4) : 0;
  if (!text || !tree || !limits || limits->size() != kBoundsBytes || !control || !stopWord || (!control->empty() && *stopWord >= control->size()))
    return call.raise_type("scanJson: expected two Uint8Arrays, 16 bytes of bounds, and an Int32Array with the index of a word or nothing");
  const std::optional<JsonMembers> members = JsonMembers::read(*tree);
  if (!members) return call.raise_type("scanJson: the members are not of the format");
  const JsonBounds bounds{load_u32(limits->data()), load_u32(limits->data() + 4), load_u32(limits->data() + 8), load_u32(limits->data() + 12)};
  const StopSignal stop(control->empty() ? nullptr : control->data() + *stopWord);
  napi_value verdict = nullptr;
  const auto made = static_cast<int32_t>(scan_json(*text, *members, bounds, stop));
  return napi_create_int32(call.env(), made, &verdict) == napi_ok ? verdict : nullptr;
}

}  // namespace

bool add_json_calls(napi_env env, napi_value exports) noexcept { return add_function<scan_json_text>(env, exports, "scanJson"); }

}  // namespace mds::binding
