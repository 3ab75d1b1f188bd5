// Whether the pages of the truth env are in memory, for a thread that must not wait for a disk.
#pragma once

#include <cstdint>

namespace mds {

// Page faults of this thread that waited for a disk, since it began. Where the system does not count them by
// thread, those of the process.
[[nodiscard]] uint64_t major_faults() noexcept;

}  // namespace mds
