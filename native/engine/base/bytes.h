// Little-endian loads, and a reader that never reads outside its span. Loads use memcpy, so no alignment is
// assumed.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace mds {

static_assert(std::endian::native == std::endian::little, "the formats are little-endian and are read in place");

using Bytes = std::span<const uint8_t>;

[[nodiscard]] inline uint32_t load_u32(const uint8_t* at) noexcept {
  uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

[[nodiscard]] inline uint64_t load_u64(const uint8_t* at) noexcept {
  uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

[[nodiscard]] inline uint64_t pad4(uint64_t bytes) noexcept { return (bytes + 3) & ~uint64_t{3}; }

[[nodiscard]] inline std::string_view as_text(Bytes bytes) noexcept { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// Reads forward. The first read past the end fails the reader permanently: every later read returns zero or
// nothing and does not advance. Callers must check `ok()` before they use a value as a size, and once at the
// end.
class ByteReader {
 public:
  explicit ByteReader(Bytes bytes) noexcept : bytes_(bytes) {}

  [[nodiscard]] bool ok() const noexcept { return !failed_; }
  [[nodiscard]] size_t remaining() const noexcept { return bytes_.size() - at_; }
  [[nodiscard]] size_t offset() const noexcept { return at_; }

  [[nodiscard]] Bytes take(uint64_t count) noexcept {
    if (failed_ || count > remaining()) {
      failed_ = true;
      return {};
    }
    const Bytes taken = bytes_.subspan(at_, static_cast<size_t>(count));
    at_ += taken.size();
    return taken;
  }

  [[nodiscard]] uint32_t u32() noexcept {
    const Bytes taken = take(4);
    return taken.empty() ? 0 : load_u32(taken.data());
  }

  [[nodiscard]] uint64_t u64() noexcept {
    const Bytes taken = take(8);
    return taken.empty() ? 0 : load_u64(taken.data());
  }

  [[nodiscard]] int64_t i64() noexcept { return static_cast<int64_t>(u64()); }
  [[nodiscard]] double f64() noexcept { return std::bit_cast<double>(u64()); }
  [[nodiscard]] float f32() noexcept { return std::bit_cast<float>(u32()); }

  // Reads a byte string of `count` bytes and its padding.
  [[nodiscard]] std::string_view padded(uint32_t count) noexcept {
    const Bytes taken = take(pad4(count));
    return failed_ ? std::string_view{} : as_text(taken.first(count));
  }

  // Reads a number of items of at least `itemBytes` each. Fails if the remaining bytes cannot contain that
  // number of items, so that no loop and no allocation exceeds the input.
  [[nodiscard]] uint32_t count(uint64_t itemBytes) noexcept { return checked_count(u32(), itemBytes); }

  [[nodiscard]] uint32_t checked_count(uint32_t items, uint64_t itemBytes) noexcept {
    if (!failed_ && items * itemBytes > remaining()) failed_ = true;
    return failed_ ? 0 : items;
  }

 private:
  Bytes bytes_;
  size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace mds
