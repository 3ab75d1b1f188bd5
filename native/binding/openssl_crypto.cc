// See openssl_crypto.h. The declarations are those of OpenSSL 1.1 and 3, whose ABI has them alike.
#include "binding/openssl_crypto.h"

#include <dlfcn.h>

#include <climits>
#include <cstring>

namespace mds {
namespace {

struct CipherContext;
struct Cipher;

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
  unsigned char* (*sha256)(const unsigned char* text, size_t bytes, unsigned char* digest);
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
                          find(found.control, "EVP_CIPHER_CTX_ctrl") && find(found.sha256, "SHA256");
  return isComplete ? std::optional(found) : std::nullopt;
}

const std::optional<Functions>& functions() noexcept {
  static const std::optional<Functions> found = find_functions();
  return found;
}

// One of each direction a thread: making one costs more than sealing a small record. The cipher is set once; a key or a nonce alone is set again.
class Context {
 public:
  Context() noexcept : context_(functions()->create()) {}
  ~Context() { functions()->destroy(context_); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  [[nodiscard]] CipherContext* get() const noexcept { return context_; }
  // The cipher to begin with: null once it has been set, which keeps what OpenSSL has looked up for it.
  [[nodiscard]] const Cipher* cipher_once() noexcept {
    const Cipher* cipher = isSet_ ? nullptr : functions()->aes256Gcm();
    isSet_ = true;
    return cipher;
  }

 private:
  CipherContext* context_;
  bool isSet_ = false;
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
  constexpr size_t kBlockBytes = 64;
  constexpr uint8_t kInner = 0x36;
  constexpr uint8_t kOuter = 0x5c;
  // A key, a language and an exact spelling: identities are bounded, so the text fits the stack.
  constexpr size_t kTextBytesMax = 4096;
  if (!functions() || text.size() > kTextBytesMax) return false;
  unsigned char inner[kBlockBytes + kTextBytesMax];
  unsigned char outer[kBlockBytes + kHmacBytes];
  std::memset(inner, kInner, kBlockBytes);
  std::memset(outer, kOuter, kBlockBytes);
  for (size_t at = 0; at < kAeadKeyBytes; ++at) {
    inner[at] = static_cast<unsigned char>(key[at] ^ kInner);
    outer[at] = static_cast<unsigned char>(key[at] ^ kOuter);
  }
  if (!text.empty()) std::memcpy(inner + kBlockBytes, text.data(), text.size());
  (void)functions()->sha256(inner, kBlockBytes + text.size(), outer + kBlockBytes);
  (void)functions()->sha256(outer, sizeof outer, tag.data());
  return true;
}

}  // namespace mds
