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

void DocumentReader::find_rows(uint32_t collection, std::span<const uint32_t> docids, FoundRows& found) noexcept {
  std::array<std::optional<Bytes>, kPageDocumentsMax> rows;
  const auto look_up = [&](const Table& table, Bytes key) {
    const std::optional<Bytes> row = stored(table, key);
    if (row) request_bytes(*row);
    return row;
  };
  for (size_t index = 0; index < docids.size(); ++index) rows[index] = look_up(heads_, head_row_key(collection, docids[index]));
  for (size_t index = 0; index < docids.size(); ++index) {
    const uint32_t docid = docids[index];
    const std::optional<Bytes> record = rows[index] ? row_value(heads_.seed, heads_.isRecord, head_row_key(collection, docid), *rows[index]) : std::nullopt;
    std::optional<StoredHead> head = record ? read_head(*record) : std::nullopt;
    // A row may hold the head of another document only if it is damaged.
    if (head && head->docid != docid) head.reset();
    found.heads[index] = head;
    found.bodies[index] = head ? look_up(bodies_, body_row_key(collection, docid, head->bodyLsn)) : std::nullopt;
  }
}

std::optional<StoredBody> DocumentReader::body_of(uint32_t collection, const FoundRows& found, size_t index) noexcept {
  const std::optional<StoredHead>& head = found.heads[index];
  if (!head || !found.bodies[index]) return std::nullopt;
  const std::optional<Bytes> record = row_value(bodies_.seed, bodies_.isRecord, body_row_key(collection, head->docid, head->bodyLsn), *found.bodies[index]);
  return record ? read_body(*record) : std::nullopt;
}

size_t DocumentReader::read_page(uint32_t collection, std::span<PageDocument> documents, std::span<uint8_t> space) noexcept {
  const size_t count = std::min(documents.size(), kPageDocumentsMax);
  const Snapshot snapshot(transaction_);
  if (!snapshot.isOpen()) return 0;
  std::array<uint32_t, kPageDocumentsMax> docids;
  for (size_t index = 0; index < count; ++index) {
    documents[index].bytes = 0;
    docids[index] = documents[index].facts.docid;
  }
  FoundRows found;
  find_rows(collection, std::span(docids).first(count), found);
  size_t end = 0;
  for (size_t index = 0; index < count; ++index) {
    const std::optional<StoredBody> body = body_of(collection, found, index);
    if (!body) continue;
    PageDocument& document = documents[index];
    const DocumentRead read = write_text(collection, *found.heads[index], *body, space.subspan(end), document.facts);
    if (read.kind == DocumentRead::Kind::kSpaceShort) return index;
    if (read.kind != DocumentRead::Kind::kWritten) continue;
    document.begin = static_cast<uint32_t>(end);
    document.bytes = static_cast<uint32_t>(read.bytes);
    end += read.bytes;
  }
  return count;
}

}  // namespace mds
