#include "truth/truth_rows.h"

#include <algorithm>
#include <bit>

#include "base/limits.h"
#include "storage/crc32c.h"
#include "truth/document_names.h"

namespace mds {
namespace {

constexpr uint8_t kRowTrailerMark = 0xFF;
constexpr size_t kRowTrailerBytes = 5;
constexpr size_t kRowChecksumBytes = 4;
constexpr uint8_t kTruthRecordVersion = 1;
// Positions in the prefix of every record.
constexpr size_t kRecordVersionAt = 4;
constexpr size_t kRecordKeyIdAt = 6;
constexpr size_t kRecordBackendAt = 7;
constexpr size_t kHeadPrefixBytes = 92;
// Every head has this flag: it has a content hash, the upper half of it at the end of the prefix.
constexpr uint8_t kHeadIsHashed = 8;
constexpr size_t kBodyPrefixBytes = 12;
constexpr size_t kIdentityDocidBytes = 4;
constexpr size_t kCollectionIdBytes = 4;
constexpr std::string_view kIdBegin = R"({"id":")";

Bytes text_bytes(std::string_view text) noexcept { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

// The beginning of a record in plaintext and of the known version.
bool is_plain_prefix(Bytes record, size_t bytesMin) noexcept {
  return record.size() >= bytesMin && record[kRecordVersionAt] == kTruthRecordVersion && record[kRecordKeyIdAt] == 0 && record[kRecordBackendAt] == 0;
}

// A whole record.
bool is_plain_record(Bytes record, size_t bytesMin) noexcept {
  return is_plain_prefix(record, bytesMin) && load_u32(record.data()) == crc32c(record.subspan(kRowChecksumBytes));
}

// Whether JSON has the text as it is.
bool is_unescaped(std::string_view text) noexcept {
  return std::none_of(text.begin(), text.end(), [](char character) { return static_cast<uint8_t>(character) < ' ' || character == '"' || character == '\\'; });
}

// Removes `suffix` from the end of `text`, if it is there.
bool drop_suffix(std::string_view& text, std::string_view suffix) noexcept {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

}  // namespace

uint32_t table_seed(std::string_view table) noexcept { return crc32c(text_bytes(table)); }

void store_big_endian(uint8_t* at, uint64_t value, size_t bytes) noexcept {
  for (size_t index = 0; index < bytes; ++index) at[index] = static_cast<uint8_t>(value >> (8 * (bytes - 1 - index)));
}

HeadRowKey head_row_key(uint32_t collection, uint32_t docid) noexcept {
  HeadRowKey key{};
  store_big_endian(key.data(), collection, kRowNumberBytes);
  store_big_endian(key.data() + kRowNumberBytes, docid, kRowNumberBytes);
  return key;
}

BodyRowKey body_row_key(uint32_t collection, uint32_t docid, uint64_t lsn) noexcept {
  BodyRowKey key{};
  store_big_endian(key.data(), collection, kRowNumberBytes);
  store_big_endian(key.data() + kRowNumberBytes, docid, kRowNumberBytes);
  store_big_endian(key.data() + 2 * kRowNumberBytes, lsn, sizeof lsn);
  return key;
}

std::optional<Bytes> row_value(uint32_t seed, bool isRecord, Bytes key, Bytes stored) noexcept {
  if (stored.size() < kRowTrailerBytes || stored[stored.size() - kRowTrailerBytes] != kRowTrailerMark) return std::nullopt;
  const Bytes value = stored.first(stored.size() - kRowTrailerBytes);
  const Bytes covered = isRecord && value.size() >= kRowChecksumBytes ? value.first(kRowChecksumBytes) : value;
  if (load_u32(value.data() + value.size() + 1) != crc32c(covered, crc32c(key, seed))) return std::nullopt;
  return value;
}

std::optional<StoredIdentity> read_identity(Bytes value) noexcept {
  if (value.size() <= kIdentityDocidBytes) return std::nullopt;
  return StoredIdentity{load_u32(value.data()), as_text(value.subspan(kIdentityDocidBytes))};
}

std::optional<StoredCollection> read_collection(Bytes value) noexcept {
  if (value.size() <= kCollectionIdBytes) return std::nullopt;
  return StoredCollection{load_u32(value.data()), as_text(value.subspan(kCollectionIdBytes))};
}

std::optional<StoredHead> read_head(Bytes record) noexcept {
  if (!is_plain_record(record, kHeadPrefixBytes) || (record[5] & kHeadIsHashed) == 0) return std::nullopt;
  const uint8_t* at = record.data();
  const std::string_view json = as_text(record.subspan(kHeadPrefixBytes));
  const uint64_t metaBegin = load_u32(at + 80);
  if (metaBegin + load_u32(at + 84) > json.size()) return std::nullopt;
  return StoredHead{.docid = load_u32(at + 8),
                    .revision = load_u32(at + 12),
                    .flags = static_cast<uint8_t>(record[5] & ~kHeadIsHashed),
                    .lsn = load_u64(at + 16),
                    .indexedLsn = load_u64(at + 24),
                    .bodyLsn = load_u64(at + 32),
                    .expiresAt = std::bit_cast<double>(load_u64(at + 48)),
                    .json = json,
                    .beforeMeta = json.substr(0, static_cast<size_t>(metaBegin))};
}

bool is_spelled(const StoredHead& head, std::string_view key, std::string_view lang) noexcept {
  std::string_view text = head.beforeMeta;
  return is_unescaped(key) && is_unescaped(lang) && drop_suffix(text, R"(","meta":)") && drop_suffix(text, lang) && drop_suffix(text, R"(","lang":")") &&
         drop_suffix(text, key) && text.ends_with(R"(,"key":")");
}

bool is_of_collection(const StoredHead& head, std::string_view lowered) noexcept {
  const std::string_view text = head.beforeMeta;
  const size_t end = kIdBegin.size() + lowered.size();
  return text.size() > end && text.starts_with(kIdBegin) && text[end] == '|' && is_spelling_of(text.substr(kIdBegin.size(), lowered.size()), lowered);
}

std::optional<uint32_t> raw_bytes_of(Bytes stored) noexcept {
  if (!is_plain_prefix(stored, kBodyPrefixBytes) || stored[5] > static_cast<uint8_t>(BodyCodec::kZstd)) return std::nullopt;
  const uint32_t rawBytes = load_u32(stored.data() + 8);
  return rawBytes > kTruthBodyBytesMax ? std::nullopt : std::optional(rawBytes);
}

std::optional<StoredBody> read_body(Bytes record) noexcept {
  const std::optional<uint32_t> rawBytes = raw_bytes_of(record);
  if (!rawBytes || !is_plain_record(record, kBodyPrefixBytes)) return std::nullopt;
  return StoredBody{static_cast<BodyCodec>(record[5]), *rawBytes, record.subspan(kBodyPrefixBytes)};
}

}  // namespace mds
