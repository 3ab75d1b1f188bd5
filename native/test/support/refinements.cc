// Ranges and boosts of the model and of random plans. See model.h.
#include <algorithm>
#include <cmath>

#include "support/model.h"

namespace mds::test {

// Follows the generator: prices are numbers, other values are strings.
bool Model::is_within(const Range& range, const Document& document) {
  std::vector<std::pair<std::string, double>> values;
  if (range.field != 0) values.emplace_back("", static_cast<double>(range.field == 1 ? document.addedAt : document.updatedAt));
  for (const auto& [key, value] : document.meta) {
    if (range.field == 0 && key == range.key) values.emplace_back(value, key == "price" ? std::stod(value) : std::nan(""));
  }
  return std::any_of(values.begin(), values.end(), [&range](const auto& value) {
    return std::all_of(range.bounds.begin(), range.bounds.end(), [&value](const Bound& bound) {
      const double order = bound.text ? value.first.compare(*bound.text) : value.second - bound.scalar;
      return bound.kind == 0 ? order >= 0 : bound.kind == 1 ? order <= 0 : bound.kind == 2 ? order > 0 : order < 0;
    });
  });
}

void Generator::refine(Plan& plan) {
  for (uint32_t count = below(3); count > 0; --count) {
    Range range{below(4) % 3, "", {}};
    if (range.field == 0) range.key = below(4) == 0 ? "m" + std::to_string(below(5)) : "price";
    const uint32_t scale = range.field == 1 ? 50 : range.field == 2 ? 1000000 : below(2) == 0 ? 8 : 3000;
    for (uint32_t bounds = 1 + below(2); bounds > 0; --bounds) {
      Bound bound{below(4), std::nullopt, below(scale) - (range.field == 1 ? 20.0 : 0.5)};
      if (range.field == 0 && below(3) == 0) bound = {bound.kind, range.key == "price" ? std::to_string(below(30)) : "v" + std::to_string(below(30)), 0};
      range.bounds.push_back(bound);
    }
    plan.ranges.push_back(range);
  }
  const double factors[] = {0.0001, 0.5, 0.5, 1, 2, 2, 3.7, 10000};
  for (uint32_t count = below(2) == 0 ? below(3) : below(24); count > 0; --count) {
    const bool isPrice = below(3) == 0;
    plan.boosts.push_back({isPrice ? "price" : "m" + std::to_string(below(5)), isPrice ? std::to_string(below(9)) : "v" + std::to_string(below(30)), factors[below(8)]});
  }
}

}  // namespace mds::test
