// Reads plain documents of the truth env as their JSON text: identity, head and body, checked and
// decompressed, in one call. What is not plain (truth_rows.h) is left to src/store, which has the error texts
// and the counters.
//
// The env belongs to the npm package lmdb (shared_truth_env.h). A reader has one read-only transaction. It
// takes its snapshot when a call begins and releases it when the call ends, so a reader between calls keeps
// no page of the file alive. Not thread-safe: one reader a thread. The env must stay open as long as the
// reader.
#pragma once

#include <lmdb.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/status.h"
#include "truth/residency.h"
#include "truth/truth_rows.h"

struct ZSTD_DCtx_s;

namespace mds {

// What a caller needs to know of a document beside its text.
struct DocumentFacts {
  uint32_t collection = 0;
  uint32_t docid = 0;
  uint32_t revision = 0;
  uint32_t flags = 0;
  // Bytes of the JSON text before the value of "meta".
  uint32_t metaBegin = 0;
  uint32_t unused = 0;
  uint64_t lsn = 0;
  uint64_t indexedLsn = 0;
  // Unix seconds; 0: the document does not expire. The caller compares it with the present time.
  double expiresAt = 0;
};

// One document of a page. The caller gives its number; the text is written into the space of the page.
struct PageDocument {
  DocumentFacts facts;
  uint32_t begin = 0;
  // Of the text; 0: the document is not there or not plain.
  uint32_t bytes = 0;
};

struct DocumentRead {
  enum class Kind : uint8_t { kWritten, kNotPlain, kSpaceShort, kNotResident };
  Kind kind = Kind::kNotPlain;
  // Bytes written, or needed if the space is short. The latter is what the first bytes of the body's row say;
  // nothing behind them has been read.
  size_t bytes = 0;
};

// A page of results to be written as JSON.
struct ResultsWanted {
  uint32_t collection;
  // Unix seconds: a document that has expired is not there.
  double now;
  // A hits record; the results are its first `limit` hits.
  Bytes hits;
  // How each term of the plan is shown (result_page.cc).
  Bytes terms;
  uint32_t limit;
  // The results may need no more than this.
  size_t bytesMax;
};

class DocumentReader {
 public:
  [[nodiscard]] static Result<std::unique_ptr<DocumentReader>> open(MDB_env* env);
  ~DocumentReader();
  DocumentReader(const DocumentReader&) = delete;
  DocumentReader& operator=(const DocumentReader&) = delete;

  // lsn: of the only state that is wanted; none: the present one
  [[nodiscard]] DocumentRead read(uint32_t collection, uint32_t docid, std::optional<uint64_t> lsn, std::span<uint8_t> space, DocumentFacts& facts) noexcept;

  // The document of these names (document_names.h), if its last write had exactly this spelling of key and
  // language. One that has expired is not plain.
  // now: unix seconds
  // asksResidency: no page of the map is read that is not in memory (residency.h)
  [[nodiscard]] DocumentRead get(std::string_view names, double now, bool asksResidency, std::span<uint8_t> space, DocumentFacts& facts) noexcept;

  // The document whose last write had exactly this spelling.
  // lowered, spelled: key and language separated by a zero byte, lower-cased and as requested
  [[nodiscard]] DocumentRead find(uint32_t collection, std::string_view lowered, std::string_view spelled, std::span<uint8_t> space, DocumentFacts& facts) noexcept;

  // Reads documents in one snapshot, their texts one after the other, until one does not fit
  // (document_page.cc). Reads at most kPageDocumentsMax. Returns how many it has dealt with.
  [[nodiscard]] size_t read_page(uint32_t collection, std::span<PageDocument> documents, std::span<uint8_t> space) noexcept;

  // Writes the results of a ranked search, separated by commas, in one snapshot (result_page.cc). Not plain:
  // nothing is written, because a document is not plain, is gone, has expired, or is not what was indexed.
  [[nodiscard]] DocumentRead read_results(const ResultsWanted& wanted, std::span<uint8_t> space) noexcept;

 private:
  struct Table {
    MDB_dbi dbi = 0;
    uint32_t seed = 0;
    bool isRecord = false;
  };

  // The transaction shows the newest commit from here to the end of the scope.
  class Snapshot {
   public:
    explicit Snapshot(MDB_txn* transaction) noexcept : transaction_(transaction), isOpen_(mdb_txn_renew(transaction) == MDB_SUCCESS) {}
    ~Snapshot() {
      if (isOpen_) mdb_txn_reset(transaction_);
    }
    Snapshot(const Snapshot&) = delete;
    Snapshot& operator=(const Snapshot&) = delete;

    [[nodiscard]] bool isOpen() const noexcept { return isOpen_; }

   private:
    MDB_txn* transaction_;
    bool isOpen_;
  };

  // Rows of the documents of a page: heads, and bodies as they are stored, of which nothing has been checked.
  struct FoundRows {
    std::array<std::optional<StoredHead>, kPageDocumentsMax> heads;
    std::array<std::optional<Bytes>, kPageDocumentsMax> bodies;
  };

  DocumentReader() noexcept;

  // docids: at most kPageDocumentsMax
  void find_rows(uint32_t collection, std::span<const uint32_t> docids, FoundRows& found) noexcept;
  // Empty if it is not plain.
  [[nodiscard]] std::optional<StoredBody> body_of(uint32_t collection, const FoundRows& found, size_t index) noexcept;
  [[nodiscard]] bool open_table(const char* name, bool isRecord, Table& table) noexcept;
  [[nodiscard]] DocumentRead get_named(std::string_view names, double now, std::span<uint8_t> space, DocumentFacts& facts) noexcept;
  // The row as it is stored, of which nothing has been checked.
  [[nodiscard]] std::optional<Bytes> stored(const Table& table, Bytes key) const noexcept;
  [[nodiscard]] std::optional<Bytes> checked(const Table& table, Bytes key, Bytes row) noexcept;
  [[nodiscard]] std::optional<Bytes> value(const Table& table, Bytes key) noexcept;
  [[nodiscard]] std::optional<uint32_t> collection(std::string_view lowered) noexcept;
  [[nodiscard]] std::optional<StoredHead> spelled_head(uint32_t collection, std::string_view lowered, std::string_view spelled) noexcept;
  [[nodiscard]] std::optional<StoredHead> head(uint32_t collection, uint32_t docid) noexcept;
  [[nodiscard]] DocumentRead write(uint32_t collection, const StoredHead& head, std::span<uint8_t> space, DocumentFacts& facts) noexcept;
  [[nodiscard]] static size_t text_bytes(const StoredHead& head, const StoredBody& body) noexcept;
  [[nodiscard]] DocumentRead write_text(uint32_t collection, const StoredHead& head, const StoredBody& body, std::span<uint8_t> space, DocumentFacts& facts) noexcept;
  [[nodiscard]] bool unpack(const StoredBody& body, std::span<uint8_t> out) noexcept;

  struct FreeContext {
    void operator()(ZSTD_DCtx_s* context) const noexcept;
  };

  MDB_txn* transaction_ = nullptr;
  Table collections_;
  Table identities_;
  Table heads_;
  Table bodies_;
  // What LMDB reads when a snapshot is taken.
  Bytes metaPages_;
  Residency residency_;
  std::unique_ptr<ZSTD_DCtx_s, FreeContext> zstd_;
};

}  // namespace mds
