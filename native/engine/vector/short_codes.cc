// Codes of four bits and of one bit an element, made of the eight-bit codes (and the mean of all vectors): what a scan reads is half, or an eighth, of theirs.
#include <algorithm>
#include <array>
#include <cmath>

#include "vector/row_scan.h"
#include "vector/trained_index.h"
#include "vector/training_sample.h"
#include "vector/vector_kernels.h"
#include "vector/vector_limits.h"

namespace mds {
namespace {

// Two codes of -8 to 7 in a byte: NumKong's order of them is its own, but the same in both operands.
uint8_t pack_nibbles(int first, int second) noexcept { return static_cast<uint8_t>((first & 15) << 4 | (second & 15)); }

class NibbleCodes final : public TrainedIndex {
 public:
  NibbleCodes(uint32_t dims, uint32_t slots) : dims_((size_t{dims} + 1) / 2 * 2), slots_(slots), codes_(size_t{slots} * dims_ / 2) {}

  void encode(const SetView& view, uint32_t slot) noexcept {
    const int8_t* from = view.codes(slot);
    uint8_t* to = codes_.data() + slot * (dims_ / 2);
    for (size_t index = 0; index < dims_; index += 2) {
      to[index / 2] = pack_nibbles(shorten(from[index]), index + 1 < view.dims ? shorten(from[index + 1]) : 0);
    }
  }
  [[nodiscard]] uint32_t slots() const noexcept override { return slots_; }
  [[nodiscard]] uint64_t bytes() const noexcept override { return codes_.size(); }

  void find(const SetView& view, const SlotFilter& filter, const VectorQuery& query, size_t wanted, std::vector<uint32_t>& found, StopSignal& stop) const override {
    // The query keeps eight bits: 16 x high + low.
    std::vector<uint8_t> high(dims_ / 2);
    std::vector<uint8_t> low(dims_ / 2);
    const double scale = split_query(query, high, low);
    const VectorKernels& kernels = vector_kernels();
    scan_estimates(view, filter, slots_, query, wanted, found, stop, [&](uint32_t slot) {
      const uint8_t* codes = codes_.data() + slot * (dims_ / 2);
      const int32_t dot = 16 * kernels.dot_i4(high.data(), codes, dims_) + kernels.dot_i4(low.data(), codes, dims_);
      return scale * double{view.coded(slot).scale} * kStep * static_cast<double>(dot);
    });
  }

 private:
  static constexpr double kStep = 127.0 / 7.0;

  static int shorten(int8_t code) noexcept { return static_cast<int>(std::lround(static_cast<double>(code) / kStep)); }

  [[nodiscard]] double split_query(const VectorQuery& query, std::vector<uint8_t>& high, std::vector<uint8_t>& low) const {
    constexpr float kLargest = 119;  // 16 x 7 + 7
    float largest = 0;
    for (const float element : query.full()) largest = std::max(largest, std::fabs(element));
    const float scale = largest > 0 ? largest / kLargest : 1;
    const auto code = [&](size_t index) { return index < query.full().size() ? static_cast<int>(std::lround(query.full()[index] / scale)) : 0; };
    for (size_t index = 0; index < dims_; index += 2) {
      const std::array<int, 2> codes{code(index), code(index + 1)};
      const std::array<int, 2> highs{(codes[0] + 8) >> 4, (codes[1] + 8) >> 4};
      high[index / 2] = pack_nibbles(highs[0], highs[1]);
      low[index / 2] = pack_nibbles(codes[0] - 16 * highs[0], codes[1] - 16 * highs[1]);
    }
    return double{scale};
  }

  size_t dims_;  // even
  uint32_t slots_;
  std::vector<uint8_t> codes_;
};

class SignCodes final : public TrainedIndex {
 public:
  SignCodes(const SetView& view, std::vector<float> mean) : rowBytes_((view.dims + 7) / 8), slots_(view.slots), mean_(std::move(mean)), codes_(rowBytes_ * view.slots) {}

  void encode(const SetView& view, uint32_t slot, std::vector<float>& unit) noexcept {
    unit_vector(view, slot, unit.data(), unit.size());
    write_signs(unit.data(), codes_.data() + slot * rowBytes_);
  }
  [[nodiscard]] uint32_t slots() const noexcept override { return slots_; }
  [[nodiscard]] uint64_t bytes() const noexcept override { return codes_.size() + mean_.size() * sizeof(float); }

  void find(const SetView& view, const SlotFilter& filter, const VectorQuery& query, size_t wanted, std::vector<uint32_t>& found, StopSignal& stop) const override {
    std::vector<float> unit(query.full().begin(), query.full().end());
    const float norm = query.coded().norm;
    for (float& element : unit) element = norm > 0 ? element / norm : 0;
    std::vector<uint8_t> signs(rowBytes_);
    write_signs(unit.data(), signs.data());
    const VectorKernels& kernels = vector_kernels();
    const size_t bits = rowBytes_ * 8;
    // Bits that agree stand for the cosine.
    scan_estimates(view, filter, slots_, query, std::max<size_t>(wanted, kSignCandidatesMin), found, stop, [&](uint32_t slot) {
      const uint32_t differ = kernels.hamming(signs.data(), codes_.data() + slot * rowBytes_, bits);
      return double{norm} * double{view.coded(slot).norm} * (1.0 - 2.0 * differ / static_cast<double>(bits));
    });
  }

 private:
  void write_signs(const float* unit, uint8_t* out) const noexcept {
    for (size_t index = 0; index < mean_.size(); ++index) {
      if (unit[index] > mean_[index]) out[index / 8] = static_cast<uint8_t>(out[index / 8] | 1U << (index % 8));
    }
  }

  size_t rowBytes_;
  uint32_t slots_;
  std::vector<float> mean_;
  std::vector<uint8_t> codes_;
};

}  // namespace

std::shared_ptr<const TrainedIndex> make_nibble_codes(const SetView& view, const std::atomic<bool>& stop) {
  auto made = std::make_shared<NibbleCodes>(view.dims, view.slots);
  for (uint32_t slot = 0; slot < view.slots; ++slot) {
    if (stop.load(std::memory_order_relaxed)) return nullptr;
    made->encode(view, slot);
  }
  return made;
}

std::shared_ptr<const TrainedIndex> train_sign_codes(const SetView& view, const std::atomic<bool>& stop) {
  const FloatRows sample = training_sample(view, kMeanSample, view.dims);
  std::vector<double> sums(view.dims);
  for (size_t index = 0; index < sample.count(); ++index) {
    for (size_t column = 0; column < view.dims; ++column) sums[column] += double{sample.row(index)[column]};
  }
  std::vector<float> mean(view.dims);
  for (size_t column = 0; column < view.dims; ++column) mean[column] = static_cast<float>(sums[column] / static_cast<double>(std::max<size_t>(sample.count(), 1)));
  auto made = std::make_shared<SignCodes>(view, std::move(mean));
  std::vector<float> unit(view.dims);
  for (uint32_t slot = 0; slot < view.slots; ++slot) {
    if (stop.load(std::memory_order_relaxed)) return nullptr;
    made->encode(view, slot, unit);
  }
  return made;
}

}  // namespace mds
