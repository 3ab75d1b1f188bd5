// Four-bit codes for each part of a vector. Each part is encoded as the nearest of its sixteen centres. A
// scan looks up and sums the query's inner products with the centres for 64 vectors at once (table_lookup.h).
// It takes 2 ns per vector at 384 dimensions. Shared by PQ, OPQ, the sign codes of BQ and the lists of IVF.
// Immutable once it is filled.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "vector/codes/vector_query.h"
#include "vector/kernels/table_lookup.h"
#include "vector/kernels/vector_kernels.h"
#include "vector/set/training_sample.h"
#include "vector/trained/kmeans.h"

namespace mds {

inline constexpr size_t kGroupRows = lookup::kRows;
inline constexpr size_t kPartCentres = lookup::kEntries;

// The dimensions that rows are padded to: whole parts, an even number of parts, and whole registers of a
// matrix product.
[[nodiscard]] inline size_t padded_dims(size_t dims) noexcept { return (dims + matrix::kLaneColumns - 1) / matrix::kLaneColumns * matrix::kLaneColumns; }

// The centres of all parts: `columns` numbers each, at most sixteen per part.
struct PartBooks {
  size_t columns = 0;
  std::vector<FloatRows> centres;

  // Trains the centres on the rows. The dims of the rows must be padded.
  static PartBooks train(const FloatRows& rows, size_t columns, const std::atomic<bool>& stop);
  // Returns centres whose numbers are the mean of the column in the rows, plus or minus the mean distance
  // from it. The nearest centre then encodes the signs of four numbers.
  static PartBooks signs(const FloatRows& rows);
};

// A query's inner products with all centres, as bytes. The nearer the codes of a row are, the larger is its
// sum.
struct QueryTables {
  std::vector<uint8_t> entries;
  float step;    // value of one unit
  float offset;  // value of a sum of 0
  size_t sumMax;
};

class TableCodes {
 public:
  TableCodes(PartBooks books, size_t rows);

  // Encodes the rows [64 group, 64 group + count) of the table. The dims of the vectors must be padded.
  void encode(size_t group, const FloatRows& vectors, size_t count);
  // Replaces each of `vectors` with the vector that its codes represent.
  void replace(FloatRows& vectors) const;

  // The dims of `query` must be padded.
  [[nodiscard]] QueryTables tables(const FloatRows& query) const;
  // Writes the sums of the rows [64 group, 64 group + 64) to `sums`. Returns a bit mask of the rows with at
  // least `least`.
  [[nodiscard]] uint64_t sum(const QueryTables& tables, size_t group, uint16_t least, std::array<uint16_t, kGroupRows>& sums) const noexcept {
    return kernels_->sum_tables(codes_.data() + group * groupBytes_, tables.entries.data(), parts() / 2, least, sums.data());
  }
  [[nodiscard]] size_t groups() const noexcept { return codes_.size() / groupBytes_; }
  [[nodiscard]] size_t dims() const noexcept { return parts() * books_.columns; }
  [[nodiscard]] uint64_t bytes() const noexcept { return codes_.size() + parts() * kPartCentres * books_.columns * 2 * sizeof(float); }

 private:
  [[nodiscard]] size_t parts() const noexcept { return finders_.size(); }

  PartBooks books_;
  std::vector<CentreTable> finders_;
  size_t groupBytes_;
  std::vector<uint8_t> codes_;
  const VectorKernels* kernels_ = &vector_kernels();
};

}  // namespace mds
