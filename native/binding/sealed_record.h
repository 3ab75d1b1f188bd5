// Opens a stored record whose text is sealed, in one call. Layout: src/store/sealing/sealed_record.ts. For
// records that hot paths read, where every value that crosses from JavaScript costs as much as deciphering a
// hundred bytes. Pure; any thread.
#pragma once

#include <cstdint>
#include <span>

#include "base/aead.h"
#include "base/bytes.h"

namespace mds {

// What is authenticated with the sealed text: kind and row key of the record, and the size of its plaintext
// header, whose bytes are authenticated, too.
struct SealedRecordContext {
  uint8_t kind;
  Bytes rowKey;           // at most 255 bytes
  size_t plaintextBytes;  // from 8 to kSealedRecordPlaintextBytesMax
};

// Crc32c, version, flags, key id, zero, and for entries an LSN.
inline constexpr size_t kSealedRecordPlaintextBytesMax = 64;

// Writes the record as it was before it was sealed, with a valid checksum. `record` has the size of `sealed`
// without nonce and tag. False where sizes are wrong, or where the record was not sealed with these: then
// `record` must not be read.
[[nodiscard]] bool open_record(const Aead& aead, const uint8_t* key, const SealedRecordContext& context, Bytes sealed, std::span<uint8_t> record) noexcept;

}  // namespace mds
