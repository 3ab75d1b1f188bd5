// The N-API interface of the engine. Input and output are plain bytes. Context-aware: any number of threads
// (isolates) load it and share one Engine. While a restore runs, they also share the engine that will replace
// it. JavaScript state is never shared. The library is linked with -z nodelete, so that a worker's exit
// cannot unload the engine that other threads use.
//
// Uses the plain C N-API. Every status is checked, and no failed status is turned into a C++ exception. In a
// worker that is being terminated every call fails, and node-addon-api aborts the process when it cannot
// throw there. After a failed call the callback returns nullptr; any exception for JavaScript has been thrown
// by then.
#include <node_api.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/unpack_kernels.h"
#include "binding/call.h"
#include "binding/document_calls.h"
#include "binding/function.h"
#include "binding/json_calls.h"
#include "binding/lmdb_lines.h"
#include "binding/openssl_crypto.h"
#include "binding/sealed_record.h"
#include "binding/shared_bodies_calls.h"
#include "binding/system/file_lock.h"
#include "binding/system/listening_sockets.h"
#include "binding/system/loop_sockets.h"
#include "binding/system/parent_process.h"
#include "binding/system/thread_priority.h"
#include "binding/vector_calls.h"
#include "index/engine.h"
#include "storage/env_check.h"

namespace {

using mds::binding::AddonInstance;
using mds::binding::Call;
using mds::binding::set;
using mds::binding::set_number;

napi_value answer(const Call& call, const mds::Status& status) noexcept { return status.ok() ? nullptr : call.raise(status.message()); }

napi_value publish(const Call& call, mds::Engine& engine) {
  const std::optional<mds::Bytes> batch = call.bytes(0);
  return batch ? answer(call, engine.publish(*batch)) : call.raise("publish: expected a Uint8Array");
}

napi_value search(const Call& call, mds::Engine& engine) {
  const std::optional<mds::Bytes> plan = call.bytes(0);
  const auto control = call.control(1);
  if (!plan || !control) return call.raise("search: expected a Uint8Array and an Int32Array or nothing");
  const mds::Result<std::vector<uint8_t>> hits = engine.search(*plan, *control);
  if (!hits.ok()) return call.raise(hits.status().message());
  const size_t size = hits.value().size();
  void* data = nullptr;
  napi_value buffer = nullptr;
  napi_value array = nullptr;
  if (napi_create_arraybuffer(call.env(), size, &data, &buffer) != napi_ok) return nullptr;
  std::memcpy(data, hits.value().data(), size);
  if (napi_create_typedarray(call.env(), napi_uint8_array, size, buffer, 0, &array) != napi_ok) return nullptr;
  return array;
}

napi_value text_value(const Call& call, const mds::Result<std::string>& json) noexcept {
  if (!json.ok()) return call.raise(json.status().message());
  napi_value text = nullptr;
  if (napi_create_string_utf8(call.env(), json.value().data(), json.value().size(), &text) != napi_ok) return nullptr;
  return text;
}

// Splits names of fields, or terms, that are separated by a zero byte.
std::vector<std::string_view> split_names(std::string_view names) {
  std::vector<std::string_view> fields;
  while (!names.empty()) {
    const size_t end = std::min(names.find('\0'), names.size());
    fields.push_back(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return fields;
}

napi_value completions(const Call& call, mds::Engine& engine) {
  const std::optional<uint32_t> collection = call.number(0);
  const std::optional<std::string> fields = call.text(1);
  const std::optional<std::string> prefix = call.text(2);
  const std::optional<uint32_t> most = call.number(3);
  if (!collection || !fields || !prefix || !most) return call.raise("completions: expected a collection id, names of fields, a prefix and a number");
  return text_value(call, engine.completions({*collection, split_names(*fields), *prefix, *most}));
}

napi_value term_frequencies(const Call& call, mds::Engine& engine) {
  const std::optional<uint32_t> collection = call.number(0);
  const std::optional<std::string> fields = call.text(1);
  const std::optional<std::string> terms = call.text(2);
  if (!collection || !fields || !terms) return call.raise("termFrequencies: expected a collection id, names of fields and terms");
  return text_value(call, engine.term_frequencies({*collection, split_names(*fields), split_names(*terms)}));
}

napi_value near_terms(const Call& call, mds::Engine& engine) {
  const std::optional<uint32_t> collection = call.number(0);
  const std::optional<std::string> fields = call.text(1);
  const std::optional<std::string> word = call.text(2);
  const std::optional<uint32_t> edits = call.number(3);
  const std::optional<uint32_t> prefix = call.number(4);
  const std::optional<uint32_t> most = call.number(5);
  if (!collection || !fields || !word || !edits || !prefix || !most) return call.raise("nearTerms: expected a collection id, names of fields, a word and three numbers");
  return text_value(call, engine.near_terms({*collection, split_names(*fields), *word, *edits, *prefix, *most}));
}

napi_value explain(const Call& call, mds::Engine& engine) {
  const std::optional<mds::Bytes> plan = call.bytes(0);
  const std::optional<uint32_t> docid = call.number(1);
  const auto control = call.control(2);
  if (!plan || !docid || !control) return call.raise("explain: expected a Uint8Array, a docid, and an Int32Array or nothing");
  return text_value(call, engine.explain(*plan, *docid, *control));
}

napi_value aggregate(const Call& call, mds::Engine& engine) {
  const std::optional<mds::Bytes> request = call.bytes(0);
  const auto control = call.control(1);
  if (!request || !control) return call.raise("aggregate: expected a Uint8Array and an Int32Array or nothing");
  return text_value(call, engine.aggregate(*request, *control));
}

napi_value last_lsn(const Call& call, mds::Engine& engine) {
  napi_value value = nullptr;
  return napi_create_bigint_uint64(call.env(), engine.last_lsn(), &value) == napi_ok ? value : nullptr;
}

napi_value meta_keys(const Call& call, mds::Engine& engine) {
  const std::optional<uint32_t> collection = call.number(0);
  if (!collection) return call.raise("metaKeys: expected a collection id");
  return text_value(call, engine.meta_keys(*collection));
}

void set_lsn(napi_env env, napi_value& object, const char* name, uint64_t lsn) noexcept {
  napi_value value = nullptr;
  const napi_status made = napi_create_bigint_uint64(env, lsn, &value);
  set(env, object, name, made, value);
}

// Arguments: directory, history of the store, analysis version, whether the index is read-only.
napi_value open_into(const Call& call, mds::Engine& engine) {
  const std::optional<std::string> directory = call.text(0);
  std::optional<std::vector<mds::EpochSpan>> history = call.history(1);
  const std::optional<uint32_t> analysis = call.number(2);
  const std::optional<uint32_t> readOnly = call.number(3);
  if (!directory || !history || !analysis || !readOnly) return call.raise("open: expected a directory, the history of the store, the analysis, whether to read only");
  mds::OpenRequest request;
  request.directory = *directory;
  request.analysis = *analysis;
  request.isReadOnly = *readOnly != 0;
  request.history = std::move(*history);
  const mds::Result<mds::OpenedIndex> opened = engine.open(std::move(request));
  if (!opened.ok()) return call.raise(opened.status().message());
  const napi_env env = call.env();
  napi_value object = nullptr;
  napi_value damage = call.texts(opened.value().damage);
  if (damage == nullptr || napi_create_object(env, &object) != napi_ok) return nullptr;
  set_lsn(env, object, "checkpoint", opened.value().checkpoint);
  set(env, object, "damage", napi_ok, damage);
  napi_value isStoreBehind = nullptr;
  const napi_status made = napi_get_boolean(env, opened.value().isStoreBehind, &isStoreBehind);
  set(env, object, "isStoreBehind", made, isStoreBehind);
  return object;
}

napi_value open(const Call& call, mds::Engine& engine) { return open_into(call, engine); }

// Like open, for a second engine next to the current one, with the same keys and sealed collections. No other
// call uses it before adoptNext.
napi_value open_next(const Call& call, mds::Engine& engine) {
  auto next = std::make_shared<mds::Engine>();
  next->copy_sealing(engine);
  napi_value opened = open_into(call, *next);
  if (opened != nullptr) call.engines()->set_next(std::move(next));
  return opened;
}

napi_value adopt_next(const Call& call, mds::Engine&) { return call.engines()->adopt_next() ? nullptr : call.raise("adoptNext: no next engine is open"); }

napi_value drop_next(const Call& call, mds::Engine&) {
  call.engines()->set_next(nullptr);
  return nullptr;
}

napi_value flushed_to(const Call& call, mds::Engine& engine) {
  const std::optional<uint64_t> lsn = call.lsn(0);
  if (!lsn) return call.raise("flushedTo: expected an LSN");
  engine.flushed_to(*lsn);
  return nullptr;
}

napi_value flush(const Call& call, mds::Engine& engine) { return answer(call, engine.flush()); }

napi_value storage_state(const Call& call, mds::Engine& engine) {
  napi_value value = nullptr;
  return napi_create_uint32(call.env(), static_cast<uint32_t>(engine.storage_state()), &value) == napi_ok ? value : nullptr;
}

napi_value holds(const Call& call, mds::Engine& engine) {
  const std::optional<uint32_t> collection = call.number(0);
  const std::optional<uint32_t> docid = call.number(1);
  const std::optional<uint64_t> lsn = call.lsn(2);
  if (!collection || !docid || !lsn) return call.raise("holds: expected a collection id, a docid and an LSN");
  napi_value value = nullptr;
  return napi_get_boolean(call.env(), engine.holds(*collection, *docid, *lsn), &value) == napi_ok ? value : nullptr;
}

napi_value begin_rebuild(const Call& call, mds::Engine& engine) { return answer(call, engine.begin_rebuild()); }

napi_value end_rebuild(const Call&, mds::Engine& engine) {
  engine.end_rebuild();
  return nullptr;
}

napi_value drop_all(const Call& call, mds::Engine& engine) { return answer(call, engine.drop_all()); }

napi_value force_merge(const Call& call, mds::Engine& engine) { return answer(call, engine.force_merge()); }

napi_value stats(const Call& call, mds::Engine& engine) {
  const mds::EngineStats values = engine.stats();
  const napi_env env = call.env();
  napi_value object = nullptr;
  if (napi_create_object(env, &object) != napi_ok) return nullptr;
  napi_value value = nullptr;
  napi_status made = napi_create_string_utf8(env, mds::best_unpack_kernels().isa, NAPI_AUTO_LENGTH, &value);
  set(env, object, "isa", made, value);
  set_number(env, object, "segments", values.segments);
  set_number(env, object, "documents", values.documents);
  set_number(env, object, "deadDocuments", values.deadDocuments);
  set_number(env, object, "terms", values.terms);
  set_number(env, object, "memoryBytes", values.memoryBytes);
  set_number(env, object, "merges", values.merges);
  set_lsn(env, object, "lastLsn", values.lsnLast);
  set_number(env, object, "storedSegments", values.storedSegments);
  set_number(env, object, "storedBytes", values.storedBytes);
  set_number(env, object, "indexFileBytes", values.indexFileBytes);
  set_number(env, object, "indexLiveBytes", values.indexLiveBytes);
  set_lsn(env, object, "checkpoint", values.checkpoint);
  set_number(env, object, "unflushedBytes", values.unflushedBytes);
  set_number(env, object, "flushes", values.flushes);
  set_number(env, object, "storageFailures", values.storageFailures);
  made = napi_get_boolean(env, values.rebuilding, &value);
  set(env, object, "rebuilding", made, value);
  return object;
}

// Arguments: primary id; then for each key one byte with its id and 32 bytes with the key.
napi_value set_seal_keys(const Call& call, mds::Engine& engine) {
  constexpr size_t kEntryBytes = 1 + mds::kAeadKeyBytes;
  const std::optional<uint32_t> primary = call.number(0);
  const std::optional<mds::Bytes> bytes = call.bytes(1);
  const std::optional<mds::Aead> aead = mds::openssl_aead();
  if (!primary || *primary == 0 || *primary > UINT8_MAX || !bytes || bytes->size() % kEntryBytes != 0) return call.raise("setSealKeys: expected a key id and keys");
  if (!aead) return call.raise("this build of Node does not export OpenSSL's AES-256-GCM, which encryption at rest needs");
  std::unordered_map<uint8_t, mds::AeadKey> keys;
  for (size_t at = 0; at < bytes->size(); at += kEntryBytes) {
    mds::AeadKey& key = keys[(*bytes)[at]];
    std::memcpy(key.data(), bytes->data() + at + 1, key.size());
  }
  engine.set_seal_keys(*aead, static_cast<uint8_t>(*primary), std::move(keys));
  return nullptr;
}

napi_value set_sealed(const Call& call, mds::Engine& engine) {
  const std::optional<uint32_t> collection = call.number(0);
  const std::optional<bool> isSealed = call.boolean(1);
  if (!collection || !isSealed) return call.raise("setSealed: expected a collection id and a boolean");
  return answer(call, engine.set_sealed(*collection, *isSealed));
}

// Arguments: key, nonce, associated data, plaintext, and an output buffer for the ciphertext followed by its
// tag.
napi_value seal(const Call& call, mds::Engine&) {
  const auto key = call.bytes(0);
  const auto nonce = call.bytes(1);
  const auto associated = call.bytes(2);
  const auto text = call.bytes(3);
  const auto sealed = call.space(4);
  if (!key || !nonce || !associated || !text || !sealed || key->size() != mds::kAeadKeyBytes || nonce->size() != mds::kAeadNonceBytes ||
      sealed->size() != text->size() + mds::kAeadTagBytes)
    return call.raise("seal: expected a key, a nonce, associated bytes, a text and space for it with its tag");
  const std::optional<mds::Aead> aead = mds::openssl_aead();
  if (!aead || !aead->seal(key->data(), nonce->data(), *associated, *text, sealed->data(), sealed->data() + text->size())) return call.raise("AES-256-GCM failed");
  return nullptr;
}

// Arguments: key, kind, key of the row, number of leading plaintext bytes, sealed record, and an output
// buffer for the record. Returns false if the record was not sealed with these values.
napi_value open_sealed_record(const Call& call, mds::Engine&) {
  const auto key = call.bytes(0);
  const auto kind = call.number(1);
  const auto rowKey = call.bytes(2);
  const auto plaintextBytes = call.number(3);
  const auto sealed = call.bytes(4);
  const auto record = call.space(5);
  if (!key || !kind || *kind > UINT8_MAX || !rowKey || !plaintextBytes || !sealed || !record || key->size() != mds::kAeadKeyBytes)
    return call.raise("openRecord: expected a key, a kind, the key of the row, the number of plaintext bytes, a sealed record and space for it");
  const std::optional<mds::Aead> aead = mds::openssl_aead();
  if (!aead) return call.raise("this build of Node does not export OpenSSL's AES-256-GCM");
  const bool isOpened = mds::open_record(*aead, key->data(), {static_cast<uint8_t>(*kind), *rowKey, *plaintextBytes}, *sealed, *record);
  napi_value value = nullptr;
  return napi_get_boolean(call.env(), isOpened, &value) == napi_ok ? value : nullptr;
}

// Arguments: key, text, and an output buffer of 32 bytes.
napi_value hmac(const Call& call, mds::Engine&) {
  const auto key = call.bytes(0);
  const auto text = call.bytes(1);
  const auto out = call.space(2);
  std::array<uint8_t, mds::kHmacBytes> tag{};
  if (!key || !text || !out || key->size() != mds::kAeadKeyBytes || out->size() != tag.size()) return call.raise("hmac: expected a key, a text and space for 32 bytes");
  if (!mds::hmac_sha256(key->data(), *text, tag)) return call.raise("this build of Node does not export OpenSSL's HMAC");
  std::memcpy(out->data(), tag.data(), tag.size());
  return nullptr;
}

napi_value lock_file(const Call& call, mds::Engine&) {
  const std::optional<std::string> path = call.text(0);
  const std::optional<uint32_t> shared = call.number(1);
  if (!path || !shared) return call.raise("lockFile: expected a path, whether others may hold it, too");
  const std::string problem = mds::lock_file_for_life(*path, *shared != 0);
  return problem.empty() ? nullptr : call.raise(problem.c_str());
}

napi_value check_truth(const Call& call, mds::Engine&) {
  const std::optional<std::string> path = call.text(0);
  const std::optional<bool> readsLeaves = call.boolean(1);
  if (!path || !readsLeaves) return call.raise("checkTruth: expected a path, whether leaves are read");
  const mds::Result<mds::TruthFile> checked = mds::check_truth_file(*path, *readsLeaves);
  if (!checked.ok()) return call.raise(checked.status().message());
  napi_value value = nullptr;
  return napi_get_boolean(call.env(), checked.value().isSettled, &value) == napi_ok ? value : nullptr;
}

napi_value reserve_lmdb_line_buffer(const Call& call, mds::Engine&) {
  napi_value value = nullptr;
  return napi_get_boolean(call.env(), mds::reserve_lmdb_line_buffer(), &value) == napi_ok ? value : nullptr;
}

// The body of an export. Called with the engine that is current at the time of the call.
template <napi_value (*kBody)(const Call&, mds::Engine&)>
napi_value with_engine(const Call& call) {
  const auto* engines = call.engines();
  if (engines == nullptr) return call.raise("native engine: this thread is ending");
  const std::shared_ptr<mds::Engine> engine = engines->current();
  return kBody(call, *engine);
}

template <napi_value (*kBody)(const Call&, mds::Engine&)>
bool add_export(napi_env env, napi_value exports, const char* name) noexcept {
  return mds::binding::add_function<with_engine<kBody>>(env, exports, name);
}

void release_instance(napi_env, void* instance, void*) noexcept { delete static_cast<AddonInstance*>(instance); }

}  // namespace

NAPI_MODULE_INIT() {
  try {
    auto instance = std::make_unique<AddonInstance>();
    if (napi_set_instance_data(env, instance.get(), release_instance, nullptr) != napi_ok) return nullptr;
    static_cast<void>(instance.release());
  } catch (const std::exception& error) {
    (void)napi_throw_error(env, nullptr, error.what());
    return nullptr;
  }
  const bool isComplete =
      add_export<publish>(env, exports, "publish") && add_export<search>(env, exports, "search") && add_export<meta_keys>(env, exports, "metaKeys") &&
      add_export<completions>(env, exports, "completions") && add_export<near_terms>(env, exports, "nearTerms") &&
      add_export<term_frequencies>(env, exports, "termFrequencies") && add_export<last_lsn>(env, exports, "lastLsn") && add_export<explain>(env, exports, "explain") &&
      add_export<aggregate>(env, exports, "aggregate") && add_export<begin_rebuild>(env, exports, "beginRebuild") &&
      add_export<end_rebuild>(env, exports, "endRebuild") && add_export<drop_all>(env, exports, "dropAll") && add_export<force_merge>(env, exports, "forceMerge") &&
      add_export<stats>(env, exports, "stats") && add_export<open>(env, exports, "open") && add_export<flushed_to>(env, exports, "flushedTo") &&
      add_export<flush>(env, exports, "flush") && add_export<holds>(env, exports, "holds") && add_export<open_next>(env, exports, "openNext") &&
      add_export<adopt_next>(env, exports, "adoptNext") && add_export<drop_next>(env, exports, "dropNext") && add_export<lock_file>(env, exports, "lockFile") &&
      add_export<check_truth>(env, exports, "checkTruth") && add_export<set_seal_keys>(env, exports, "setSealKeys") &&
      add_export<set_sealed>(env, exports, "setSealed") && add_export<seal>(env, exports, "seal") && add_export<open_sealed_record>(env, exports, "openRecord") &&
      add_export<hmac>(env, exports, "hmac") && add_export<storage_state>(env, exports, "storageState") &&
      add_export<reserve_lmdb_line_buffer>(env, exports, "reserveLmdbLineBuffer") && mds::binding::add_shared_bodies(env, exports) &&
      mds::binding::add_vector_calls(env, exports) && mds::binding::add_json_calls(env, exports) && mds::binding::add_document_calls(env, exports) &&
      mds::binding::add_loop_sockets(env, exports) && mds::binding::add_listening_sockets(env, exports) && mds::binding::add_thread_priority(env, exports) &&
      mds::binding::add_parent_process(env, exports);
  return isComplete ? exports : nullptr;
}
