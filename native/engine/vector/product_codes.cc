// PQ: vectors cut into parts of eight numbers, each part told by the nearest of 256 centres, one byte. A search sums, part by part, the query's inner products with the
// centres, which it computes once. OPQ turns the vectors first, by a rotation that makes the parts fit better (rotation.h).
#include <algorithm>

#include "vector/kmeans.h"
#include "vector/rotation.h"
#include "vector/row_scan.h"
#include "vector/trained_index.h"
#include "vector/vector_limits.h"

namespace mds {
namespace {

constexpr size_t kPartColumns = 8;
constexpr size_t kPartCentres = 256;

struct Codebooks {
  std::vector<FloatRows> centres;  // by part
  std::vector<std::vector<float>> halves;

  Codebooks(const FloatRows& rows, const std::atomic<bool>& stop) {
    for (size_t part = 0; part < rows.dims / kPartColumns; ++part) {
      centres.push_back(kmeans(rows, part * kPartColumns, kPartColumns, kPartCentres, kTrainingIterations, stop));
      halves.push_back(half_squares(centres.back()));
    }
  }
  void encode(const float* vector, uint8_t* codes) const noexcept {
    for (size_t part = 0; part < centres.size(); ++part) codes[part] = static_cast<uint8_t>(nearest_centre(centres[part], halves[part], vector + part * kPartColumns));
  }
  void decode(const uint8_t* codes, float* vector) const noexcept {
    for (size_t part = 0; part < centres.size(); ++part) std::copy_n(centres[part].row(codes[part]), kPartColumns, vector + part * kPartColumns);
  }
};

class ProductCodes final : public TrainedIndex {
 public:
  ProductCodes(Codebooks books, Rotation rotation, uint32_t slots)
      : books_(std::move(books)), rotation_(std::move(rotation)), slots_(slots), codes_(books_.centres.size() * slots) {}

  void encode(const SetView& view, uint32_t slot, std::vector<float>& unit) {
    unit_vector(view, slot, unit.data(), unit.size());
    books_.encode(rotation_.turn(unit).data(), codes_.data() + slot * parts());
  }
  [[nodiscard]] uint32_t slots() const noexcept override { return slots_; }
  [[nodiscard]] uint64_t bytes() const noexcept override { return codes_.size() + parts() * kPartCentres * kPartColumns * sizeof(float) + rotation_.bytes(); }

  void find(const SetView& view, const SlotFilter& filter, const VectorQuery& query, size_t wanted, std::vector<uint32_t>& found, StopSignal& stop) const override {
    std::vector<float> padded(query.full().begin(), query.full().end());
    padded.resize(parts() * kPartColumns);
    const std::vector<float> turned = rotation_.turn(padded);
    std::vector<float> products(parts() * kPartCentres);
    for (size_t part = 0; part < parts(); ++part) {
      for (size_t centre = 0; centre < books_.centres[part].count(); ++centre) {
        const float* row = books_.centres[part].row(centre);
        float sum = 0;
        for (size_t column = 0; column < kPartColumns; ++column) sum += row[column] * turned[part * kPartColumns + column];
        products[part * kPartCentres + centre] = sum;
      }
    }
    scan_estimates(view, filter, slots_, query, std::max<size_t>(wanted, kProductCandidatesMin), found, stop, [&](uint32_t slot) {
      const uint8_t* codes = codes_.data() + slot * parts();
      std::array<float, 4> sums{};
      size_t part = 0;
      for (; part + 4 <= parts(); part += 4) {
        for (size_t lane = 0; lane < 4; ++lane) sums[lane] += products[(part + lane) * kPartCentres + codes[part + lane]];
      }
      for (; part < parts(); ++part) sums[0] += products[part * kPartCentres + codes[part]];
      // The codes stand for the vector at length 1.
      return double{view.coded(slot).norm} * double{(sums[0] + sums[1]) + (sums[2] + sums[3])};
    });
  }

 private:
  [[nodiscard]] size_t parts() const noexcept { return books_.centres.size(); }

  Codebooks books_;
  Rotation rotation_;
  uint32_t slots_;
  std::vector<uint8_t> codes_;
};

// Alternates: the best codes for the rotation, the best rotation for the codes (Ge, He, Ke, Sun: "Optimized Product Quantization", 2013).
Rotation train_rotation(const FloatRows& sample, const std::atomic<bool>& stop) {
  Rotation rotation = Rotation::identity(sample.dims);
  for (uint32_t iteration = 0; iteration < kRotationIterations && !stop.load(std::memory_order_relaxed); ++iteration) {
    const FloatRows turned = rotation.turn(sample);
    const Codebooks books(turned, stop);
    FloatRows decoded{sample.dims, std::vector<float>(sample.values.size())};
    std::vector<uint8_t> codes(books.centres.size());
    for (size_t row = 0; row < sample.count(); ++row) {
      books.encode(turned.row(row), codes.data());
      books.decode(codes.data(), decoded.row(row));
    }
    rotation = Rotation::between(sample, decoded, stop);
  }
  return rotation;
}

}  // namespace

std::shared_ptr<const TrainedIndex> train_product_codes(const SetView& view, bool isRotated, const std::atomic<bool>& stop) {
  const size_t dims = (view.dims + kPartColumns - 1) / kPartColumns * kPartColumns;
  const FloatRows sample = training_sample(view, kPartCentres * kSamplePerCentre, dims);
  Rotation rotation = isRotated && dims <= kRotationDimsMax ? train_rotation(sample, stop) : Rotation();
  Codebooks books(rotation.turn(sample), stop);
  auto made = std::make_shared<ProductCodes>(std::move(books), std::move(rotation), view.slots);
  std::vector<float> unit(dims);
  for (uint32_t slot = 0; slot < view.slots; ++slot) {
    if (stop.load(std::memory_order_relaxed)) return nullptr;
    made->encode(view, slot, unit);
  }
  return made;
}

}  // namespace mds
