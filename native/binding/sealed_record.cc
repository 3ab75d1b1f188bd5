// See sealed_record.h.
#include "binding/sealed_record.h"

#include <array>
#include <cstring>

#include "storage/crc32c.h"

namespace mds {
namespace {

constexpr size_t kChecksumBytes = 4;
constexpr size_t kKeyIdAt = 6;
constexpr size_t kClearBytesMin = 8;
constexpr size_t kPlaceKeyBytesMax = UINT8_MAX;
constexpr size_t kSealBytes = kAeadNonceBytes + kAeadTagBytes;

}  // namespace

bool open_record(const Aead& aead, const uint8_t* key, const SealedRecordPlace& place, Bytes sealed, std::span<uint8_t> record) noexcept {
  const size_t clear = place.clearBytes;
  if (clear < kClearBytesMin || clear > kSealedRecordClearBytesMax || place.key.size() > kPlaceKeyBytesMax) return false;
  if (sealed.size() < clear + kSealBytes || record.size() != sealed.size() - kSealBytes) return false;
  std::array<uint8_t, 2 + kPlaceKeyBytesMax + kSealedRecordClearBytesMax> associated{};
  associated[0] = place.kind;
  associated[1] = static_cast<uint8_t>(place.key.size());
  uint8_t* end = associated.data() + 2;
  if (!place.key.empty()) std::memcpy(end, place.key.data(), place.key.size());
  end += place.key.size();
  std::memcpy(end, sealed.data() + kChecksumBytes, clear - kChecksumBytes);
  end += clear - kChecksumBytes;
  const Bytes text = sealed.subspan(clear + kAeadNonceBytes, record.size() - clear);
  const auto associatedBytes = static_cast<size_t>(end - associated.data());
  if (!aead.open(key, sealed.data() + clear, Bytes(associated.data(), associatedBytes), text, text.data() + text.size(), record.data() + clear)) return false;
  std::memcpy(record.data(), sealed.data(), clear);
  record[kKeyIdAt] = 0;
  const uint32_t checksum = crc32c(Bytes(record).subspan(kChecksumBytes));
  std::memcpy(record.data(), &checksum, kChecksumBytes);
  return true;
}

}  // namespace mds
