// The interface to authenticated encryption: AES-256-GCM, supplied by the program that embeds the engine
// (binding/openssl_crypto.h uses Node's OpenSSL) or by a test. Plain functions, so that the engine links no
// crypto library. Every function may be called from any thread.
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
  // Writes text.size() bytes to `sealed` and kAeadTagBytes to `tag`. A nonce must be used only once with a
  // key. Returns false if the library reports an error.
  bool (*seal)(const uint8_t* key, const uint8_t* nonce, Bytes associated, Bytes text, uint8_t* sealed, uint8_t* tag) = nullptr;
  // Writes sealed.size() bytes to `text`. Returns false if the bytes were not sealed with these arguments;
  // `text` must not be read then.
  bool (*open)(const uint8_t* key, const uint8_t* nonce, Bytes associated, Bytes sealed, const uint8_t* tag, uint8_t* text) = nullptr;
};

}  // namespace mds
