// See table_codes.h.
#include "vector/trained/table_codes.h"

#include <algorithm>
#include <cmath>

#include "vector/vector_limits.h"

namespace mds {
namespace {

constexpr size_t kSignColumns = 4;
// The largest entry. The sum of a pair of parts fits in a byte, and the sum of all parts in sixteen bits.
constexpr size_t kEntryMax = 127;
constexpr size_t kSumMax = 65535;

}  // namespace

PartBooks PartBooks::train(const FloatRows& rows, size_t columns, const std::atomic<bool>& stop) {
  PartBooks books{columns, {}};
  for (size_t begin = 0; begin < rows.dims; begin += columns) books.centres.push_back(kmeans(rows, begin, columns, kPartCentres, kTrainingIterations, stop));
  return books;
}

PartBooks PartBooks::signs(const FloatRows& rows) {
  const auto mean = [&rows](size_t column, double from) {
    double sum = 0;
    for (size_t row = 0; row < rows.count(); ++row) {
      const double element = double{rows.row(row)[column]};
      sum += from == 0 ? element : std::fabs(element - from);
    }
    return sum / static_cast<double>(std::max<size_t>(rows.count(), 1));
  };
  PartBooks books{kSignColumns, {}};
  for (size_t begin = 0; begin < rows.dims; begin += kSignColumns) {
    FloatRows centres{kSignColumns, std::vector<float>(kPartCentres * kSignColumns)};
    for (size_t column = 0; column < kSignColumns; ++column) {
      const double middle = mean(begin + column, 0);
      const double distance = mean(begin + column, middle);
      for (size_t centre = 0; centre < kPartCentres; ++centre) {
        centres.row(centre)[column] = static_cast<float>(middle + ((centre >> column & 1) != 0 ? distance : -distance));
      }
    }
    books.centres.push_back(std::move(centres));
  }
  return books;
}

TableCodes::TableCodes(PartBooks books, size_t rows) : books_(std::move(books)), groupBytes_(books_.centres.size() / 2 * kGroupRows) {
  for (const FloatRows& centres : books_.centres) finders_.emplace_back(centres);
  codes_.resize((rows + kGroupRows - 1) / kGroupRows * groupBytes_);
}

void TableCodes::encode(size_t group, const FloatRows& vectors, size_t count) {
  std::array<uint32_t, kGroupRows> nearest{};
  for (size_t part = 0; part < parts(); ++part) {
    finders_[part].nearest({vectors.values.data() + part * books_.columns, vectors.dims}, count, nearest.data());
    uint8_t* bytes = codes_.data() + group * groupBytes_ + part / 2 * kGroupRows;
    for (size_t row = 0; row < count; ++row) {
      uint8_t& byte = bytes[row % (kGroupRows / 2) * 2 + row / (kGroupRows / 2)];
      byte = static_cast<uint8_t>(byte | nearest[row] << (part % 2 * 4));
    }
  }
}

void TableCodes::replace(FloatRows& vectors) const {
  std::vector<uint32_t> nearest(vectors.count());
  for (size_t part = 0; part < parts(); ++part) {
    finders_[part].nearest({vectors.values.data() + part * books_.columns, vectors.dims}, vectors.count(), nearest.data());
    for (size_t row = 0; row < vectors.count(); ++row) {
      std::copy_n(books_.centres[part].row(nearest[row]), books_.columns, vectors.row(row) + part * books_.columns);
    }
  }
}

QueryTables TableCodes::tables(const FloatRows& query) const {
  std::vector<float> products(parts() * kPartCentres);
  std::vector<float> least(parts());
  float widest = 0;
  double offset = 0;
  std::vector<float> of;
  for (size_t part = 0; part < parts(); ++part) {
    const auto count = static_cast<std::ptrdiff_t>(finders_[part].count());
    finders_[part].products(query.values.data() + part * books_.columns, of);
    const auto [low, high] = std::minmax_element(of.begin(), of.begin() + count);
    std::copy_n(of.begin(), count, products.begin() + static_cast<std::ptrdiff_t>(part * kPartCentres));
    least[part] = *low;
    widest = std::max(widest, *high - *low);
    offset += double{*low};
  }
  const auto most = static_cast<float>(std::min(kEntryMax, kSumMax / parts()));
  const float step = widest > 0 ? widest / most : 1;
  const float perStep = 1 / step;
  QueryTables tables{std::vector<uint8_t>(products.size()), step, static_cast<float>(offset), 0};
  for (size_t part = 0; part < parts(); ++part) {
    uint8_t largest = 0;
    for (size_t centre = 0; centre < finders_[part].count(); ++centre) {
      const size_t at = part * kPartCentres + centre;
      // Never negative; lround would be a call for each entry. NOLINTNEXTLINE(bugprone-incorrect-roundings)
      tables.entries[at] = static_cast<uint8_t>((products[at] - least[part]) * perStep + 0.5F);
      largest = std::max(largest, tables.entries[at]);
    }
    tables.sumMax += largest;
  }
  return tables;
}

}  // namespace mds
