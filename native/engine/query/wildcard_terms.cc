// See wildcard_terms.h.
#include "query/wildcard_terms.h"

#include <algorithm>

#include "query/code_points.h"

namespace mds {

WildcardPattern::WildcardPattern(std::string_view text) {
  const size_t first = std::min(text.find_first_of("*?"), text.size());
  prefix_ = text.substr(0, first);
  rest_ = text.substr(first);
  const size_t last = rest_.find_last_of("*?");
  if (last != std::string::npos) suffix_ = rest_.substr(last + 1);
}

WildcardPattern WildcardPattern::begins_with(std::string_view prefix) {
  WildcardPattern pattern("*");
  pattern.prefix_ = prefix;
  return pattern;
}

bool WildcardPattern::matches(std::string_view term) const noexcept {
  term.remove_prefix(prefix_.size());
  if (rest_ == "*") return true;
  if (!term.ends_with(suffix_)) return false;
  const std::string_view pattern = rest_;
  size_t at = 0;
  size_t from = 0;
  // Where to go on when what follows the last `*` does not fit: that run takes one character more.
  size_t star = std::string_view::npos;
  size_t runEnd = 0;
  while (from < term.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = ++at;
      runEnd = from;
    } else if (at < pattern.size() && pattern[at] == '?') {
      ++at;
      (void)take_code_point(term, from);
    } else if (at < pattern.size() && pattern[at] == term[from]) {
      ++at;
      ++from;
    } else if (star != std::string_view::npos) {
      (void)take_code_point(term, runEnd);
      from = runEnd;
      at = star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

bool WildcardTerms::next(uint32_t& steps) {
  while (steps > 0 && walk_.ready()) {
    --steps;
    walk_.mark_looked_at();
    if (pattern_.matches(walk_.term())) return true;
  }
  return false;
}

}  // namespace mds
