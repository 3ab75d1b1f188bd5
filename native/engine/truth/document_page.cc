// Several documents in one snapshot. Rows of a page lie anywhere in a file that is larger than the caches of
// the processor, so reading one mostly waits for memory. The rows of all documents are looked up first, and
// their bytes requested, so that they arrive while others are looked up.
#include <algorithm>
#include <array>

#include "base/limits.h"
#include "truth/document_reader.h"

namespace mds {
namespace {

constexpr size_t kCacheLineBytes = 64;
// The processor follows a run of lines by itself.
constexpr size_t kRequestedBytesMax = 2048;

void request_bytes(Bytes bytes) noexcept {
  const uint8_t* at = bytes.data();
  for (size_t offset = 0; offset < std::min(bytes.size(), kRequestedBytesMax); offset += kCacheLineBytes) __builtin_prefetch(at + offset);
}

}  // namespace

size_t DocumentReader::read_page(uint32_t collection, std::span<PageDocument> documents, std::span<uint8_t> space) noexcept {
  std::array<std::optional<Bytes>, kPageDocumentsMax> rows;
  std::array<std::optional<StoredHead>, kPageDocumentsMax> heads;
  const size_t count = std::min(documents.size(), kPageDocumentsMax);
  const Snapshot snapshot(transaction_);
  if (!snapshot.isOpen()) return 0;
  const auto look_up = [&](size_t index, const Table& table, Bytes key) {
    rows[index] = stored(table, key);
    if (rows[index]) request_bytes(*rows[index]);
  };
  const auto checked = [&](size_t index, const Table& table, Bytes key) { return rows[index] ? row_value(table.seed, table.isRecord, key, *rows[index]) : std::nullopt; };
  for (size_t index = 0; index < count; ++index) {
    documents[index].bytes = 0;
    look_up(index, heads_, head_row_key(collection, documents[index].facts.docid));
  }
  for (size_t index = 0; index < count; ++index) {
    const uint32_t docid = documents[index].facts.docid;
    const std::optional<Bytes> record = checked(index, heads_, head_row_key(collection, docid));
    heads[index] = record ? read_head(*record) : std::nullopt;
    // A row may hold the head of another document only if it is damaged.
    if (heads[index] && heads[index]->docid != docid) heads[index].reset();
    if (heads[index]) look_up(index, bodies_, body_row_key(collection, docid, heads[index]->bodyLsn));
  }
  size_t end = 0;
  for (size_t index = 0; index < count; ++index) {
    if (!heads[index]) continue;
    const std::optional<Bytes> record = checked(index, bodies_, body_row_key(collection, heads[index]->docid, heads[index]->bodyLsn));
    const std::optional<StoredBody> body = record ? read_body(*record) : std::nullopt;
    if (!body) continue;
    PageDocument& document = documents[index];
    const DocumentRead read = write_text(collection, *heads[index], *body, space.subspan(end), document.facts);
    if (read.kind == DocumentRead::Kind::kSpaceShort) return index;
    if (read.kind != DocumentRead::Kind::kWritten) continue;
    document.begin = static_cast<uint32_t>(end);
    document.bytes = static_cast<uint32_t>(read.bytes);
    end += read.bytes;
  }
  return count;
}

}  // namespace mds
