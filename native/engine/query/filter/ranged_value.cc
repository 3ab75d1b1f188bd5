// See ranged_value.h.
#include "query/filter/ranged_value.h"

#include <locale.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "base/code_points.h"

namespace mds {
namespace {

bool is_digit(char character) noexcept { return character >= '0' && character <= '9'; }

// White space and line terminators of ECMAScript.
bool is_space(uint32_t code) noexcept {
  if (code <= 0x20) return code == 0x20 || (code >= 0x09 && code <= 0x0D);
  return code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000 ||
         code == 0xFEFF;
}

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty()) {
    size_t at = 0;
    if (!is_space(take_code_point(text, at))) break;
    text.remove_prefix(at);
  }
  while (!text.empty()) {
    size_t begin = text.size() - 1;
    while (begin > 0 && text.size() - begin < 4 && (static_cast<uint8_t>(text[begin]) & 0xC0) == 0x80) --begin;
    size_t at = begin;
    if (!is_space(take_code_point(text, at)) || at != text.size()) break;
    text.remove_suffix(text.size() - begin);
  }
  return text;
}

// Scans a string of ASCII punctuation and digits.
class Scanner {
 public:
  explicit Scanner(std::string_view text) noexcept : text_(text) {}

  [[nodiscard]] bool at_end() const noexcept { return at_ == text_.size(); }
  [[nodiscard]] char peek() const noexcept { return at_end() ? '\0' : text_[at_]; }
  bool take(char wanted) noexcept {
    if (at_end() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  // Consumes digits and returns them.
  std::string_view digits() noexcept {
    const size_t begin = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  // Consumes exactly `count` digits; returns -1 if there are fewer.
  int fixed(size_t count) noexcept {
    int value = 0;
    for (; count > 0; --count) {
      if (!is_digit(peek())) return -1;
      value = value * 10 + (text_[at_++] - '0');
    }
    return value;
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

constexpr std::array<double, 16> kPowersOfTen = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

// Correctly rounded, independent of the process's locale.
double parse_double(const std::string& text) {
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  return strtod_l(text.c_str(), nullptr, plain);
}

// [+-]? (digits [.digits?] | .digits) ([eE] [+-]? digits)?
std::optional<double> number_of(std::string_view text) {
  Scanner scanner(text);
  const bool isNegative = scanner.peek() == '-';
  if (isNegative || scanner.peek() == '+') (void)scanner.take(scanner.peek());
  const std::string_view whole = scanner.digits();
  std::string_view fraction;
  if (scanner.take('.')) fraction = scanner.digits();
  if (whole.empty() && fraction.empty()) return std::nullopt;
  if (!scanner.at_end()) {
    if (!scanner.take('e') && !scanner.take('E')) return std::nullopt;
    if (!scanner.take('+')) (void)scanner.take('-');
    if (scanner.digits().empty() || !scanner.at_end()) return std::nullopt;
    return parse_double(std::string(text));
  }
  // An integer of up to 15 digits is exact as a double, and so is the power of ten. Their quotient is rounded
  // once.
  if (whole.size() + fraction.size() >= kPowersOfTen.size()) return parse_double(std::string(text));
  double digits = 0;
  for (const char digit : whole) digits = digits * 10 + (digit - '0');
  for (const char digit : fraction) digits = digits * 10 + (digit - '0');
  const double value = digits / kPowersOfTen[fraction.size()];
  return isNegative ? -value : value;
}

bool is_leap(int year) noexcept { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int days_in(int year, int month) noexcept {
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : kDays[static_cast<size_t>(month - 1)];
}

// Days since 1970-01-01 in the Gregorian calendar, for years from 0 on.
int64_t days_of(int year, int month, int day) noexcept {
  const int64_t before = int64_t{year} * 365 + (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400;
  int64_t days = before - 719528 + day - 1;  // 0000-01-01 is day -719528
  for (int each = 1; each < month; ++each) days += days_in(year, each);
  return days;
}

bool is_below(int64_t value, int64_t bound) noexcept { return value >= 0 && value < bound; }

// Parses YYYY-MM[-DD] as a day; the scanner stays before the rest.
std::optional<int64_t> take_day(Scanner& scanner) noexcept {
  const int year = scanner.fixed(4);
  if (year < 0 || !scanner.take('-')) return std::nullopt;
  const int month = scanner.fixed(2);
  if (month < 1 || month > 12) return std::nullopt;
  int day = 1;
  if (scanner.take('-')) {
    day = scanner.fixed(2);
    if (day < 1 || day > days_in(year, month)) return std::nullopt;
  } else if (!scanner.at_end()) {
    return std::nullopt;
  }
  return days_of(year, month, day);
}

// Parses hh:mm[:ss[.f]] as milliseconds; digits below a millisecond are dropped.
std::optional<int64_t> take_clock(Scanner& scanner) noexcept {
  const int64_t hour = scanner.fixed(2);
  if (!is_below(hour, 24) || !scanner.take(':')) return std::nullopt;
  const int64_t minute = scanner.fixed(2);
  if (!is_below(minute, 60)) return std::nullopt;
  int64_t milliseconds = (hour * 60 + minute) * 60000;
  if (!scanner.take(':')) return milliseconds;
  const int64_t second = scanner.fixed(2);
  if (!is_below(second, 60)) return std::nullopt;
  milliseconds += second * 1000;
  if (!scanner.take('.')) return milliseconds;
  const std::string_view fraction = scanner.digits();
  if (fraction.empty()) return std::nullopt;
  int64_t part = 0;
  for (size_t at = 0; at < 3; ++at) part = part * 10 + (at < fraction.size() ? fraction[at] - '0' : 0);
  return milliseconds + part;
}

// Parses an empty string, Z or (+|-)hh[:]mm as minutes east, up to the end.
std::optional<int64_t> take_zone(Scanner& scanner) noexcept {
  if (scanner.at_end()) return 0;
  if (scanner.take('Z')) return scanner.at_end() ? std::optional<int64_t>(0) : std::nullopt;
  const bool isWest = scanner.take('-');
  if (!isWest && !scanner.take('+')) return std::nullopt;
  const int64_t hours = scanner.fixed(2);
  (void)scanner.take(':');
  const int64_t minutes = scanner.fixed(2);
  if (!is_below(hours, 24) || !is_below(minutes, 60) || !scanner.at_end()) return std::nullopt;
  return isWest ? -(hours * 60 + minutes) : hours * 60 + minutes;
}

// Parses YYYY-MM[-DD[(T| )hh:mm[:ss[.f]][zone]]]; without a zone it is UTC.
std::optional<double> time_of(std::string_view text) noexcept {
  Scanner scanner(text);
  const std::optional<int64_t> day = take_day(scanner);
  if (!day) return std::nullopt;
  if (scanner.at_end()) return static_cast<double>(*day * 86400);
  if (!scanner.take('T') && !scanner.take(' ')) return std::nullopt;
  const std::optional<int64_t> clock = take_clock(scanner);
  const std::optional<int64_t> zone = clock ? take_zone(scanner) : std::nullopt;
  if (!zone) return std::nullopt;
  return static_cast<double>(*day * 86400000 - *zone * 60000 + *clock) / 1000;
}

// Ranks a byte of UTF-8 so that bytes compare in UTF-16 order: code points of two surrogates sort below
// U+E000, the others from U+E000 on sort above them.
uint32_t utf16_rank(char character) noexcept {
  const auto byte = static_cast<uint8_t>(character);
  return byte == 0xEE || byte == 0xEF ? byte + 0x10U : byte;
}

bool satisfies(BoundKind kind, double order) noexcept {
  switch (kind) {
    case BoundKind::kAtLeast:
      return order >= 0;
    case BoundKind::kAtMost:
      return order <= 0;
    case BoundKind::kAbove:
      return order > 0;
    case BoundKind::kBelow:
      return order < 0;
  }
  return false;
}

}  // namespace

RangedValue read_ranged_value(std::string_view value) {
  RangedValue read{trimmed(value), std::nullopt};
  if (read.text.empty() || (!is_digit(read.text[0]) && read.text[0] != '-' && read.text[0] != '+' && read.text[0] != '.')) return read;
  read.scalar = number_of(read.text);
  if (!read.scalar) read.scalar = time_of(read.text);
  return read;
}

bool holds(const RangeBound& bound, double scalar) noexcept { return satisfies(bound.kind, scalar - bound.scalar); }

bool is_within(const RangeFilter& range, const RangedValue& value) noexcept {
  return std::all_of(range.bounds.begin(), range.bounds.end(), [&value](const RangeBound& bound) {
    if (bound.isText) return satisfies(bound.kind, compare_utf16(value.text, bound.text));
    return value.scalar && holds(bound, *value.scalar);
  });
}

int compare_utf16(std::string_view a, std::string_view b) noexcept {
  const size_t common = std::min(a.size(), b.size());
  for (size_t at = 0; at < common; ++at) {
    if (a[at] != b[at]) return utf16_rank(a[at]) < utf16_rank(b[at]) ? -1 : 1;
  }
  return a.size() == b.size() ? 0 : a.size() < b.size() ? -1 : 1;
}

}  // namespace mds
