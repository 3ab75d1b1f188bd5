// Opens a stored record with a sealed text in one call. Layout: src/store/sealing/sealed_record.ts. Used for
// records on hot paths, where passing one value from JavaScript costs as much as decrypting a hundred bytes.
// Pure; any thread.
#pragma once

#include <cstdint>
#include <span>

#include "base/aead.h"
#include "base/bytes.h"

namespace mds {

// The data that is authenticated together with the sealed text: kind and row key of the record, and the size
// of its plaintext header. The bytes of the header are authenticated, too.
struct SealedRecordContext {
  uint8_t kind;
  Bytes rowKey;           // at most 255 bytes
  size_t plaintextBytes;  // from 8 to kSealedRecordPlaintextBytesMax
};

// CRC32C, version, flags, key id, zero, and for entries an LSN.
inline constexpr size_t kSealedRecordPlaintextBytesMax = 64;

// Writes the record as it was before sealing, with a valid checksum. `record` must have the size of `sealed`
// without nonce and tag. Returns false if a size is wrong or the record was not sealed with these values;
// `record` must not be read then.
[[nodiscard]] bool open_record(const Aead& aead, const uint8_t* key, const SealedRecordContext& context, Bytes sealed, std::span<uint8_t> record) noexcept;

}  // namespace mds
