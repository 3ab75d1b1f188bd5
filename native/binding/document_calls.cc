#include "binding/document_calls.h"

#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/limits.h"
#include "binding/call.h"
#include "binding/function.h"
#include "truth/document_names.h"
#include "truth/document_reader.h"
#include "truth/residency.h"
#include "truth/shared_truth_env.h"

namespace mds::binding {

namespace {

static_assert(sizeof(DocumentFacts) == 48 && offsetof(DocumentFacts, docid) == 4 && offsetof(DocumentFacts, metaBegin) == 16 && offsetof(DocumentFacts, lsn) == 24 &&
                  offsetof(DocumentFacts, expiresAt) == 40,
              "src/engine/document_reader.ts reads the structure as bytes");

// NOT_RESIDENT in src/store/documents/document_source.ts.
constexpr int64_t kNotResident = std::numeric_limits<int32_t>::min();

static_assert(sizeof(PageDocument) == 56 && offsetof(PageDocument, begin) == 48 && offsetof(PageDocument, bytes) == 52 && alignof(PageDocument) == alignof(uint64_t),
              "src/engine/document_reader.ts reads the table as bytes");

// A reader of one thread. It is closed by closeDocuments, or by the hook when the thread ends. Hooks run in
// reverse order, so before the package's own, which closes the env.
struct OpenDocuments {
  napi_env env = nullptr;
  std::unique_ptr<DocumentReader> reader;
};

void close_at_exit(void* documents) noexcept { static_cast<OpenDocuments*>(documents)->reader.reset(); }

// A reader that was never closed is left alone: its env may be closed by now.
void release_documents(napi_env, void* documents, void*) noexcept {
  const std::unique_ptr<OpenDocuments> released(static_cast<OpenDocuments*>(documents));
  if (released->reader == nullptr) return;
  (void)napi_remove_env_cleanup_hook(released->env, close_at_exit, released.get());
  static_cast<void>(released->reader.release());
}

napi_value open_documents(const Call& call) {
  const std::optional<std::string> path = call.text(0);
  const std::optional<uint64_t> packageEnvs = call.size(1);
  const std::optional<uint64_t> mapBytes = call.size(2);
  const std::optional<uint32_t> readersMin = call.number(3);
  if (!path || !packageEnvs || !mapBytes || !readersMin) return call.raise_type("openDocuments: expected a path and three numbers");
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the package gives its list to JavaScript as a number.
  const Result<MDB_env*> found = shared_truth_env(reinterpret_cast<const void*>(static_cast<uintptr_t>(*packageEnvs)), *path, {*mapBytes, *readersMin});
  if (!found.ok()) return call.raise(found.status().message());
  Result<std::unique_ptr<DocumentReader>> reader = DocumentReader::open(found.value());
  if (!reader.ok()) return call.raise(reader.status().message());
  auto documents = std::make_unique<OpenDocuments>();
  documents->env = call.env();
  documents->reader = std::move(reader.value());
  if (napi_add_env_cleanup_hook(call.env(), close_at_exit, documents.get()) != napi_ok) return call.raise("openDocuments: no clean-up at the thread's end");
  napi_value handle = nullptr;
  if (napi_create_external(call.env(), documents.get(), release_documents, nullptr, &handle) != napi_ok) {
    (void)napi_remove_env_cleanup_hook(call.env(), close_at_exit, documents.get());
    return call.raise("openDocuments: no handle");
  }
  static_cast<void>(documents.release());
  return handle;
}

napi_value close_documents(const Call& call) {
  auto* documents = static_cast<OpenDocuments*>(call.external(0));
  if (documents == nullptr) return call.raise_type("closeDocuments: expected a reader");
  if (documents->reader == nullptr) return nullptr;
  (void)napi_remove_env_cleanup_hook(documents->env, close_at_exit, documents);
  documents->reader.reset();
  return nullptr;
}

DocumentReader* reader_of(const Call& call) noexcept {
  auto* documents = static_cast<OpenDocuments*>(call.external(0));
  return documents == nullptr ? nullptr : documents->reader.get();
}

// Bytes written, or the negated number of bytes needed; 0: not plain.
napi_value length_value(const Call& call, const DocumentRead& read) noexcept {
  int64_t length = read.kind == DocumentRead::Kind::kWritten ? static_cast<int64_t>(read.bytes) : 0;
  // A document of the size of kNotResident cannot be.
  if (read.kind == DocumentRead::Kind::kSpaceShort && read.bytes < size_t{1} << 31) length = -static_cast<int64_t>(read.bytes);
  if (read.kind == DocumentRead::Kind::kNotResident) length = kNotResident;
  napi_value value = nullptr;
  return napi_create_int64(call.env(), length, &value) == napi_ok ? value : nullptr;
}

napi_value length_of(const Call& call, const DocumentRead& read, const DocumentFacts& facts, std::span<uint8_t> target) noexcept {
  if (read.kind == DocumentRead::Kind::kWritten) std::memcpy(target.data(), &facts, sizeof facts);
  return length_value(call, read);
}

napi_value read_document(const Call& call) {
  DocumentReader* reader = reader_of(call);
  const std::optional<uint32_t> collection = call.number(1);
  const std::optional<uint32_t> docid = call.number(2);
  const auto space = call.space(3);
  const auto target = call.space(4);
  DocumentFacts facts;
  if (reader == nullptr || !collection || !docid || !space || !target || target->size() < sizeof facts)
    return call.raise_type("readDocument: expected an open reader, two numbers, space and 48 bytes");
  return length_of(call, reader->read(*collection, *docid, call.lsn(5), *space, facts), facts, *target);
}

napi_value find_document(const Call& call) {
  // Longer texts are in no table.
  std::array<char, kTruthKeyBytesMax + 8> loweredSpace;
  std::array<char, kTruthKeyBytesMax + 8> spelledSpace;
  DocumentReader* reader = reader_of(call);
  const std::optional<uint32_t> collection = call.number(1);
  const std::optional<std::string_view> lowered = call.short_text(2, loweredSpace);
  const std::optional<std::string_view> spelled = call.short_text(3, spelledSpace);
  const auto space = call.space(4);
  const auto target = call.space(5);
  DocumentFacts facts;
  if (reader == nullptr || !collection || !space || !target || target->size() < sizeof facts)
    return call.raise_type("findDocument: expected an open reader, a number, two texts, space and 48 bytes");
  const DocumentRead read = lowered && spelled ? reader->find(*collection, *lowered, *spelled, *space, facts) : DocumentRead{};
  return length_of(call, read, facts, *target);
}

napi_value get_document(const Call& call) {
  std::array<char, kDocumentNamesBytesMax + 8> namesSpace;
  DocumentReader* reader = reader_of(call);
  const std::optional<std::string_view> names = call.short_text(1, namesSpace);
  const std::optional<double> now = call.real(2);
  const auto space = call.space(3);
  const auto target = call.space(4);
  const std::optional<bool> asksResidency = call.boolean(5);
  DocumentFacts facts;
  if (reader == nullptr || !now || !space || !target || target->size() < sizeof facts || !asksResidency)
    return call.raise_type("getDocument: expected an open reader, a text, a time, space, 48 bytes and a boolean");
  return length_of(call, names ? reader->get(*names, *now, *asksResidency, *space, facts) : DocumentRead{}, facts, *target);
}

napi_value count_major_faults(const Call& call) {
  napi_value value = nullptr;
  return napi_create_double(call.env(), static_cast<double>(major_faults()), &value) == napi_ok ? value : nullptr;
}

// The table has the numbers of the documents, and receives the rest.
napi_value read_document_page(const Call& call) {
  DocumentReader* reader = reader_of(call);
  const std::optional<uint32_t> collection = call.number(1);
  const std::optional<uint32_t> count = call.number(2);
  const auto space = call.space(3);
  const auto table = call.space(4);
  if (reader == nullptr || !collection || !count || !space || !table || table->size() / sizeof(PageDocument) < *count ||
      reinterpret_cast<uintptr_t>(table->data()) % alignof(PageDocument) != 0)
    return call.raise_type("readDocumentPage: expected an open reader, two numbers, space and an aligned table of 56 bytes a document");
  const size_t done = reader->read_page(*collection, std::span(reinterpret_cast<PageDocument*>(table->data()), *count), *space);
  napi_value value = nullptr;
  return napi_create_uint32(call.env(), static_cast<uint32_t>(done), &value) == napi_ok ? value : nullptr;
}

// Returns a length as the reads of one document do.
napi_value read_results(const Call& call) {
  DocumentReader* reader = reader_of(call);
  const std::optional<uint32_t> collection = call.number(1);
  const std::optional<double> now = call.real(2);
  const std::optional<Bytes> hits = call.bytes(3);
  const std::optional<Bytes> terms = call.bytes(4);
  const std::optional<uint32_t> limit = call.number(5);
  const std::optional<uint32_t> bytesMax = call.number(6);
  const auto space = call.space(7);
  if (reader == nullptr || !collection || !now || !hits || !terms || !limit || !bytesMax || !space)
    return call.raise_type("readResults: expected an open reader, a number, a time, a hits record, terms, two numbers and space");
  const ResultsWanted wanted{.collection = *collection, .now = *now, .hits = *hits, .terms = *terms, .limit = *limit, .bytesMax = *bytesMax};
  return length_value(call, reader->read_results(wanted, *space));
}

}  // namespace

bool add_document_calls(napi_env env, napi_value exports) noexcept {
  return add_function<open_documents>(env, exports, "openDocuments") && add_function<close_documents>(env, exports, "closeDocuments") &&
         add_function<read_document>(env, exports, "readDocument") && add_function<find_document>(env, exports, "findDocument") &&
         add_function<get_document>(env, exports, "getDocument") && add_function<count_major_faults>(env, exports, "majorFaults") &&
         add_function<read_document_page>(env, exports, "readDocumentPage") && add_function<read_results>(env, exports, "readResults");
}

}  // namespace mds::binding
