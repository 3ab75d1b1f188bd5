#include "truth/document_reader.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <new>
#include <string>

#include "base/limits.h"
#include "truth/snappy.h"

namespace mds {
namespace {

constexpr std::string_view kContentBegin = R"(,"contentMd":")";
constexpr std::string_view kContentEnd = R"("})";
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
  const bool isComplete = reader->open_table("identities", false, reader->identities_) && reader->open_table("heads", true, reader->heads_) &&
                          reader->open_table("bodies", true, reader->bodies_);
  mdb_txn_reset(reader->transaction_);
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
  std::array<uint8_t, kTruthKeyBytesMax> key{};
  if (lowered.size() > key.size() - kRowNumberBytes) return {};
  store_big_endian(key.data(), collection, kRowNumberBytes);
  std::memcpy(key.data() + kRowNumberBytes, lowered.data(), lowered.size());
  const Snapshot snapshot(transaction_);
  if (!snapshot.isOpen()) return {};
  const std::optional<Bytes> row = value(identities_, Bytes(key.data(), kRowNumberBytes + lowered.size()));
  const std::optional<StoredIdentity> identity = row ? read_identity(*row) : std::nullopt;
  if (!identity || identity->spelling != spelled) return {};
  const size_t split = spelled.find('\0');
  const std::optional<StoredHead> found = split == std::string_view::npos ? std::nullopt : head(collection, identity->docid);
  if (!found || !is_spelled(*found, spelled.substr(0, split), spelled.substr(split + 1))) return {};
  return write(collection, *found, space, facts);
}

std::optional<Bytes> DocumentReader::stored(const Table& table, Bytes key) const noexcept {
  // LMDB does not write to the key.
  MDB_val wanted{key.size(), const_cast<uint8_t*>(key.data())};  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  MDB_val found{};
  if (mdb_get(transaction_, table.dbi, &wanted, &found) != MDB_SUCCESS) return std::nullopt;
  return Bytes(static_cast<const uint8_t*>(found.mv_data), found.mv_size);
}

std::optional<Bytes> DocumentReader::value(const Table& table, Bytes key) const noexcept {
  const std::optional<Bytes> row = stored(table, key);
  return row ? row_value(table.seed, table.isRecord, key, *row) : std::nullopt;
}

std::optional<StoredHead> DocumentReader::head(uint32_t collection, uint32_t docid) const noexcept {
  const HeadRowKey key = head_row_key(collection, docid);
  const std::optional<Bytes> record = value(heads_, key);
  const std::optional<StoredHead> found = record ? read_head(*record) : std::nullopt;
  // A row may hold the head of another document only if it is damaged.
  return found && found->docid == docid ? found : std::nullopt;
}

DocumentRead DocumentReader::write(uint32_t collection, const StoredHead& head, std::span<uint8_t> space, DocumentFacts& facts) noexcept {
  const BodyRowKey key = body_row_key(collection, head.docid, head.bodyLsn);
  const std::optional<Bytes> record = value(bodies_, key);
  const std::optional<StoredBody> body = record ? read_body(*record) : std::nullopt;
  return body ? write_text(head, *body, space, facts) : DocumentRead{};
}

DocumentRead DocumentReader::write_text(const StoredHead& head, const StoredBody& body, std::span<uint8_t> space, DocumentFacts& facts) noexcept {
  const size_t bytes = head.json.size() + kContentBegin.size() + body.rawBytes + kContentEnd.size();
  if (bytes > space.size()) return {DocumentRead::Kind::kSpaceShort, bytes};
  uint8_t* at = space.data();
  append_text(at, head.json);
  append_text(at, kContentBegin);
  if (!unpack(body, std::span(at, body.rawBytes))) return {};
  at += body.rawBytes;
  append_text(at, kContentEnd);
  facts = {head.docid, head.revision, head.flags, static_cast<uint32_t>(head.beforeMeta.size()), head.lsn, head.indexedLsn, head.expiresAt};
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
