#include "binding/vector_calls.h"

#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "binding/call.h"
#include "binding/function.h"
#include "query/plan/search_plan.h"
#include "vector/kernels/vector_kernels.h"
#include "vector/vector_engine.h"

namespace mds::binding {

namespace {

napi_value typed_array(const Call& call, std::span<const uint8_t> bytes, napi_typedarray_type type, size_t length) noexcept {
  void* data = nullptr;
  napi_value buffer = nullptr;
  napi_value array = nullptr;
  if (napi_create_arraybuffer(call.env(), bytes.size(), &data, &buffer) != napi_ok) return nullptr;
  if (!bytes.empty()) std::memcpy(data, bytes.data(), bytes.size());
  if (napi_create_typedarray(call.env(), type, length, buffer, 0, &array) != napi_ok) return nullptr;
  return array;
}

napi_value bytes_value(const Call& call, const Result<std::vector<uint8_t>>& bytes) noexcept {
  if (!bytes.ok()) return call.raise(bytes.status().message());
  return typed_array(call, bytes.value(), napi_uint8_array, bytes.value().size());
}

napi_value answer(const Call& call, const Status& status) noexcept { return status.ok() ? nullptr : call.raise(status.message()); }

// Arguments: directory and history of the store (call.h). Returns an array with one line for each file that
// cannot be used.
napi_value open_into(const Call& call, VectorEngine& engine) {
  const std::optional<std::string> directory = call.text(0);
  const std::optional<std::vector<EpochSpan>> history = call.history(1);
  if (!directory || !history || history->empty()) return call.raise_type("vectorOpen: expected a directory and the history of the store");
  const Result<std::vector<std::string>> damage = engine.open(*directory, *history);
  return damage.ok() ? call.texts(damage.value()) : call.raise(damage.status().message());
}

napi_value vector_open(const Call& call, VectorEngine& engine) { return open_into(call, engine); }

napi_value vector_set_sealed(const Call& call, VectorEngine& engine) {
  const std::optional<uint32_t> collection = call.number(0);
  const std::optional<bool> isSealed = call.boolean(1);
  if (!collection || !isSealed) return call.raise_type("vectorSetSealed: expected a collection id and a boolean");
  return answer(call, engine.set_sealed(*collection, *isSealed));
}

napi_value vector_settle(const Call&, VectorEngine& engine) {
  engine.settle();
  return nullptr;
}

// Like vectorOpen, for a second engine next to the current one, with the ids of the collections that are
// sealed there as third argument.
napi_value vector_open_next(const Call& call) {
  const std::optional<Bytes> sealed = call.bytes(2);
  if (!sealed || sealed->size() % sizeof(uint32_t) != 0) return call.raise_type("vectorOpenNext: expected collection ids");
  VectorEngines* engines = call.vectors();
  if (engines == nullptr) return call.raise("native engine: this thread is ending");
  const auto next = std::make_shared<VectorEngine>();
  for (ByteReader reader(*sealed); reader.remaining() > 0;) {
    const Status status = next->set_sealed(reader.u32(), true);
    if (!status.ok()) return call.raise(status.message());
  }
  napi_value damage = open_into(call, *next);
  if (damage != nullptr) engines->set_next(next);
  return damage;
}

napi_value vector_adopt_next(const Call& call) {
  VectorEngines* engines = call.vectors();
  return engines != nullptr && engines->adopt_next() ? nullptr : call.raise("vectorAdoptNext: nothing was opened");
}

napi_value vector_drop_next(const Call& call) {
  VectorEngines* engines = call.vectors();
  if (engines != nullptr) engines->set_next(nullptr);
  return nullptr;
}

napi_value vector_apply(const Call& call, VectorEngine& engine) {
  const std::optional<Bytes> batch = call.bytes(0);
  if (!batch) return call.raise_type("vectorApply: expected a Uint8Array");
  return answer(call, engine.apply(*batch));
}

napi_value vector_compare(const Call& call, VectorEngine& engine) {
  const std::optional<Bytes> stamps = call.bytes(0);
  if (!stamps) return call.raise_type("vectorCompare: expected a Uint8Array");
  const Result<std::vector<uint32_t>> missing = engine.compare(*stamps);
  if (!missing.ok()) return call.raise(missing.status().message());
  const auto* data = reinterpret_cast<const uint8_t*>(missing.value().data());
  return typed_array(call, {data, missing.value().size() * sizeof(uint32_t)}, napi_uint32_array, missing.value().size());
}

// nullopt if the poll word is outside the control buffer.
std::optional<StopSignal> stop_signal(uint32_t pollWord, std::span<const int32_t> control) noexcept {
  if (pollWord == kNoPollWord || control.empty()) return StopSignal(nullptr);
  if (pollWord % sizeof(int32_t) != 0 || pollWord / sizeof(int32_t) >= control.size()) return std::nullopt;
  return StopSignal(&control[pollWord / sizeof(int32_t)]);
}

napi_value vector_search(const Call& call, VectorEngine& engine) {
  const std::optional<Bytes> bytes = call.bytes(0);
  const auto control = call.control(1);
  if (!bytes || !control) return call.raise_type("vectorSearch: expected a Uint8Array and an Int32Array or nothing");
  const Result<VectorSearchRequest> request = parse_vector_request(*bytes);
  if (!request.ok()) return call.raise(request.status().message());
  std::optional<StopSignal> stop = stop_signal(request.value().pollWord, *control);
  if (!stop) return call.raise("vector search: poll word outside of the control buffer");
  if (request.value().filter.empty()) return bytes_value(call, engine.search(request.value(), nullptr, *stop));
  const Engines* engines = call.engines();
  if (engines == nullptr) return call.raise("native engine: this thread is ending");
  // The snapshot of the full-text engine is taken first. A document that it does not contain is found by a
  // later search.
  const Result<std::vector<uint32_t>> documents = engines->current()->passing(request.value().filter, *stop);
  if (!documents.ok()) return call.raise(documents.status().message());
  return bytes_value(call, engine.search(request.value(), &documents.value(), *stop));
}

// Arguments: collection, dimensions, threshold, largest docid, stop word, and control buffer.
napi_value vector_similar(const Call& call, VectorEngine& engine) {
  const std::optional<uint32_t> collection = call.number(0);
  const std::optional<uint32_t> dims = call.number(1);
  const std::optional<double> threshold = call.real(2);
  const std::optional<uint32_t> docidMax = call.number(3);
  const std::optional<uint32_t> pollWord = call.number(4);
  const auto control = call.control(5);
  if (!collection || !dims || !threshold || !docidMax || !pollWord || !control)
    return call.raise_type("vectorSimilar: expected five numbers and an Int32Array or nothing");
  const std::optional<StopSignal> stop = stop_signal(*pollWord, *control);
  if (!stop) return call.raise("similar documents: poll word outside of the control buffer");
  return bytes_value(call, engine.similar(*collection, *dims, *threshold, *docidMax, *stop));
}

napi_value stats_object(const Call& call, const VectorSetStats& stats) noexcept {
  napi_env env = call.env();
  napi_value object = nullptr;
  if (napi_create_object(env, &object) != napi_ok) return nullptr;
  set_number(env, object, "collection", stats.collection);
  set_number(env, object, "dimensions", stats.dims);
  set_number(env, object, "documents", stats.documents);
  set_number(env, object, "chunks", stats.chunks);
  set_number(env, object, "deadSlots", stats.deadSlots);
  set_number(env, object, "memoryBytes", stats.memoryBytes);
  set_number(env, object, "mappedBytes", stats.mappedBytes);
  set_number(env, object, "graphSlots", stats.graphSlots);
  set_number(env, object, "graphBytes", stats.graphBytes);
  set_number(env, object, "trainedBytes", stats.trainedBytes);
  return object;
}

napi_value vector_stats(const Call& call, VectorEngine& engine) {
  const std::vector<VectorSetStats> stats = engine.stats();
  napi_value sets = nullptr;
  if (napi_create_array_with_length(call.env(), stats.size(), &sets) != napi_ok) return nullptr;
  for (uint32_t index = 0; index < stats.size(); ++index) {
    napi_value object = stats_object(call, stats[index]);
    if (object == nullptr || napi_set_element(call.env(), sets, index, object) != napi_ok) return nullptr;
  }
  return sets;
}

napi_value vector_storage_failures(const Call& call, VectorEngine& engine) {
  napi_value number = nullptr;
  return napi_create_double(call.env(), static_cast<double>(engine.storage_failures()), &number) == napi_ok ? number : nullptr;
}

napi_value vector_is_store_refused(const Call& call, VectorEngine& engine) {
  napi_value value = nullptr;
  return napi_get_boolean(call.env(), engine.is_store_refused(), &value) == napi_ok ? value : nullptr;
}

napi_value vector_isa(const Call& call) {
  napi_value text = nullptr;
  return napi_create_string_utf8(call.env(), vector_kernels().isa, NAPI_AUTO_LENGTH, &text) == napi_ok ? text : nullptr;
}

// The body of an export. Called with the engine that is current at the time of the call.
template <napi_value (*kBody)(const Call&, VectorEngine&)>
napi_value with_vectors(const Call& call) {
  const VectorEngines* engines = call.vectors();
  if (engines == nullptr) return call.raise("native engine: this thread is ending");
  const std::shared_ptr<VectorEngine> engine = engines->current();
  return kBody(call, *engine);
}

// The body of an export for the engine that was opened next to the current one.
template <napi_value (*kBody)(const Call&, VectorEngine&)>
napi_value with_next_vectors(const Call& call) {
  const VectorEngines* engines = call.vectors();
  const std::shared_ptr<VectorEngine> engine = engines == nullptr ? nullptr : engines->next();
  return engine == nullptr ? call.raise("native engine: no next vectors are open") : kBody(call, *engine);
}

}  // namespace

bool add_vector_calls(napi_env env, napi_value exports) noexcept {
  return add_function<with_vectors<vector_apply>>(env, exports, "vectorApply") && add_function<with_vectors<vector_compare>>(env, exports, "vectorCompare") &&
         add_function<with_vectors<vector_search>>(env, exports, "vectorSearch") && add_function<with_vectors<vector_stats>>(env, exports, "vectorStats") &&
         add_function<with_vectors<vector_similar>>(env, exports, "vectorSimilar") && add_function<vector_isa>(env, exports, "vectorIsa") &&
         add_function<with_vectors<vector_open>>(env, exports, "vectorOpen") && add_function<with_vectors<vector_set_sealed>>(env, exports, "vectorSetSealed") &&
         add_function<with_vectors<vector_settle>>(env, exports, "vectorSettle") && add_function<vector_open_next>(env, exports, "vectorOpenNext") &&
         add_function<with_next_vectors<vector_apply>>(env, exports, "vectorApplyNext") &&
         add_function<with_next_vectors<vector_compare>>(env, exports, "vectorCompareNext") && add_function<vector_adopt_next>(env, exports, "vectorAdoptNext") &&
         add_function<vector_drop_next>(env, exports, "vectorDropNext") && add_function<with_vectors<vector_storage_failures>>(env, exports, "vectorStorageFailures") &&
         add_function<with_vectors<vector_is_store_refused>>(env, exports, "vectorIsStoreRefused");
}

}  // namespace mds::binding
