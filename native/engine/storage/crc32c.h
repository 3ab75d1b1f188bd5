// CRC32C (Castagnoli), the checksum of everything in the index env. Pure. Uses the CRC instruction if the
// target has it, and a table otherwise.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace mds {

// `before`: the checksum of the preceding bytes; 0 if there are none.
[[nodiscard]] uint32_t crc32c(Bytes bytes, uint32_t before = 0) noexcept;

}  // namespace mds
