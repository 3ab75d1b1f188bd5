// Opens a stored record whose text is sealed, in one call: what src/store/sealing/sealed_record.ts says of its layout, for records that are read in the hot paths, where
// every value that crosses from JavaScript costs as much as a hundred bytes of deciphering. Pure; any thread.
#pragma once

#include <cstdint>
#include <span>

#include "base/aead.h"
#include "base/bytes.h"

namespace mds {

// What stands before the sealed text, and is sealed with.
struct SealedRecordPlace {
  uint8_t kind;
  Bytes key;          // at most 255 bytes
  size_t clearBytes;  // from 8 to kSealedRecordClearBytesMax
};

// Crc32c, version, flags, key id, zero, and of entries an LSN.
inline constexpr size_t kSealedRecordClearBytesMax = 64;

// Writes the record as it was before it was sealed, with a checksum that holds. `record` has the room of `sealed` without nonce and tag. False where sizes are wrong, or
// where it was not sealed so: then `record` is not to be read.
[[nodiscard]] bool open_record(const Aead& aead, const uint8_t* key, const SealedRecordPlace& place, Bytes sealed, std::span<uint8_t> record) noexcept;

}  // namespace mds
