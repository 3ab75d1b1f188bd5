#include "truth/document_reader.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <new>
#include <string>

#include "base/limits.h"
#include "truth/document_names.h"
#include "truth/snappy.h"

namespace mds {
namespace {

constexpr std::string_view kContentBegin = R"(,"contentMd":")";
constexpr std::string_view kContentEnd = R"("})";
constexpr size_t kMetaPages = 2;
void append_text(uint8_t*& at, std::string_view text) noexcept {
  std::memcpy(at, text.data(), text.size());
  at += text.size();
}

}  // namespace

void DocumentReader::FreeContext::operator()(ZSTD_DCtx_s* context) const noexcept { (void)ZSTD_freeDCtx(context); }

DocumentReader::DocumentReader() noexcept : zstd_(ZSTD_createDCtx()) {}

DocumentReader::~DocumentReader() {
  if (transaction_ != nullptr) mdb_txn_abort(transaction_);
}

Result<std::unique_ptr<DocumentReader>> DocumentReader::open(MDB_env* env) {
  std::unique_ptr<DocumentReader> reader(new (std::nothrow) DocumentReader());
  if (reader == nullptr || reader->zstd_ == nullptr) return Status::out_of_memory();
  if (const int code = mdb_txn_begin(env, nullptr, MDB_RDONLY, &reader->transaction_); code != MDB_SUCCESS) {
    reader->transaction_ = nullptr;
    return Status::io(std::string("no read transaction: ") + mdb_strerror(code));
  }
  // The package has opened every table before, so this finds their handles and opens none.
  const bool isComplete = reader->open_table("collections", false, reader->collections_) && reader->open_table("identities", false, reader->identities_) &&
                          reader->open_table("heads", true, reader->heads_) && reader->open_table("bodies", true, reader->bodies_);
  mdb_txn_reset(reader->transaction_);
  MDB_envinfo info{};
  MDB_stat stat{};
  if (mdb_env_info(env, &info) != MDB_SUCCESS || mdb_env_stat(env, &stat) != MDB_SUCCESS) return Status::io("no information about the env");
  reader->metaPages_ = Bytes(static_cast<const uint8_t*>(info.me_mapaddr), kMetaPages * size_t{stat.ms_psize});
  if (!isComplete) return Status::corrupt("a table of documents is missing");
  return reader;
}

bool DocumentReader::open_table(const char* name, bool isRecord, Table& table) noexcept {
  table.seed = table_seed(name);
  table.isRecord = isRecord;
  return mdb_dbi_open(transaction_, name, 0, &table.dbi) == MDB_SUCCESS;
}

DocumentRead DocumentReader::read(uint32_t collection, uint32_t docid, std::optional<uint64_t> lsn, std::span<uint8_t> space, DocumentFacts& facts) noexcept {
  const Snapshot snapshot(transaction_);
  if (!snapshot.isOpen()) return {};
  const std::optional<StoredHead> found = head(collection, docid);
  return found && found->lsn == lsn.value_or(found->lsn) ? write(collection, *found, space, facts) : DocumentRead{};
}

DocumentRead DocumentReader::find(uint32_t collection, std::string_view lowered, std::string_view spelled, std::span<uint8_t> space, DocumentFacts& facts) noexcept {
  const Snapshot snapshot(transaction_);
  if (!snapshot.isOpen()) return {};
  const std::optional<StoredHead> found = spelled_head(collection, lowered, spelled);
  return found ? write(collection, *found, space, facts) : DocumentRead{};
}

DocumentRead DocumentReader::get(std::string_view names, double now, bool asksResidency, std::span<uint8_t> space, DocumentFacts& facts) noexcept {
  if (!asksResidency) return get_named(names, now, space, facts);
  const Residency::Asked asked(residency_);
  DocumentRead read = residency_.holds(metaPages_) ? get_named(names, now, space, facts) : DocumentRead{};
  // Then nothing was read to the end.
  if (residency_.hasMissed()) read = {DocumentRead::Kind::kNotResident, 0};
  return read;
}

DocumentRead DocumentReader::get_named(std::string_view names, double now, std::span<uint8_t> space, DocumentFacts& facts) noexcept {
  DocumentNamesSpace loweredSpace;
  const std::optional<DocumentNames> wanted = read_names(names, loweredSpace);
  if (!wanted) return {};
  const Snapshot snapshot(transaction_);
  if (!snapshot.isOpen()) return {};
  const std::optional<uint32_t> number = collection(wanted->collection);
  const std::optional<StoredHead> found = number ? spelled_head(*number, wanted->identity, wanted->spelled) : std::nullopt;
  if (!found || !is_of_collection(*found, wanted->collection) || (found->expiresAt > 0 && found->expiresAt <= now)) return {};
  return write(*number, *found, space, facts);
}

std::optional<uint32_t> DocumentReader::collection(std::string_view lowered) noexcept {
  const std::optional<Bytes> row = value(collections_, Bytes(reinterpret_cast<const uint8_t*>(lowered.data()), lowered.size()));
  const std::optional<StoredCollection> found = row ? read_collection(*row) : std::nullopt;
  return found && is_spelling_of(found->name, lowered) ? std::optional(found->id) : std::nullopt;
}

std::optional<StoredHead> DocumentReader::spelled_head(uint32_t collection, std::string_view lowered, std::string_view spelled) noexcept {
  std::array<uint8_t, kTruthKeyBytesMax> key;
  if (lowered.size() > key.size() - kRowNumberBytes) return std::nullopt;
  store_big_endian(key.data(), collection, kRowNumberBytes);
  std::memcpy(key.data() + kRowNumberBytes, lowered.data(), lowered.size());
  const std::optional<Bytes> row = value(identities_, Bytes(key.data(), kRowNumberBytes + lowered.size()));
  const std::optional<StoredIdentity> identity = row ? read_identity(*row) : std::nullopt;
  if (!identity || identity->spelling != spelled) return std::nullopt;
  const size_t split = spelled.find('\0');
  const std::optional<StoredHead> found = split == std::string_view::npos ? std::nullopt : head(collection, identity->docid);
  return found && is_spelled(*found, spelled.substr(0, split), spelled.substr(split + 1)) ? found : std::nullopt;
}

// The row as it is stored, of which nothing has been checked.
std::optional<Bytes> DocumentReader::stored(const Table& table, Bytes key) const noexcept {
  // LMDB does not write to the key.
  MDB_val wanted{key.size(), const_cast<uint8_t*>(key.data())};  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  MDB_val found{};
  if (mdb_get(transaction_, table.dbi, &wanted, &found) != MDB_SUCCESS) return std::nullopt;
  return Bytes(static_cast<const uint8_t*>(found.mv_data), found.mv_size);
}

std::optional<Bytes> DocumentReader::checked(const Table& table, Bytes key, Bytes row) noexcept {
  if (residency_.isAsked() && !residency_.holds(row)) return std::nullopt;
  return row_value(table.seed, table.isRecord, key, row);
}

std::optional<Bytes> DocumentReader::value(const Table& table, Bytes key) noexcept {
  const std::optional<Bytes> row = stored(table, key);
  return row ? checked(table, key, *row) : std::nullopt;
}

std::optional<StoredHead> DocumentReader::head(uint32_t collection, uint32_t docid) noexcept {
  const HeadRowKey key = head_row_key(collection, docid);
  const std::optional<Bytes> record = value(heads_, key);
  const std::optional<StoredHead> found = record ? read_head(*record) : std::nullopt;
  // A row may hold the head of another document only if it is damaged.
  return found && found->docid == docid ? found : std::nullopt;
}

DocumentRead DocumentReader::write(uint32_t collection, const StoredHead& head, std::span<uint8_t> space, DocumentFacts& facts) noexcept {
  const BodyRowKey key = body_row_key(collection, head.docid, head.bodyLsn);
  const std::optional<Bytes> row = stored(bodies_, key);
  const std::optional<uint32_t> rawBytes = row ? raw_bytes_of(*row) : std::nullopt;
  if (!rawBytes) return {};
  const size_t bytes = head.json.size() + kContentBegin.size() + *rawBytes + kContentEnd.size();
  // A caller with little space wants no large body, so none is read for it.
  if (bytes > space.size()) return {DocumentRead::Kind::kSpaceShort, bytes};
  const std::optional<Bytes> record = checked(bodies_, key, *row);
  const std::optional<StoredBody> body = record ? read_body(*record) : std::nullopt;
  return body && body->rawBytes == *rawBytes ? write_text(collection, head, *body, space, facts) : DocumentRead{};
}

size_t DocumentReader::text_bytes(const StoredHead& head, const StoredBody& body) noexcept {
  return head.json.size() + kContentBegin.size() + body.rawBytes + kContentEnd.size();
}

DocumentRead DocumentReader::write_text(uint32_t collection, const StoredHead& head, const StoredBody& body, std::span<uint8_t> space, DocumentFacts& facts) noexcept {
  const size_t bytes = text_bytes(head, body);
  if (bytes > space.size()) return {DocumentRead::Kind::kSpaceShort, bytes};
  uint8_t* at = space.data();
  append_text(at, head.json);
  append_text(at, kContentBegin);
  if (!unpack(body, std::span(at, body.rawBytes))) return {};
  at += body.rawBytes;
  append_text(at, kContentEnd);
  facts = {.collection = collection,
           .docid = head.docid,
           .revision = head.revision,
           .flags = head.flags,
           .metaBegin = static_cast<uint32_t>(head.beforeMeta.size()),
           .lsn = head.lsn,
           .indexedLsn = head.indexedLsn,
           .expiresAt = head.expiresAt};
  return {DocumentRead::Kind::kWritten, bytes};
}

bool DocumentReader::unpack(const StoredBody& body, std::span<uint8_t> out) noexcept {
  switch (body.codec) {
    case BodyCodec::kNone:
      if (body.packed.size() != out.size()) return false;
      if (!out.empty()) std::memcpy(out.data(), body.packed.data(), out.size());
      return true;
    case BodyCodec::kSnappy:
      return unpack_snappy(body.packed, out);
    case BodyCodec::kZstd:
      return ZSTD_decompressDCtx(zstd_.get(), out.data(), out.size(), body.packed.data(), body.packed.size()) == out.size();
  }
  return false;
}

}  // namespace mds
