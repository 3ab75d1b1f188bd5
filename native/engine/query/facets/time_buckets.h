// Days, weeks, months and years of Unix seconds, in UTC and the Gregorian calendar. Weeks begin on Monday.
// Pure.
#pragma once

#include <cstdint>

namespace mds {

enum class Interval : uint32_t { kDay = 0, kWeek = 1, kMonth = 2, kYear = 3 };

// Unix seconds [from, to).
struct TimeBucket {
  int64_t from;
  int64_t to;

  [[nodiscard]] bool contains(int64_t seconds) const noexcept { return seconds >= from && seconds < to; }
};

// Returns the bucket that contains `seconds`. Values outside the range of ECMAScript dates are clamped to it.
[[nodiscard]] TimeBucket bucket_of(int64_t seconds, Interval interval) noexcept;

}  // namespace mds
