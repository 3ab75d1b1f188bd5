// The terms of a dictionary that a pattern matches as a whole: `*` stands for any run of characters, also none, `?` for one character. Characters are code points. The
// walk seeks what the pattern begins with and reads all terms that begin so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "query/prefix_walk.h"

namespace mds {

class WildcardPattern {
 public:
  explicit WildcardPattern(std::string_view text);
  // Whatever begins with `prefix`, in which no character means anything else.
  [[nodiscard]] static WildcardPattern begins_with(std::string_view prefix);

  // What stands before the first `*` or `?`.
  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
  // `term` begins with the prefix. O(pattern x term) at worst.
  [[nodiscard]] bool matches(std::string_view term) const noexcept;

 private:
  std::string prefix_;
  std::string rest_;    // behind it
  std::string suffix_;  // what stands behind the last `*` or `?`
};

class WildcardTerms {
 public:
  // The walk has not begun.
  WildcardTerms(WildcardPattern pattern, const DictionaryWalk& walk) : walk_(pattern.prefix(), walk), pattern_(std::move(pattern)) {}

  // Moves to the next term that the pattern matches; at most `steps` terms are looked at, and that number falls by those that were. False at the end or when no step is
  // left.
  [[nodiscard]] bool next(uint32_t& steps);
  [[nodiscard]] const PrefixWalk& walk() const noexcept { return walk_; }

 private:
  PrefixWalk walk_;
  WildcardPattern pattern_;
};

}  // namespace mds
