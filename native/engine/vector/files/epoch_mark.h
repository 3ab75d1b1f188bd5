// The file EPOCH of the directory of vectors: under which epoch of the store its files were written to last. LSNs that the store lost in an unclean end are given again,
// to others, so that a vector with such an LSN is not the one that truth has. Layout: docs/formats/vector-index.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"
#include "storage/epoch.h"

namespace mds {

inline constexpr const char* kEpochMarkName = "EPOCH";

// Vectors with a higher LSN are not to be believed. 0 where the directory has no mark, none that is sound, or one of an epoch that is not in the history.
[[nodiscard]] uint64_t believed_lsn(const std::string& directory, std::span<const EpochSpan> history);
// Everything that is not believed must have gone from the disk before. On disk when it returns; nothing where the mark is there.
[[nodiscard]] Status mark_epoch(const std::string& directory, const Epoch& epoch);

}  // namespace mds
