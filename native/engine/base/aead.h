// Authenticated encryption as the engine needs it: AES-256-GCM of whoever embeds the engine (binding/openssl_aead.h takes Node's own), or of a test. Plain functions, so
// that the engine links no library for it. Every function may be called from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"

namespace mds {

inline constexpr size_t kAeadKeyBytes = 32;
inline constexpr size_t kAeadNonceBytes = 12;
inline constexpr size_t kAeadTagBytes = 16;

using AeadKey = std::array<uint8_t, kAeadKeyBytes>;

struct Aead {
  // Writes text.size() bytes to `sealed` and kAeadTagBytes to `tag`. A nonce is used once with a key. False when the library refuses.
  bool (*seal)(const uint8_t* key, const uint8_t* nonce, Bytes associated, Bytes text, uint8_t* sealed, uint8_t* tag) = nullptr;
  // Writes sealed.size() bytes to `text`; false when they are not what was sealed with these: `text` is then not to be read.
  bool (*open)(const uint8_t* key, const uint8_t* nonce, Bytes associated, Bytes sealed, const uint8_t* tag, uint8_t* text) = nullptr;
};

}  // namespace mds
