// AES-256-GCM and HMAC-SHA-256 of the OpenSSL inside Node: its program exports the functions, so nothing is
// linked or loaded, and the processor's own instructions are used. The functions are looked up at run time,
// because not every build of Node exports them. Any thread may call.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/aead.h"
#include "base/bytes.h"

namespace mds {

// Empty where this Node exports no OpenSSL.
[[nodiscard]] std::optional<Aead> openssl_aead() noexcept;

inline constexpr size_t kHmacBytes = 32;

// HMAC-SHA-256 under a key of kAeadKeyBytes. False where this Node exports no OpenSSL.
[[nodiscard]] bool hmac_sha256(const uint8_t* key, Bytes text, std::array<uint8_t, kHmacBytes>& tag) noexcept;

}  // namespace mds
