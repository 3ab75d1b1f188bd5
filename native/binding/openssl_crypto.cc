// See openssl_crypto.h. The declarations are those of OpenSSL 1.1 and 3, which are ABI-compatible here.
#include "binding/openssl_crypto.h"

#include <dlfcn.h>

#include <climits>
#include <cstring>

namespace mds {
namespace {

struct CipherContext;
struct Cipher;
struct HmacContext;
struct Digest;

struct Functions {
  CipherContext* (*create)();
  void (*destroy)(CipherContext*);
  const Cipher* (*aes256Gcm)();
  int (*beginSeal)(CipherContext*, const Cipher*, void* engine, const unsigned char* key, const unsigned char* nonce);
  int (*updateSeal)(CipherContext*, unsigned char* out, int* written, const unsigned char* in, int bytes);
  int (*endSeal)(CipherContext*, unsigned char* out, int* written);
  int (*beginOpen)(CipherContext*, const Cipher*, void* engine, const unsigned char* key, const unsigned char* nonce);
  int (*updateOpen)(CipherContext*, unsigned char* out, int* written, const unsigned char* in, int bytes);
  int (*endOpen)(CipherContext*, unsigned char* out, int* written);
  int (*control)(CipherContext*, int type, int value, void* bytes);
  HmacContext* (*createHmac)();
  void (*destroyHmac)(HmacContext*);
  int (*beginHmac)(HmacContext*, const void* key, int bytes, const Digest*, void* engine);
  int (*updateHmac)(HmacContext*, const unsigned char* text, size_t bytes);
  int (*endHmac)(HmacContext*, unsigned char* tag, unsigned int* written);
  const Digest* (*sha256)();
  // OpenSSL 3 only; null in OpenSSL 1.1.
  const Digest* (*fetchDigest)(void* library, const char* name, const char* properties);
};

constexpr int kGetTag = 0x10;  // EVP_CTRL_AEAD_GET_TAG
constexpr int kSetTag = 0x11;  // EVP_CTRL_AEAD_SET_TAG

template <class Function>
bool find(Function& function, const char* name) noexcept {
  function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

std::optional<Functions> find_functions() noexcept {
  Functions found{};
  const bool isComplete = find(found.create, "EVP_CIPHER_CTX_new") && find(found.destroy, "EVP_CIPHER_CTX_free") && find(found.aes256Gcm, "EVP_aes_256_gcm") &&
                          find(found.beginSeal, "EVP_EncryptInit_ex") && find(found.updateSeal, "EVP_EncryptUpdate") && find(found.endSeal, "EVP_EncryptFinal_ex") &&
                          find(found.beginOpen, "EVP_DecryptInit_ex") && find(found.updateOpen, "EVP_DecryptUpdate") && find(found.endOpen, "EVP_DecryptFinal_ex") &&
                          find(found.control, "EVP_CIPHER_CTX_ctrl") && find(found.createHmac, "HMAC_CTX_new") && find(found.destroyHmac, "HMAC_CTX_free") &&
                          find(found.beginHmac, "HMAC_Init_ex") && find(found.updateHmac, "HMAC_Update") && find(found.endHmac, "HMAC_Final") &&
                          find(found.sha256, "EVP_sha256");
  (void)find(found.fetchDigest, "EVP_MD_fetch");
  return isComplete ? std::optional(found) : std::nullopt;
}

const std::optional<Functions>& functions() noexcept {
  static const std::optional<Functions> found = find_functions();
  return found;
}

// One context per direction and thread, because creating a context costs more than sealing a small record.
// The cipher is set once. Later calls set only a key and a nonce.
class Context {
 public:
  Context() noexcept : context_(functions()->create()) {}
  ~Context() { functions()->destroy(context_); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  [[nodiscard]] CipherContext* get() const noexcept { return context_; }
  // Returns the cipher on the first call and null afterwards, so that OpenSSL keeps its cached lookup.
  [[nodiscard]] const Cipher* cipher_once() noexcept {
    const Cipher* cipher = isSet_ ? nullptr : functions()->aes256Gcm();
    isSet_ = true;
    return cipher;
  }

 private:
  CipherContext* context_;
  bool isSet_ = false;
};

// Fetched once for the lifetime of the process. With EVP_sha256() OpenSSL 3 looks the digest up again for
// every tag, which doubles the time per tag.
const Digest* sha256_digest() noexcept {
  static const Digest* const fetched = functions()->fetchDigest == nullptr ? nullptr : functions()->fetchDigest(nullptr, "SHA256", nullptr);
  return fetched != nullptr ? fetched : functions()->sha256();
}

// One per thread, for the same reason as Context. Every tag sets its key again.
class HmacState {
 public:
  HmacState() noexcept : context_(functions()->createHmac()) {}
  ~HmacState() { functions()->destroyHmac(context_); }
  HmacState(const HmacState&) = delete;
  HmacState& operator=(const HmacState&) = delete;

  [[nodiscard]] HmacContext* get() const noexcept { return context_; }

 private:
  HmacContext* context_;
};

bool seal(const uint8_t* key, const uint8_t* nonce, Bytes associated, Bytes text, uint8_t* sealed, uint8_t* tag) {
  thread_local Context context;
  const Functions& openssl = *functions();
  CipherContext* const cipher = context.get();
  int written = 0;
  unsigned char rest[16];
  return cipher != nullptr && text.size() <= INT_MAX && openssl.beginSeal(cipher, context.cipher_once(), nullptr, key, nonce) == 1 &&
         openssl.updateSeal(cipher, nullptr, &written, associated.data(), static_cast<int>(associated.size())) == 1 &&
         openssl.updateSeal(cipher, sealed, &written, text.data(), static_cast<int>(text.size())) == 1 && openssl.endSeal(cipher, rest, &written) == 1 &&
         openssl.control(cipher, kGetTag, kAeadTagBytes, tag) == 1;
}

bool open(const uint8_t* key, const uint8_t* nonce, Bytes associated, Bytes sealed, const uint8_t* tag, uint8_t* text) {
  thread_local Context context;
  const Functions& openssl = *functions();
  CipherContext* const cipher = context.get();
  int written = 0;
  unsigned char rest[16];
  unsigned char expected[kAeadTagBytes];
  std::memcpy(expected, tag, sizeof expected);
  return cipher != nullptr && sealed.size() <= INT_MAX && openssl.beginOpen(cipher, context.cipher_once(), nullptr, key, nonce) == 1 &&
         openssl.updateOpen(cipher, nullptr, &written, associated.data(), static_cast<int>(associated.size())) == 1 &&
         openssl.updateOpen(cipher, text, &written, sealed.data(), static_cast<int>(sealed.size())) == 1 &&
         openssl.control(cipher, kSetTag, kAeadTagBytes, expected) == 1 && openssl.endOpen(cipher, rest, &written) == 1;
}

}  // namespace

std::optional<Aead> openssl_aead() noexcept { return functions() ? std::optional(Aead{seal, open}) : std::nullopt; }

bool hmac_sha256(const uint8_t* key, Bytes text, std::array<uint8_t, kHmacBytes>& tag) noexcept {
  if (!functions()) return false;
  thread_local const HmacState state;
  const Functions& openssl = *functions();
  HmacContext* const hmac = state.get();
  unsigned int written = 0;
  return hmac != nullptr && openssl.beginHmac(hmac, key, static_cast<int>(kAeadKeyBytes), sha256_digest(), nullptr) == 1 &&
         openssl.updateHmac(hmac, text.data(), text.size()) == 1 && openssl.endHmac(hmac, tag.data(), &written) == 1;
}

}  // namespace mds
