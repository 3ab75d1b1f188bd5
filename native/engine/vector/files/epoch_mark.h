// The file EPOCH of the directory of vectors: the epoch of the store in which its files were last written.
// LSNs that the store lost in an unclean end are assigned again, to other entries, so that a vector with such
// an LSN is not the one in truth. Layout: docs/formats/vector-index.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"
#include "storage/epoch.h"

namespace mds {

inline constexpr const char* kEpochMarkName = "EPOCH";

// Vectors with a higher LSN must be discarded. 0 where the directory has no mark, a damaged one, or one of an
// epoch that is not in the history.
[[nodiscard]] uint64_t believed_lsn(const std::string& directory, std::span<const EpochSpan> history);
// Requires that all vectors with a higher LSN have been removed from the disk. On disk when it returns; does
// nothing where the mark exists.
[[nodiscard]] Status mark_epoch(const std::string& directory, const Epoch& epoch);

}  // namespace mds
