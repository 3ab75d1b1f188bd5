// The terms of one section that begin with a prefix, commonest first, terms of the same df in the order of
// their bytes. The highest df of every run of terms (segment/term_maxima.h) shows which runs to read, so that
// only blocks with a wanted term are read. Used by one request on one thread; valid while the snapshot is
// referenced.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "segment/segment.h"

namespace mds {

class CommonTerms {
 public:
  CommonTerms(const Segment& segment, const SectionEntry& section, std::string_view prefix);

  // Number of terms with the prefix, plus up to two dictionary blocks: only their blocks are known.
  [[nodiscard]] uint32_t size() const noexcept { return end_ - begin_; }
  // Visits all of them in the order of their bytes.
  template <class Take>
  void each(uint32_t& steps, Take take) const {
    bool isInside = false;
    for (DictionaryWalk walk = segment_->terms(begin_, end_); steps > 0 && walk.next(); --steps) {
      const bool wasInside = isInside;
      isInside = walk.term().starts_with(prefix_);
      if (isInside) take(walk.term(), walk.entry().df);
      if (wasInside && !isInside) break;
    }
  }
  // Must be called before the methods below. `steps` falls by the dictionary entries that are read, down to
  // 0.
  void begin(uint32_t& steps);
  [[nodiscard]] bool is_at_end() const noexcept { return heap_.empty(); }
  // Of the present term.
  [[nodiscard]] uint32_t df() const noexcept { return heap_.front().df; }
  [[nodiscard]] const std::string& text();
  void next(uint32_t& steps);
  // Number of terms that have not been passed yet.
  [[nodiscard]] uint32_t left() const noexcept { return size() - passed_; }
  // Df of any term with the prefix; 0 where the section does not have it.
  [[nodiscard]] uint32_t df_of(std::string_view term, uint32_t& steps) const noexcept;

 private:
  // A term (level 0), or a run of them: a dictionary block (1), kMaximaFanout blocks (2) and so on.
  struct Run {
    uint32_t df;     // of a run: the highest in it
    uint32_t first;  // term, in the dictionary
    uint32_t level;
  };

  [[nodiscard]] static bool comes_later(const Run& a, const Run& b) noexcept;
  void push(const Run& run);
  // The runs [begin, end) of a level that have a term with the prefix.
  void push_runs(size_t begin, size_t end, uint32_t level);
  // Expands runs until a term is first.
  void settle(uint32_t& steps);
  void read_block(uint32_t first, uint32_t& steps);

  const Segment* segment_;
  const SectionEntry* section_;
  std::string_view prefix_;
  uint32_t begin_;  // of a block
  uint32_t end_;
  uint32_t passed_ = 0;
  std::shared_ptr<const TermMaxima> maxima_;  // null in small sections
  std::vector<Run> heap_;                     // first comes first
  uint32_t textOf_ = UINT32_MAX;
  std::string text_;
};

}  // namespace mds
