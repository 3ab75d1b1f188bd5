// PQ: vectors are divided into parts, and each part is encoded as the nearest of sixteen trained centres
// (table_codes.h). OPQ first rotates the vectors so that the parts fit better (rotation.h). BQ has fixed
// centres that encode the signs of the numbers, one bit each.
#include <algorithm>

#include "vector/trained/rotation.h"
#include "vector/trained/rough_candidates.h"
#include "vector/trained/table_codes.h"
#include "vector/trained/trained_index.h"
#include "vector/vector_limits.h"

namespace mds {
namespace {

class ProductCodes final : public TrainedIndex {
 public:
  ProductCodes(PartBooks books, Rotation rotation, uint32_t slots) : codes_(std::move(books), slots), rotation_(std::move(rotation)), slots_(slots) {}

  void encode(const SetView& view, size_t group) {
    const auto begin = static_cast<uint32_t>(group * kGroupRows);
    const uint32_t end = std::min(begin + static_cast<uint32_t>(kGroupRows), slots_);
    FloatRows units{codes_.dims(), std::vector<float>((end - begin) * codes_.dims())};
    for (uint32_t slot = begin; slot < end; ++slot) unit_vector(view, slot, units.row(slot - begin), units.dims);
    codes_.encode(group, rotation_.turn(std::move(units)), end - begin);
  }
  [[nodiscard]] size_t groups() const noexcept { return codes_.groups(); }
  [[nodiscard]] uint32_t slots() const noexcept override { return slots_; }
  [[nodiscard]] uint64_t bytes() const noexcept override { return codes_.bytes() + rotation_.bytes(); }

  void find(const SetView& view, const SlotFilter& filter, const VectorQuery& query, const CandidateCounts& counts, std::vector<uint32_t>& found,
            StopSignal& stop) const override {
    RoughCandidates candidates(view, query, codes_, rotation_.turn(unit_query(query)), counts.rough);
    for (size_t group = 0; group < codes_.groups() && !stop.after(kGroupRows / 16); ++group) {
      const auto begin = static_cast<uint32_t>(group * kGroupRows);
      uint64_t passing = filter.rows(begin / kBlockSlots)[begin % kBlockSlots / 64];
      // Slots after the last encoded one have no codes.
      if (slots_ - begin < kGroupRows) passing &= (uint64_t{1} << (slots_ - begin)) - 1;
      if (passing != 0)
        candidates.add_group(
            group, passing, [begin](uint32_t row) { return begin + row; }, [](uint32_t) { return true; });
    }
    candidates.narrow(counts.rescored, found, stop);
  }

 private:
  TableCodes codes_;
  Rotation rotation_;
  uint32_t slots_;
};

std::shared_ptr<const TrainedIndex> encode_all(const SetView& view, PartBooks books, Rotation rotation, const std::atomic<bool>& stop) {
  if (stop.load(std::memory_order_relaxed)) return nullptr;
  auto made = std::make_shared<ProductCodes>(std::move(books), std::move(rotation), view.slots);
  for (size_t group = 0; group < made->groups(); ++group) {
    if (stop.load(std::memory_order_relaxed)) return nullptr;
    made->encode(view, group);
  }
  return made;
}

// Alternates between the best codes for the rotation and the best rotation for the codes (Ge, He, Ke, Sun:
// "Optimized Product Quantization", 2013).
Rotation train_rotation(const FloatRows& sample, const std::atomic<bool>& stop) {
  Rotation rotation = Rotation::identity(sample.dims);
  for (uint32_t iteration = 0; iteration < kRotationIterations && !stop.load(std::memory_order_relaxed); ++iteration) {
    FloatRows decoded = rotation.turn(sample);
    TableCodes(PartBooks::train(decoded, kProductColumns, stop), 0).replace(decoded);
    rotation = Rotation::between(sample, decoded, stop);
  }
  return rotation;
}

}  // namespace

std::shared_ptr<const TrainedIndex> train_product_codes(const SetView& view, bool isRotated, const std::atomic<bool>& stop) {
  const FloatRows sample = training_sample(view, kProductSample, padded_dims(view.dims));
  Rotation rotation = isRotated && sample.dims <= kRotationDimsMax ? train_rotation(sample, stop) : Rotation();
  PartBooks books = PartBooks::train(rotation.turn(sample), kProductColumns, stop);
  return encode_all(view, std::move(books), std::move(rotation), stop);
}

std::shared_ptr<const TrainedIndex> train_sign_codes(const SetView& view, const std::atomic<bool>& stop) {
  return encode_all(view, PartBooks::signs(training_sample(view, kProductSample, padded_dims(view.dims))), Rotation(), stop);
}

}  // namespace mds
