// CRC32C (Castagnoli), the checksum of everything in the index env. Pure; by instruction where the target has
// it, by table elsewhere.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace mds {

// `before`: the checksum of the preceding bytes, 0 for none.
[[nodiscard]] uint32_t crc32c(Bytes bytes, uint32_t before = 0) noexcept;

}  // namespace mds
