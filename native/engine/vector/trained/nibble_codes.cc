// SQ4: four-bit codes per element, derived from the eight-bit codes. A scan reads half as many bytes.
#include <algorithm>
#include <cmath>

#include "vector/kernels/vector_kernels.h"
#include "vector/scan/row_scan.h"
#include "vector/trained/trained_index.h"

namespace mds {
namespace {

class NibbleCodes final : public TrainedIndex {
 public:
  NibbleCodes(uint32_t dims, uint32_t slots) : rowBytes_((size_t{dims} + 127) / 128 * 64), slots_(slots), codes_(size_t{slots} * rowBytes_) {}

  void encode(const SetView& view, uint32_t slot) noexcept {
    const int8_t* from = view.codes(slot);
    uint8_t* to = codes_.data() + slot * rowBytes_;
    for (size_t index = 0; index < view.dims; ++index) {
      const unsigned code = shorten(from[index]);
      uint8_t& byte = to[index % rowBytes_];
      byte = static_cast<uint8_t>(byte | (index < rowBytes_ ? code : code << 4));
    }
  }
  [[nodiscard]] uint32_t slots() const noexcept override { return slots_; }
  [[nodiscard]] uint64_t bytes() const noexcept override { return codes_.size(); }

  void find(const SetView& view, const SlotFilter& filter, const VectorQuery& query, const CandidateCounts& counts, std::vector<uint32_t>& found,
            StopSignal& stop) const override {
    // The query keeps its eight-bit codes.
    std::vector<int8_t> padded(query.codes(), query.codes() + view.dims);
    padded.resize(2 * rowBytes_);
    int32_t sum = 0;
    for (const int8_t code : padded) sum += code;
    const VectorKernels& kernels = vector_kernels();
    const double scale = double{query.coded().scale} * kStep;
    scan_estimates(view, filter, slots_, query, counts.rescored, found, stop, [&](uint32_t slot) {
      const int32_t dot = kernels.dot_u4(padded.data(), padded.data() + rowBytes_, codes_.data() + slot * rowBytes_, rowBytes_) - kMiddle * sum;
      return scale * double{view.coded(slot).scale} * static_cast<double>(dot);
    });
  }

 private:
  static constexpr double kStep = 127.0 / 7.0;
  // The code of 0. The codes represent -7 to 7.
  static constexpr int kMiddle = 8;

  static unsigned shorten(int8_t code) noexcept { return static_cast<unsigned>(std::lround(static_cast<double>(code) / kStep) + kMiddle); }

  size_t rowBytes_;  // a multiple of 64; the first half of the elements is in the lower halves of the bytes
  uint32_t slots_;
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

}  // namespace mds
