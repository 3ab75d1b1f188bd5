// The history of the store: which LSNs were assigned in which epoch. LSNs above the end of an epoch may have
// been lost and assigned again in the next epoch (src/store/epochs.ts). Every file with LSNs therefore stores
// the epoch with them.
#pragma once

#include <array>
#include <cstdint>

namespace mds {

using Epoch = std::array<uint8_t, 16>;

// One epoch of the history. LSNs up to `lsnLast` were assigned in `epoch`. The last one in the history is the
// current epoch.
struct EpochSpan {
  Epoch epoch;
  uint64_t lsnLast;
};

}  // namespace mds
