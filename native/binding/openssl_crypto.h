// AES-256-GCM and HMAC-SHA-256 from the OpenSSL inside Node. Node's executable exports the functions, so
// nothing is linked or loaded, and the processor's cryptographic instructions are used. The functions are
// looked up at run time, because not every build of Node exports them. Callable from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/aead.h"
#include "base/bytes.h"

namespace mds {

// Returns nullopt if this Node does not export OpenSSL.
[[nodiscard]] std::optional<Aead> openssl_aead() noexcept;

inline constexpr size_t kHmacBytes = 32;

// Computes HMAC-SHA-256 with a key of kAeadKeyBytes. Returns false if this Node does not export OpenSSL.
[[nodiscard]] bool hmac_sha256(const uint8_t* key, Bytes text, std::array<uint8_t, kHmacBytes>& tag) noexcept;

}  // namespace mds
