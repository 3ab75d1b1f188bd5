// See time_buckets.h. Years are counted in eras of 400 years, which all have the same number of days. A year
// begins on the first of March, so that the leap day is its last day.
#include "query/facets/time_buckets.h"

#include <algorithm>

namespace mds {
namespace {

constexpr int64_t kDaySeconds = 86400;
constexpr int64_t kSecondsMax = 8'640'000'000'000;
constexpr int64_t kEraDays = 146097;
constexpr int64_t kEraShift = 719468;  // days from 0000-03-01 to 1970-01-01

int64_t floor_of(int64_t dividend, int64_t divisor) noexcept {
  const int64_t quotient = dividend / divisor;
  return quotient * divisor > dividend ? quotient - 1 : quotient;
}

struct Month {
  int64_t year;
  int64_t month;  // 1 to 12
};

Month month_of(int64_t day) noexcept {
  const int64_t shifted = day + kEraShift;
  const int64_t era = floor_of(shifted, kEraDays);
  const int64_t inEra = shifted - era * kEraDays;
  const int64_t yearInEra = (inEra - inEra / 1460 + inEra / 36524 - inEra / 146096) / 365;
  const int64_t inYear = inEra - (365 * yearInEra + yearInEra / 4 - yearInEra / 100);
  const int64_t fromMarch = (5 * inYear + 2) / 153;
  const int64_t month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  return {era * 400 + yearInEra + (month <= 2 ? 1 : 0), month};
}

// Returns the first day of a month; month 13 is the first month of the next year.
int64_t first_day(Month month) noexcept {
  if (month.month > 12) month = {month.year + 1, 1};
  const int64_t year = month.month <= 2 ? month.year - 1 : month.year;
  const int64_t era = floor_of(year, 400);
  const int64_t yearInEra = year - era * 400;
  const int64_t fromMarch = month.month > 2 ? month.month - 3 : month.month + 9;
  return era * kEraDays + 365 * yearInEra + yearInEra / 4 - yearInEra / 100 + (153 * fromMarch + 2) / 5 - kEraShift;
}

TimeBucket days_between(int64_t begin, int64_t end) noexcept { return {begin * kDaySeconds, end * kDaySeconds}; }

}  // namespace

TimeBucket bucket_of(int64_t seconds, Interval interval) noexcept {
  const int64_t day = floor_of(std::clamp(seconds, -kSecondsMax, kSecondsMax), kDaySeconds);
  switch (interval) {
    case Interval::kDay:
      break;
    case Interval::kWeek: {
      const int64_t monday = floor_of(day + 3, 7) * 7 - 3;  // day 0 was a Thursday
      return days_between(monday, monday + 7);
    }
    case Interval::kMonth: {
      const Month month = month_of(day);
      return days_between(first_day(month), first_day({month.year, month.month + 1}));
    }
    case Interval::kYear: {
      const int64_t year = month_of(day).year;
      return days_between(first_day({year, 1}), first_day({year + 1, 1}));
    }
  }
  return days_between(day, day + 1);
}

}  // namespace mds
