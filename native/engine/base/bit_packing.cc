// See bit_packing.h.
#include "base/bit_packing.h"

#include <array>

#include "base/unpack_kernels.h"

namespace mds {
namespace {

// Selected when the engine is loaded. A copy, so that a call is one load and one jump.
const UnpackKernels kKernels = best_unpack_kernels();

void pack_vertical(const uint32_t* values, uint32_t width, std::vector<uint8_t>& out) {
  std::array<uint32_t, size_t{32} * kPackedLanes> words{};
  for (uint32_t index = 0; index < kBlockPostings; ++index) {
    const uint32_t lane = index % kPackedLanes;
    const uint32_t bit = index / kPackedLanes * width;
    const uint64_t shifted = uint64_t{values[index]} << (bit % 32);
    words[size_t{bit / 32} * kPackedLanes + lane] |= static_cast<uint32_t>(shifted);
    if (bit % 32 + width > 32) words[size_t{bit / 32 + 1} * kPackedLanes + lane] |= static_cast<uint32_t>(shifted >> 32);
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(words.data());
  out.insert(out.end(), bytes, bytes + packed_bytes(kBlockPostings, width));
}

}  // namespace

void pack_horizontal(std::span<const uint32_t> values, uint32_t width, std::vector<uint8_t>& out) {
  uint64_t pending = 0;
  uint32_t pendingBits = 0;
  for (const uint32_t value : values) {
    pending |= uint64_t{value} << pendingBits;
    pendingBits += width;
    while (pendingBits >= 8) {
      out.push_back(static_cast<uint8_t>(pending));
      pending >>= 8;
      pendingBits -= 8;
    }
  }
  if (pendingBits > 0) out.push_back(static_cast<uint8_t>(pending));
}

void pack(std::span<const uint32_t> values, uint32_t width, std::vector<uint8_t>& out) {
  if (width == 0) return;
  if (values.size() == kBlockPostings) {
    pack_vertical(values.data(), width, out);
  } else {
    pack_horizontal(values, width, out);
  }
}

void unpack(const uint8_t* in, uint32_t count, uint32_t width, uint32_t* out) noexcept {
  if (count == kBlockPostings) {
    kKernels.unpack[width](in, out);
    return;
  }
  for (uint32_t index = 0; index < count; ++index) out[index] = read_packed(in, index, width);
}

void unpack_ascending(const uint8_t* in, uint32_t count, uint32_t width, uint32_t before, uint32_t* out) noexcept {
  if (count == kBlockPostings) {
    kKernels.ascending[width](in, before, out);
    return;
  }
  for (uint32_t index = 0; index < count; ++index) out[index] = before += read_packed(in, index, width) + 1;
}

}  // namespace mds
