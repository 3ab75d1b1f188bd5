// The history of the store: which LSNs were given under which epoch. LSNs above the end of an epoch may have been lost, and given again in the next one
// (src/store/epochs.ts), so that whatever keeps LSNs on disk keeps the epoch with them.
#pragma once

#include <array>
#include <cstdint>

namespace mds {

using Epoch = std::array<uint8_t, 16>;

// One stretch of the history: LSNs up to `lsnLast` were given under `epoch`. The last stretch is the one that goes on.
struct EpochSpan {
  Epoch epoch;
  uint64_t lsnLast;
};

}  // namespace mds
