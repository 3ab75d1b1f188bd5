// Decompression of snappy blocks (format_description.txt of the snappy project), the codec of most bodies.
// Pure. The bytes are not trusted.
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace mds {

// Decompresses `packed` into `out`. Returns false if the bytes are not a block of exactly out.size() bytes;
// `out` then has undefined contents.
[[nodiscard]] bool unpack_snappy(Bytes packed, std::span<uint8_t> out) noexcept;

}  // namespace mds
