// The terms that a word or a pattern matches, over the dictionaries of several segments and fields, in order,
// each with its df over all of them. Memory does not grow with the number of matches. Used by one search on
// one thread. Valid while the snapshot is referenced.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/stop_signal.h"
#include "query/expansion/fuzzy_terms.h"
#include "query/expansion/wildcard_terms.h"
#include "query/plan/search_plan.h"
#include "segment/segment.h"

namespace mds {

// A dictionary to search. Equal texts in different groups are different terms.
struct TermSource {
  const Segment* segment;
  const SectionEntry* section;
  uint32_t group;
};

// A word matched with edits, or a pattern of `*` and `?`.
enum class TermMatch : uint8_t { kFuzzy, kWildcard };

struct TermPattern {
  std::string_view text;
  TermMatch match;
  uint32_t edits = 0;
  uint32_t prefix = 0;
};

struct UnionTerm {
  std::string text;
  uint32_t group;
  uint32_t edits;
  uint64_t df;  // includes dead documents
  std::vector<TermLocation> locations;
};

class TermUnion {
 public:
  // Reads at most `scanMax` dictionary entries.
  TermUnion(const std::vector<TermSource>& sources, const TermPattern& pattern, uint32_t scanMax, StopSignal& stop);

  // Returns terms in ascending order of their bytes, then by group. Returns false at the end, when the budget
  // of entries is used up, or when the search is stopped.
  [[nodiscard]] bool next(UnionTerm& out);
  // Whether the budget was used up before the end.
  [[nodiscard]] bool is_cut() const noexcept { return isCut_; }

 private:
  using Terms = std::variant<FuzzyTerms, FuzzyCandidates, WildcardTerms, WildcardCandidates>;

  struct Run {
    Terms terms;
    const SectionEntry* section;
    uint32_t group;
    std::string_view text = {};  // the current match

    [[nodiscard]] const TermEntry& entry() {
      return std::visit([](auto& found) -> const TermEntry& { return found.entry(); }, terms);
    }
    [[nodiscard]] uint32_t edits() const {
      if (const auto* walked = std::get_if<FuzzyTerms>(&terms)) return walked->edits();
      const auto* filtered = std::get_if<FuzzyCandidates>(&terms);
      return filtered == nullptr ? 0 : filtered->edits();
    }
  };

  [[nodiscard]] static Terms fuzzy_terms(const TermSource& source, const TermPattern& pattern, StopSignal& stop);
  [[nodiscard]] static Terms wildcard_terms(const TermSource& source, const TermPattern& pattern, StopSignal& stop);
  // Moves the run to its next match. Returns false at the end.
  [[nodiscard]] bool advance(Run& run);
  // Restores the heap after the first run has moved.
  void settle_first();
  [[nodiscard]] static bool later(const Run* a, const Run* b) noexcept;

  StopSignal& stop_;
  uint32_t left_;
  bool isCut_ = false;
  std::vector<Run> runs_;
  std::vector<Run*> heap_;  // min-heap by text, then group
};

// Keeps the `most` best terms of those that are added.
class BestTerms {
 public:
  using Order = bool (*)(const UnionTerm& before, const UnionTerm& after) noexcept;

  BestTerms(size_t most, Order isBetter) noexcept : most_(most), isBetter_(isBetter) {}

  void add(const UnionTerm& term);
  // Returns the kept terms and empties the object.
  [[nodiscard]] std::vector<UnionTerm> take(Order isBefore);
  // Whether some terms were dropped; valid after take().
  [[nodiscard]] bool is_cut() const noexcept { return isCut_; }

 private:
  // Terms are collected up to this multiple of `most_` before the surplus is dropped.
  static constexpr size_t kSurplusFactor = 2;

  void drop_rest();

  size_t most_;
  Order isBetter_;
  bool isCut_ = false;
  bool hasWorst_ = false;  // whether the last of the `most_` terms is the worst that can be kept
  std::vector<UnionTerm> terms_;
};

}  // namespace mds
