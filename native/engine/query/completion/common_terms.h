// The terms of one section that begin with a prefix, in descending df; terms of equal df in byte order. The
// maximum df of every run of terms (segment/terms/term_maxima.h) determines which runs to read, so that only
// blocks with a wanted term are read. Used by one request on one thread. Valid while the snapshot is
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

  // Number of terms with the prefix, plus up to two dictionary blocks: bounds have block granularity.
  [[nodiscard]] uint32_t size() const noexcept { return end_ - begin_; }
  // Visits all terms with the prefix in byte order.
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
  // Must be called before the methods below. Lowers `steps` by the number of dictionary entries read, down to
  // 0.
  void begin(uint32_t& steps);
  [[nodiscard]] bool is_at_end() const noexcept { return heap_.empty(); }
  // Df of the current term.
  [[nodiscard]] uint32_t df() const noexcept { return heap_.front().df; }
  [[nodiscard]] const std::string& text();
  void next(uint32_t& steps);
  // Number of terms not yet passed.
  [[nodiscard]] uint32_t left() const noexcept { return size() - passed_; }
  // Returns the df of any term with the prefix; 0 if the section does not have it.
  [[nodiscard]] uint32_t df_of(std::string_view term, uint32_t& steps) const noexcept;

 private:
  // A term (level 0), or a run of terms: a dictionary block (level 1), kMaximaFanout blocks (level 2), and so
  // on.
  struct Run {
    uint32_t df;     // for a run: the maximum df in it
    uint32_t first;  // index of the first term in the dictionary
    uint32_t level;
  };

  [[nodiscard]] static bool comes_later(const Run& a, const Run& b) noexcept;
  void push(const Run& run);
  // Pushes the runs [begin, end) of a level that overlap the blocks of the prefix.
  void push_runs(size_t begin, size_t end, uint32_t level);
  // Expands runs until the heap's first entry is a term.
  void settle(uint32_t& steps);
  void read_block(uint32_t first, uint32_t& steps);

  const Segment* segment_;
  const SectionEntry* section_;
  std::string_view prefix_;
  uint32_t begin_;  // first term of a block
  uint32_t end_;
  uint32_t passed_ = 0;
  std::shared_ptr<const TermMaxima> maxima_;  // null in small sections
  std::vector<Run> heap_;                     // max-heap, see comes_later()
  uint32_t textOf_ = UINT32_MAX;
  std::string text_;
};

}  // namespace mds
