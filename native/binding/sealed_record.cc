// See sealed_record.h.
#include "binding/sealed_record.h"

#include <array>
#include <cstring>

#include "storage/crc32c.h"

namespace mds {
namespace {

constexpr size_t kChecksumBytes = 4;
constexpr size_t kKeyIdAt = 6;
constexpr size_t kPlaintextBytesMin = 8;
constexpr size_t kRowKeyBytesMax = UINT8_MAX;
constexpr size_t kSealBytes = kAeadNonceBytes + kAeadTagBytes;

}  // namespace

bool open_record(const Aead& aead, const uint8_t* key, const SealedRecordContext& context, Bytes sealed, std::span<uint8_t> record) noexcept {
  const size_t plaintext = context.plaintextBytes;
  if (plaintext < kPlaintextBytesMin || plaintext > kSealedRecordPlaintextBytesMax || context.rowKey.size() > kRowKeyBytesMax) return false;
  if (sealed.size() < plaintext + kSealBytes || record.size() != sealed.size() - kSealBytes) return false;
  std::array<uint8_t, 2 + kRowKeyBytesMax + kSealedRecordPlaintextBytesMax> associated{};
  associated[0] = context.kind;
  associated[1] = static_cast<uint8_t>(context.rowKey.size());
  uint8_t* end = associated.data() + 2;
  if (!context.rowKey.empty()) std::memcpy(end, context.rowKey.data(), context.rowKey.size());
  end += context.rowKey.size();
  std::memcpy(end, sealed.data() + kChecksumBytes, plaintext - kChecksumBytes);
  end += plaintext - kChecksumBytes;
  const Bytes text = sealed.subspan(plaintext + kAeadNonceBytes, record.size() - plaintext);
  const auto associatedBytes = static_cast<size_t>(end - associated.data());
  if (!aead.open(key, sealed.data() + plaintext, Bytes(associated.data(), associatedBytes), text, text.data() + text.size(), record.data() + plaintext)) return false;
  std::memcpy(record.data(), sealed.data(), plaintext);
  record[kKeyIdAt] = 0;
  const uint32_t checksum = crc32c(Bytes(record).subspan(kChecksumBytes));
  std::memcpy(record.data(), &checksum, kChecksumBytes);
  return true;
}

}  // namespace mds
