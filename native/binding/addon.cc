// The N-API face of the engine: plain bytes in, plain bytes out. Context-aware: any number of threads (isolates) load it; all share one Engine, JavaScript state is never
// shared. Each export has one catch-all; a status that is not ok becomes an Error. The library is linked with -z nodelete: a worker's exit cannot unload the engine that
// other threads use.
#include <napi.h>

#include <memory>
#include <span>
#include <string>

#include "binding/file_lock.h"
#include "index/engine.h"

namespace {

#if defined(__x86_64__)
constexpr const char* kIsa = "sse4.2";  // -march=x86-64-v2
#elif defined(__aarch64__)
constexpr const char* kIsa = "neon";
#else
constexpr const char* kIsa = "generic";
#endif

std::shared_ptr<mds::Engine> shared_engine() {
  static const std::shared_ptr<mds::Engine> engine = std::make_shared<mds::Engine>();
  return engine;
}

// One per isolate; destroyed with it. Holding a reference keeps the engine alive for as long as any thread can call it, whatever the order of their ends.
struct AddonInstance {
  std::shared_ptr<mds::Engine> engine = shared_engine();
};

mds::Engine& engine_of(const Napi::CallbackInfo& call) { return *call.Env().GetInstanceData<AddonInstance>()->engine; }

void require_ok(Napi::Env env, const mds::Status& status) {
  if (!status.ok()) throw Napi::Error::New(env, status.message());
}

mds::Bytes bytes_argument(const Napi::CallbackInfo& call, size_t index) {
  if (call.Length() <= index || !call[index].IsTypedArray()) throw Napi::TypeError::New(call.Env(), "expected a Uint8Array");
  const auto array = call[index].As<Napi::TypedArray>();
  if (array.TypedArrayType() != napi_uint8_array) throw Napi::TypeError::New(call.Env(), "expected a Uint8Array");
  const auto bytes = array.As<Napi::Uint8Array>();
  return {bytes.Data(), bytes.ByteLength()};
}

std::span<const int32_t> control_argument(const Napi::CallbackInfo& call, size_t index) {
  if (call.Length() <= index || call[index].IsUndefined()) return {};
  if (!call[index].IsTypedArray() || call[index].As<Napi::TypedArray>().TypedArrayType() != napi_int32_array) {
    throw Napi::TypeError::New(call.Env(), "expected an Int32Array");
  }
  const auto words = call[index].As<Napi::Int32Array>();
  return {words.Data(), words.ElementLength()};
}

// Turns what an engine function must not throw, and what N-API throws, into a JavaScript exception.
template <class Body>
Napi::Value guarded(const Napi::CallbackInfo& call, Body body) {
  try {
    return body();
  } catch (const Napi::Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Napi::Error::New(call.Env(), error.what());
  } catch (...) {
    throw Napi::Error::New(call.Env(), "native engine: unknown exception");
  }
}

Napi::Value publish(const Napi::CallbackInfo& call) {
  return guarded(call, [&] {
    require_ok(call.Env(), engine_of(call).publish(bytes_argument(call, 0)));
    return call.Env().Undefined();
  });
}

Napi::Value search(const Napi::CallbackInfo& call) {
  return guarded(call, [&]() -> Napi::Value {
    const mds::Result<std::vector<uint8_t>> hits = engine_of(call).search(bytes_argument(call, 0), control_argument(call, 1));
    require_ok(call.Env(), hits.status());
    Napi::Uint8Array answer = Napi::Uint8Array::New(call.Env(), hits.value().size());
    std::copy(hits.value().begin(), hits.value().end(), answer.Data());
    return answer;
  });
}

Napi::Value meta_keys(const Napi::CallbackInfo& call) {
  return guarded(call, [&]() -> Napi::Value {
    if (call.Length() < 1 || !call[0].IsNumber()) throw Napi::TypeError::New(call.Env(), "expected a collection id");
    const mds::Result<std::string> json = engine_of(call).meta_keys(call[0].As<Napi::Number>().Uint32Value());
    require_ok(call.Env(), json.status());
    return Napi::String::New(call.Env(), json.value());
  });
}

Napi::Value begin_rebuild(const Napi::CallbackInfo& call) {
  return guarded(call, [&] {
    engine_of(call).begin_rebuild();
    return call.Env().Undefined();
  });
}

Napi::Value end_rebuild(const Napi::CallbackInfo& call) {
  return guarded(call, [&] {
    engine_of(call).end_rebuild();
    return call.Env().Undefined();
  });
}

Napi::Value drop_all(const Napi::CallbackInfo& call) {
  return guarded(call, [&] {
    engine_of(call).drop_all();
    return call.Env().Undefined();
  });
}

Napi::Value force_merge(const Napi::CallbackInfo& call) {
  return guarded(call, [&] {
    require_ok(call.Env(), engine_of(call).force_merge());
    return call.Env().Undefined();
  });
}

Napi::Value stats(const Napi::CallbackInfo& call) {
  return guarded(call, [&]() -> Napi::Value {
    const mds::EngineStats values = engine_of(call).stats();
    const Napi::Env env = call.Env();
    const Napi::Object object = Napi::Object::New(env);
    object.Set("isa", Napi::String::New(env, kIsa));
    object.Set("segments", Napi::Number::New(env, values.segments));
    object.Set("documents", Napi::Number::New(env, static_cast<double>(values.documents)));
    object.Set("deadDocuments", Napi::Number::New(env, static_cast<double>(values.deadDocuments)));
    object.Set("terms", Napi::Number::New(env, static_cast<double>(values.terms)));
    object.Set("memoryBytes", Napi::Number::New(env, static_cast<double>(values.memoryBytes)));
    object.Set("merges", Napi::Number::New(env, static_cast<double>(values.merges)));
    object.Set("lastLsn", Napi::BigInt::New(env, values.lsnLast));
    object.Set("rebuilding", Napi::Boolean::New(env, values.rebuilding));
    return object;
  });
}

Napi::Value lock_file(const Napi::CallbackInfo& call) {
  return guarded(call, [&] {
    if (call.Length() < 1 || !call[0].IsString()) throw Napi::TypeError::New(call.Env(), "expected a path");
    const std::string problem = mds::lock_file_for_life(call[0].As<Napi::String>().Utf8Value());
    if (!problem.empty()) throw Napi::Error::New(call.Env(), problem);
    return call.Env().Undefined();
  });
}

Napi::Object initialize(Napi::Env env, Napi::Object exports) {
  env.SetInstanceData(new AddonInstance());
  exports.Set("publish", Napi::Function::New<publish>(env, "publish"));
  exports.Set("search", Napi::Function::New<search>(env, "search"));
  exports.Set("metaKeys", Napi::Function::New<meta_keys>(env, "metaKeys"));
  exports.Set("beginRebuild", Napi::Function::New<begin_rebuild>(env, "beginRebuild"));
  exports.Set("endRebuild", Napi::Function::New<end_rebuild>(env, "endRebuild"));
  exports.Set("dropAll", Napi::Function::New<drop_all>(env, "dropAll"));
  exports.Set("forceMerge", Napi::Function::New<force_merge>(env, "forceMerge"));
  exports.Set("stats", Napi::Function::New<stats>(env, "stats"));
  exports.Set("lockFile", Napi::Function::New<lock_file>(env, "lockFile"));
  return exports;
}

}  // namespace

NODE_API_MODULE(mds_engine, initialize)
