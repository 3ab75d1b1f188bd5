// A call from JavaScript: its arguments, the engines that it may use, and the exceptions that it throws.
// Every status is checked, and none becomes a C++ exception (the reason is in addon.cc). Any thread. Nothing
// of it outlives the call.
#pragma once

#include <node_api.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/replaceable.h"
#include "index/engine.h"
#include "storage/epoch.h"
#include "vector/vector_engine.h"

namespace mds::binding {

using Engines = Replaceable<Engine>;
using VectorEngines = Replaceable<VectorEngine>;

inline std::shared_ptr<Engines> shared_engines() {
  static const std::shared_ptr<Engines> engines = std::make_shared<Engines>();
  return engines;
}

inline std::shared_ptr<VectorEngines> shared_vector_engines() {
  static const std::shared_ptr<VectorEngines> engines = std::make_shared<VectorEngines>();
  return engines;
}

// One per isolate, destroyed with it. Its references keep the engines alive as long as any thread can call
// them, regardless of the order in which threads end.
struct AddonInstance {
  std::shared_ptr<Engines> engines = shared_engines();
  std::shared_ptr<VectorEngines> vectors = shared_vector_engines();
};

// One call from JavaScript: its arguments, and the exceptions that it throws.
class Call {
 public:
  Call(napi_env env, napi_callback_info info) noexcept : env_(env) { isUsable_ = napi_get_cb_info(env, info, &count_, arguments_, nullptr, nullptr) == napi_ok; }

  [[nodiscard]] napi_env env() const noexcept { return env_; }

  // Null in a thread that is shutting down.
  [[nodiscard]] Engines* engines() const noexcept {
    const AddonInstance* instance = this->instance();
    return instance == nullptr ? nullptr : instance->engines.get();
  }
  [[nodiscard]] VectorEngines* vectors() const noexcept {
    const AddonInstance* instance = this->instance();
    return instance == nullptr ? nullptr : instance->vectors.get();
  }

  napi_value raise(const char* message) const noexcept {
    (void)napi_throw_error(env_, nullptr, message);
    return nullptr;
  }

  napi_value raise_type(const char* message) const noexcept {
    (void)napi_throw_type_error(env_, nullptr, message);
    return nullptr;
  }

  // Null if the argument is missing.
  [[nodiscard]] napi_value value(size_t index) const noexcept { return index < count_ ? arguments_[index] : nullptr; }

  [[nodiscard]] std::optional<Bytes> bytes(size_t index) const noexcept {
    const std::optional<View> view = view_of(index, napi_uint8_array);
    if (!view) return std::nullopt;
    return Bytes(static_cast<const uint8_t*>(view->data), view->length);
  }

  // Empty if the argument is missing or undefined.
  [[nodiscard]] std::optional<std::span<const int32_t>> control(size_t index) const noexcept {
    if (type_of(index) == napi_undefined) return std::span<const int32_t>();
    const std::optional<View> view = view_of(index, napi_int32_array);
    if (!view) return std::nullopt;
    return std::span(static_cast<const int32_t*>(view->data), view->length);
  }

  [[nodiscard]] std::optional<uint32_t> number(size_t index) const noexcept {
    uint32_t value = 0;
    if (type_of(index) != napi_number || napi_get_value_uint32(env_, arguments_[index], &value) != napi_ok) return std::nullopt;
    return value;
  }

  // A number of bytes, up to 2^53.
  [[nodiscard]] std::optional<uint64_t> size(size_t index) const noexcept {
    int64_t value = 0;
    if (type_of(index) != napi_number || napi_get_value_int64(env_, arguments_[index], &value) != napi_ok || value < 0) return std::nullopt;
    return static_cast<uint64_t>(value);
  }

  [[nodiscard]] std::optional<double> real(size_t index) const noexcept {
    double value = 0;
    if (type_of(index) != napi_number || napi_get_value_double(env_, arguments_[index], &value) != napi_ok) return std::nullopt;
    return value;
  }

  // Writable bytes.
  [[nodiscard]] std::optional<std::span<uint8_t>> space(size_t index) const noexcept {
    const std::optional<View> view = view_of(index, napi_uint8_array);
    if (!view) return std::nullopt;
    return std::span(static_cast<uint8_t*>(view->data), view->length);
  }

  [[nodiscard]] std::optional<bool> boolean(size_t index) const noexcept {
    bool value = false;
    if (type_of(index) != napi_boolean || napi_get_value_bool(env_, arguments_[index], &value) != napi_ok) return std::nullopt;
    return value;
  }

  [[nodiscard]] std::optional<uint64_t> lsn(size_t index) const noexcept {
    uint64_t value = 0;
    bool isLossless = false;
    if (type_of(index) != napi_bigint || napi_get_value_bigint_uint64(env_, arguments_[index], &value, &isLossless) != napi_ok || !isLossless) return std::nullopt;
    return value;
  }

  // The history of the store. For each epoch: 16 bytes with its id and a u64 with the LSN at which it ends.
  // The current epoch is last.
  [[nodiscard]] std::optional<std::vector<EpochSpan>> history(size_t index) const {
    constexpr size_t kSpanBytes = sizeof(Epoch) + sizeof(uint64_t);
    const std::optional<Bytes> given = bytes(index);
    if (!given || given->size() % kSpanBytes != 0) return std::nullopt;
    std::vector<EpochSpan> spans(given->size() / kSpanBytes);
    for (size_t span = 0; span < spans.size(); ++span) {
      const uint8_t* at = given->data() + span * kSpanBytes;
      std::memcpy(spans[span].epoch.data(), at, sizeof(Epoch));
      spans[span].lsnLast = load_u64(at + sizeof(Epoch));
    }
    return spans;
  }

  // Returns an array of strings, or null if it cannot be created.
  [[nodiscard]] napi_value texts(std::span<const std::string> lines) const noexcept {
    napi_value array = nullptr;
    if (napi_create_array_with_length(env_, lines.size(), &array) != napi_ok) return nullptr;
    for (uint32_t index = 0; index < lines.size(); ++index) {
      napi_value text = nullptr;
      const std::string& line = lines[index];
      if (napi_create_string_utf8(env_, line.data(), line.size(), &text) != napi_ok || napi_set_element(env_, array, index, text) != napi_ok) return nullptr;
    }
    return array;
  }

  // A text that fits the space with a zero byte behind it, without an allocation. Empty also for longer ones.
  [[nodiscard]] std::optional<std::string_view> short_text(size_t index, std::span<char> space) const noexcept {
    size_t length = 0;
    if (type_of(index) != napi_string || napi_get_value_string_utf8(env_, arguments_[index], space.data(), space.size(), &length) != napi_ok) return std::nullopt;
    // A text that was cut fills the space but for the last character's missing bytes and the zero byte.
    constexpr size_t kCharacterBytesMax = 4;
    if (length + kCharacterBytesMax >= space.size()) return std::nullopt;
    return std::string_view(space.data(), length);
  }

  // The pointer that was made an external value. Null for other values.
  [[nodiscard]] void* external(size_t index) const noexcept {
    void* pointer = nullptr;
    if (type_of(index) != napi_external || napi_get_value_external(env_, arguments_[index], &pointer) != napi_ok) return nullptr;
    return pointer;
  }

  [[nodiscard]] std::optional<std::string> text(size_t index) const {
    size_t length = 0;
    if (type_of(index) != napi_string || napi_get_value_string_utf8(env_, arguments_[index], nullptr, 0, &length) != napi_ok) return std::nullopt;
    std::string value(length + 1, '\0');
    if (napi_get_value_string_utf8(env_, arguments_[index], value.data(), value.size(), &length) != napi_ok) return std::nullopt;
    value.resize(length);
    return value;
  }

 private:
  struct View {
    void* data;
    size_t length;
  };

  [[nodiscard]] const AddonInstance* instance() const noexcept {
    void* instance = nullptr;
    if (!isUsable_ || napi_get_instance_data(env_, &instance) != napi_ok) return nullptr;
    return static_cast<const AddonInstance*>(instance);
  }

  [[nodiscard]] napi_valuetype type_of(size_t index) const noexcept {
    napi_valuetype type = napi_undefined;
    if (index < count_) (void)napi_typeof(env_, arguments_[index], &type);
    return type;
  }

  [[nodiscard]] std::optional<View> view_of(size_t index, napi_typedarray_type wanted) const noexcept {
    bool isTyped = false;
    if (index >= count_ || napi_is_typedarray(env_, arguments_[index], &isTyped) != napi_ok || !isTyped) return std::nullopt;
    napi_typedarray_type type{};
    View view{};
    if (napi_get_typedarray_info(env_, arguments_[index], &type, &view.length, &view.data, nullptr, nullptr) != napi_ok || type != wanted) return std::nullopt;
    return view;
  }

  napi_env env_;
  bool isUsable_;
  size_t count_ = 8;
  napi_value arguments_[8] = {};
};

}  // namespace mds::binding
