#include "truth/snappy.h"

#include <algorithm>
#include <cstring>

namespace mds {
namespace {

constexpr uint32_t kLengthBitsPerByte = 7;
constexpr uint32_t kLengthBytesMax = 5;
// A literal length code above this one is followed by 1 to 4 bytes of length.
constexpr uint32_t kInlineLiteralMax = 60;
// Copies are at most 64 bytes long, and are made 16 bytes at a time.
constexpr size_t kCopyBytesMax = 64;
constexpr size_t kCopyStride = 16;

// Reads `count` bytes, little-endian, or fails if there are fewer.
bool read_snappy_number(Bytes packed, size_t& at, size_t count, uint32_t& number) noexcept {
  if (packed.size() - at < count) return false;
  number = 0;
  for (size_t index = 0; index < count; ++index) number |= static_cast<uint32_t>(packed[at + index]) << (8 * index);
  at += count;
  return true;
}

bool read_snappy_length(Bytes packed, size_t& at, uint64_t& length) noexcept {
  length = 0;
  for (uint32_t index = 0; index < kLengthBytesMax; ++index) {
    if (at >= packed.size()) return false;
    const uint8_t byte = packed[at++];
    length |= static_cast<uint64_t>(byte & 0x7FU) << (kLengthBitsPerByte * index);
    if ((byte & 0x80U) == 0) return true;
  }
  return false;
}

// Appends `length` bytes that begin `offset` bytes before `end`. They may overlap those that are appended.
void copy_back(std::span<uint8_t> out, size_t end, size_t offset, size_t length) noexcept {
  uint8_t* target = out.data() + end;
  const uint8_t* source = target - offset;
  if (offset >= kCopyStride && out.size() - end >= kCopyBytesMax) {
    for (size_t copied = 0; copied < length; copied += kCopyStride) std::memcpy(target + copied, source + copied, kCopyStride);
    return;
  }
  for (size_t index = 0; index < length; ++index) target[index] = source[index];
}

}  // namespace

bool unpack_snappy(Bytes packed, std::span<uint8_t> out) noexcept {
  size_t at = 0;
  uint64_t length = 0;
  if (!read_snappy_length(packed, at, length) || length != out.size()) return false;
  size_t end = 0;
  while (at < packed.size()) {
    const uint8_t tag = packed[at++];
    uint32_t count = static_cast<uint32_t>(tag) >> 2U;
    uint32_t offset = 0;
    switch (tag & 3U) {
      case 0: {
        if (count >= kInlineLiteralMax && !read_snappy_number(packed, at, count - kInlineLiteralMax + 1, count)) return false;
        const uint64_t bytes = uint64_t{count} + 1;
        if (bytes > packed.size() - at || bytes > out.size() - end) return false;
        std::memcpy(out.data() + end, packed.data() + at, static_cast<size_t>(bytes));
        at += static_cast<size_t>(bytes);
        end += static_cast<size_t>(bytes);
        continue;
      }
      case 1: {
        uint32_t low = 0;
        if (!read_snappy_number(packed, at, 1, low)) return false;
        offset = (count >> 3U) << 8U | low;
        count = (count & 7U) + 4;
        break;
      }
      case 2:
        if (!read_snappy_number(packed, at, 2, offset)) return false;
        ++count;
        break;
      default:
        if (!read_snappy_number(packed, at, 4, offset)) return false;
        ++count;
    }
    if (offset == 0 || offset > end || count > out.size() - end) return false;
    copy_back(out, end, offset, count);
    end += count;
  }
  return end == out.size();
}

}  // namespace mds
