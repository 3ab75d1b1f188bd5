// Rows of the truth env as a read of a document needs them: their checksums, identities, heads and bodies.
// src/store writes them; the layouts are in docs/formats/truth-env.md. Only plain rows are read: what is
// sealed, is a delta, is stored elsewhere, has another format, or is damaged yields nothing, and the caller
// reads it by src/store, which names the damage. Pure. The bytes are not trusted.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"

namespace mds {

// The start of the checksum of every row of a table.
[[nodiscard]] uint32_t table_seed(std::string_view table) noexcept;

// Keys are big-endian, so that the order of bytes is numeric.
inline constexpr size_t kRowNumberBytes = 4;
void store_big_endian(uint8_t* at, uint64_t value, size_t bytes) noexcept;

// (collection, docid)
using HeadRowKey = std::array<uint8_t, 8>;
[[nodiscard]] HeadRowKey head_row_key(uint32_t collection, uint32_t docid) noexcept;

// (collection, docid, LSN)
using BodyRowKey = std::array<uint8_t, 16>;
[[nodiscard]] BodyRowKey body_row_key(uint32_t collection, uint32_t docid, uint64_t lsn) noexcept;

// The value of a stored row. Empty if the checksum over table, key and value is missing or wrong.
// `isRecord`: the value begins with a checksum of its own over the rest of it.
[[nodiscard]] std::optional<Bytes> row_value(uint32_t seed, bool isRecord, Bytes key, Bytes stored) noexcept;

struct StoredIdentity {
  uint32_t docid;
  // Key and language as last written, separated by a zero byte.
  std::string_view spelling;
};

[[nodiscard]] std::optional<StoredIdentity> read_identity(Bytes value) noexcept;

struct StoredCollection {
  uint32_t id;
  // As first written.
  std::string_view name;
};

[[nodiscard]] std::optional<StoredCollection> read_collection(Bytes value) noexcept;

struct StoredHead {
  uint32_t docid;
  uint32_t revision;
  uint8_t flags;
  uint64_t lsn;
  uint64_t indexedLsn;
  uint64_t bodyLsn;
  double expiresAt;
  // The document's JSON text without its content and without the closing brace.
  std::string_view json;
  // The beginning of `json`, up to the value of "meta".
  std::string_view beforeMeta;
};

[[nodiscard]] std::optional<StoredHead> read_head(Bytes record) noexcept;

// Whether the head was written under exactly this spelling. False also for texts that JSON escapes.
[[nodiscard]] bool is_spelled(const StoredHead& head, std::string_view key, std::string_view lang) noexcept;

// Whether the document belongs to the collection of this name, which is in lower case and plain ASCII. A
// damaged row may lead to the document of another one.
[[nodiscard]] bool is_of_collection(const StoredHead& head, std::string_view lowered) noexcept;

enum class BodyCodec : uint8_t { kNone = 0, kSnappy = 1, kZstd = 2 };

struct StoredBody {
  BodyCodec codec;
  uint32_t rawBytes;
  Bytes packed;
};

// Bytes of the content as the first bytes of a body's row say, of which nothing has been checked and nothing
// behind is read. Empty where read_body would refuse them.
[[nodiscard]] std::optional<uint32_t> raw_bytes_of(Bytes stored) noexcept;

// Empty also for bodies above kTruthBodyBytesMax.
[[nodiscard]] std::optional<StoredBody> read_body(Bytes record) noexcept;

}  // namespace mds
