// How the bounds of a range meet a metadata value: as numbers, else as times, else as texts. The same rule as src/domain/fulltext/ranges.ts, to the bit, which a property
// test holds both to: a hit whose document has moved on is judged there. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "query/plan/search_plan.h"

namespace mds {

// A metadata value, white space around it left away.
struct RangedValue {
  std::string_view text;
  std::optional<double> scalar;  // a decimal number, or the Unix seconds of an ISO 8601 time; infinite beyond what a double holds
};

[[nodiscard]] RangedValue read_ranged_value(std::string_view value);

// Whether `scalar` lies on the right side of a bound that is one.
[[nodiscard]] bool holds(const RangeBound& bound, double scalar) noexcept;

// Whether the value satisfies all bounds. No text lies within a bound that is a number or a time.
[[nodiscard]] bool is_within(const RangeFilter& range, const RangedValue& value) noexcept;

// As UTF-16 orders them: below zero, zero, above.
[[nodiscard]] int compare_utf16(std::string_view a, std::string_view b) noexcept;

}  // namespace mds
