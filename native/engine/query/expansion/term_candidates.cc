// See term_candidates.h.
#include "query/expansion/term_candidates.h"

#include <algorithm>
#include <span>
#include <utility>

namespace mds {
namespace {

// Number of signatures filtered in one batch. A batch takes about 3 us, as long as reading kStepsAtOnce
// candidate terms.
constexpr size_t kSignaturesAtOnce = 4096;
constexpr uint32_t kStepsAtOnce = 64;

}  // namespace

TermCandidates::TermCandidates(const TermScan& scan, Signatures signatures, uint32_t begin, const SignatureFilter& filter)
    : scan_(scan), signatures_(std::move(signatures)), begin_(begin), filter_(filter) {}

bool TermCandidates::next(uint32_t& steps) {
  while (steps > 0) {
    if (at_ < passed_.size()) {
      --steps;
      return scan_.move_to(passed_[at_++], term_);
    }
    if (filtered_ == signatures_->size()) return false;
    const std::span<const uint32_t> run = std::span(*signatures_).subspan(filtered_, std::min(kSignaturesAtOnce, signatures_->size() - filtered_));
    passed_.clear();
    at_ = 0;
    add_passing(run, filter_, begin_ + static_cast<uint32_t>(filtered_), passed_);
    filtered_ += run.size();
    steps -= std::min(steps, kStepsAtOnce);
  }
  return false;
}

}  // namespace mds
