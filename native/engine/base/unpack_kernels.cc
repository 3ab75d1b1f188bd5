// See unpack_kernels.h: the scalar kernels, the kernels in portable vectors, and the selection.
#include "base/unpack_kernels.h"

#include <cstring>
#include <utility>

#include "base/bytes.h"
#include "base/limits.h"

namespace mds {
namespace {

constexpr uint32_t kRows = kBlockPostings / kPackedLanes;

template <uint32_t kWidth>
void unpack_scalar(const uint8_t* in, uint32_t* out) noexcept {
  for (uint32_t index = 0; index < kBlockPostings; ++index) {
    const uint32_t lane = index % kPackedLanes;
    const uint32_t bit = index / kPackedLanes * kWidth;
    const auto word = [in, lane](uint32_t row) { return uint64_t{load_u32(in + (size_t{row} * kPackedLanes + lane) * sizeof(uint32_t))}; };
    if constexpr (kWidth == 0) {
      out[index] = 0;
    } else {
      const uint64_t next = bit % 32 + kWidth > 32 ? word(bit / 32 + 1) << 32 : 0;
      out[index] = static_cast<uint32_t>((word(bit / 32) | next) >> (bit % 32) & ((uint64_t{1} << kWidth) - 1));
    }
  }
}

template <uint32_t kWidth>
void ascend_scalar(const uint8_t* in, uint32_t before, uint32_t* out) noexcept {
  unpack_scalar<kWidth>(in, out);
  for (uint32_t index = 0; index < kBlockPostings; ++index) out[index] = before += out[index] + 1;
}

using Lanes = uint32_t __attribute__((vector_size(16)));

Lanes load_lanes(const uint8_t* at) noexcept {
  Lanes value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Row `kRow` (values from 4 * kRow on) of a vertical block.
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
void unpack_vector(const uint8_t* in, uint32_t* out) noexcept {
  const auto store = [out](uint32_t row, Lanes value) { std::memcpy(out + size_t{row} * kPackedLanes, &value, sizeof value); };
  visit_rows<kWidth>(in, store, std::make_index_sequence<kRows>{});
}

// Lanes shifted up by one or two, with zeros below; and the last lane broadcast. GCC before 12 supports only
// its own form of the shuffle.
#if defined(__clang__) || __GNUC__ >= 12
Lanes up_by_one(Lanes value) noexcept { return __builtin_shufflevector(Lanes{}, value, 0, 4, 5, 6); }
Lanes up_by_two(Lanes value) noexcept { return __builtin_shufflevector(Lanes{}, value, 0, 1, 4, 5); }
Lanes last_lane(Lanes value) noexcept { return __builtin_shufflevector(value, value, 3, 3, 3, 3); }
#else
Lanes up_by_one(Lanes value) noexcept { return __builtin_shuffle(Lanes{}, value, Lanes{0, 4, 5, 6}); }
Lanes up_by_two(Lanes value) noexcept { return __builtin_shuffle(Lanes{}, value, Lanes{0, 1, 4, 5}); }
Lanes last_lane(Lanes value) noexcept { return __builtin_shuffle(value, Lanes{3, 3, 3, 3}); }
#endif

// Each row is converted to its running sums by two shifted additions. Only the addition of the sum so far,
// which is the last lane of the previous row, depends on that row.
template <uint32_t kWidth>
void ascend_vector(const uint8_t* in, uint32_t before, uint32_t* out) noexcept {
  Lanes last = Lanes{} + before;
  const auto add_row = [&last, out](uint32_t row, Lanes value) {
    value += 1;
    value += up_by_one(value);
    value += up_by_two(value);
    value += last;
    std::memcpy(out + size_t{row} * kPackedLanes, &value, sizeof value);
    last = last_lane(value);
  };
  visit_rows<kWidth>(in, add_row, std::make_index_sequence<kRows>{});
}

template <size_t... kWidths>
UnpackKernels scalar_of_widths(std::index_sequence<kWidths...>) noexcept {
  return {"scalar", {&unpack_scalar<static_cast<uint32_t>(kWidths)>...}, {&ascend_scalar<static_cast<uint32_t>(kWidths)>...}};
}

template <size_t... kWidths>
UnpackKernels vector_of_widths(std::index_sequence<kWidths...>) noexcept {
#if defined(__x86_64__)
  constexpr const char* isa = "sse4.2";  // -march=x86-64-v2
#elif defined(__aarch64__)
  constexpr const char* isa = "neon";
#else
  constexpr const char* isa = "generic";
#endif
  return {isa, {&unpack_vector<static_cast<uint32_t>(kWidths)>...}, {&ascend_vector<static_cast<uint32_t>(kWidths)>...}};
}

}  // namespace

UnpackKernels scalar_unpack_kernels() noexcept { return scalar_of_widths(std::make_index_sequence<kUnpackWidths>{}); }

UnpackKernels vector_unpack_kernels() noexcept { return vector_of_widths(std::make_index_sequence<kUnpackWidths>{}); }

UnpackKernels best_unpack_kernels() noexcept {
  const UnpackKernels* avx2 = avx2_unpack_kernels();
  return avx2 != nullptr ? *avx2 : vector_unpack_kernels();
}

}  // namespace mds
