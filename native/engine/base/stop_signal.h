// Stops a search: a word of shared memory that the JavaScript side sets when a deadline passes or a client
// disconnects. Used by one search on one thread.
#pragma once

#include <cstdint>

#include "base/limits.h"

namespace mds {

class StopSignal {
 public:
  // `word` may be null: the search is never stopped. The word may change at any moment. Only whether it is
  // zero matters, so a relaxed load suffices.
  explicit StopSignal(const int32_t* word) noexcept : word_(word) {}

  // Counts `steps` steps of work and polls the word every kStepsPerPoll steps. Once it returns true, it
  // always returns true.
  [[nodiscard]] bool after(uint32_t steps) noexcept {
    steps_ += steps;
    if (steps_ < kStepsPerPoll) return stopped_;
    steps_ = 0;
    return poll();
  }

  [[nodiscard]] bool poll() noexcept {
    if (word_ != nullptr && __atomic_load_n(word_, __ATOMIC_RELAXED) != 0) stopped_ = true;
    return stopped_;
  }

  [[nodiscard]] bool stopped() const noexcept { return stopped_; }

 private:
  const int32_t* word_;
  uint32_t steps_ = 0;
  bool stopped_ = false;
};

}  // namespace mds
