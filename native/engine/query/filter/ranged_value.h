// Compares the bounds of a range with a metadata value: as numbers, else as times, else as text. Implements
// the same rule as src/domain/search/ranges.ts, bit for bit; a property test verifies this. That code tests a
// hit whose document has changed since. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "query/plan/search_plan.h"

namespace mds {

// A metadata value without leading and trailing white space.
struct RangedValue {
  std::string_view text;
  // A decimal number, or the Unix seconds of an ISO 8601 time; infinite beyond the range of a double.
  std::optional<double> scalar;
};

[[nodiscard]] RangedValue read_ranged_value(std::string_view value);

// Whether `scalar` satisfies a bound, which must be a number or a time.
[[nodiscard]] bool holds(const RangeBound& bound, double scalar) noexcept;

// Whether the value satisfies all bounds. A value without a scalar satisfies no bound that is a number or a
// time.
[[nodiscard]] bool is_within(const RangeFilter& range, const RangedValue& value) noexcept;

// Compares in UTF-16 order: negative, zero or positive.
[[nodiscard]] int compare_utf16(std::string_view a, std::string_view b) noexcept;

}  // namespace mds
