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

// Row `kRow` (values 4 * kRow on) of a vertical block.
template <uint32_t kWidth, uint32_t kRow>
Lanes load_row(const uint8_t* in) noexcept {
  if constexpr (kWidth == 0) {
    return Lanes{};
  } else if constexpr (kWidth == 32) {
    return load_lanes(in + size_t{kRow} * sizeof(Lanes));
  } else {
    constexpr uint32_t word = kRow * kWidth / 32;
    constexpr uint32_t shift = kRow * kWidth % 32;
    constexpr uint32_t mask = (uint32_t{1} << kWidth) - 1;
    Lanes value = load_lanes(in + size_t{word} * sizeof(Lanes)) >> shift;
    if constexpr (shift + kWidth > 32) value |= load_lanes(in + size_t{word + 1} * sizeof(Lanes)) << (32 - shift);
    return value & mask;
  }
}

// Calls visit(row, values) for the rows of a vertical block, unrolled.
template <uint32_t kWidth, class Visit, size_t... kRowIndexes>
void visit_rows(const uint8_t* in, Visit visit, std::index_sequence<kRowIndexes...>) noexcept {
  (visit(static_cast<uint32_t>(kRowIndexes), load_row<kWidth, static_cast<uint32_t>(kRowIndexes)>(in)), ...);
}

template <uint32_t kWidth>
void unpack_vertical(const uint8_t* in, uint32_t* out) noexcept {
  visit_rows<kWidth>(
      in, [out](uint32_t row, Lanes value) { std::memcpy(out + size_t{row} * kLanes, &value, sizeof value); }, std::make_index_sequence<kRows>{});
}

// Each row becomes its running sums by two shifted additions; only the addition of what came before, the last lane of the previous row, waits for that row.
template <uint32_t kWidth>
void unpack_vertical_ascending(const uint8_t* in, uint32_t before, uint32_t* out) noexcept {
  Lanes last = Lanes{} + before;
  const auto add_row = [&last, out](uint32_t row, Lanes value) {
    value += 1;
    value += __builtin_shufflevector(Lanes{}, value, 0, 4, 5, 6);
    value += __builtin_shufflevector(Lanes{}, value, 0, 1, 4, 5);
    value += last;
    std::memcpy(out + size_t{row} * kLanes, &value, sizeof value);
    last = __builtin_shufflevector(value, value, 3, 3, 3, 3);
  };
  visit_rows<kWidth>(in, add_row, std::make_index_sequence<kRows>{});
}

using UnpackKernel = void (*)(const uint8_t*, uint32_t*) noexcept;
using AscendingKernel = void (*)(const uint8_t*, uint32_t, uint32_t*) noexcept;

template <size_t... kWidths>
constexpr std::array<UnpackKernel, sizeof...(kWidths)> make_kernels(std::index_sequence<kWidths...>) noexcept {
  return {&unpack_vertical<static_cast<uint32_t>(kWidths)>...};
}

template <size_t... kWidths>
constexpr std::array<AscendingKernel, sizeof...(kWidths)> make_ascending_kernels(std::index_sequence<kWidths...>) noexcept {
  return {&unpack_vertical_ascending<static_cast<uint32_t>(kWidths)>...};
}

constexpr std::array<UnpackKernel, 33> kUnpackKernels = make_kernels(std::make_index_sequence<33>{});
constexpr std::array<AscendingKernel, 33> kAscendingKernels = make_ascending_kernels(std::make_index_sequence<33>{});

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

void unpack_ascending(const uint8_t* in, uint32_t count, uint32_t width, uint32_t before, uint32_t* out) noexcept {
  if (count == kBlockPostings) {
    kAscendingKernels[width](in, before, out);
    return;
  }
  for (uint32_t index = 0; index < count; ++index) out[index] = before += read_packed(in, index, width) + 1;
}

}  // namespace mds
