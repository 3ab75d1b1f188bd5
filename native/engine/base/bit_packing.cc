// See bit_packing.h. The vertical kernels are one template per width, so that every shift is a constant.
#include "base/bit_packing.h"

#include <array>
#include <cstring>
#include <utility>

namespace mds {
namespace {

constexpr uint32_t kLanes = 4;
constexpr uint32_t kRows = kBlockPostings / kLanes;

using Lanes = uint32_t __attribute__((vector_size(16)));

Lanes load_lanes(const uint8_t* at) noexcept {
  Lanes value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <uint32_t kWidth>
void unpack_vertical(const uint8_t* in, uint32_t* out) noexcept {
  if constexpr (kWidth == 0) {
    std::memset(out, 0, kBlockPostings * sizeof(uint32_t));
  } else if constexpr (kWidth == 32) {
    std::memcpy(out, in, kBlockPostings * sizeof(uint32_t));
  } else {
    constexpr uint32_t mask = (uint32_t{1} << kWidth) - 1;
#pragma GCC unroll 32
    for (uint32_t row = 0; row < kRows; ++row) {
      const uint32_t word = row * kWidth / 32;
      const uint32_t shift = row * kWidth % 32;
      Lanes value = load_lanes(in + size_t{word} * 16) >> shift;
      if (shift + kWidth > 32) value |= load_lanes(in + size_t{word + 1} * 16) << (32 - shift);
      value &= mask;
      std::memcpy(out + size_t{row} * kLanes, &value, sizeof value);
    }
  }
}

using UnpackKernel = void (*)(const uint8_t*, uint32_t*) noexcept;

template <size_t... kWidths>
constexpr std::array<UnpackKernel, sizeof...(kWidths)> make_kernels(std::index_sequence<kWidths...>) noexcept {
  return {&unpack_vertical<static_cast<uint32_t>(kWidths)>...};
}

constexpr std::array<UnpackKernel, 33> kUnpackKernels = make_kernels(std::make_index_sequence<33>{});

void pack_vertical(const uint32_t* values, uint32_t width, std::vector<uint8_t>& out) {
  std::array<uint32_t, size_t{32} * kLanes> words{};
  for (uint32_t index = 0; index < kBlockPostings; ++index) {
    const uint32_t lane = index % kLanes;
    const uint32_t bit = index / kLanes * width;
    const uint64_t shifted = uint64_t{values[index]} << (bit % 32);
    words[size_t{bit / 32} * kLanes + lane] |= static_cast<uint32_t>(shifted);
    if (bit % 32 + width > 32) words[size_t{bit / 32 + 1} * kLanes + lane] |= static_cast<uint32_t>(shifted >> 32);
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
    kUnpackKernels[width](in, out);
    return;
  }
  for (uint32_t index = 0; index < count; ++index) out[index] = read_packed(in, index, width);
}

}  // namespace mds
