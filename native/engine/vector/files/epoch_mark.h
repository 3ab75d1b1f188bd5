// The file EPOCH in the directory of vectors: the epoch of the store in which the files were last written.
// LSNs that the store lost in an unclean shutdown are assigned again to other entries. A stored vector with
// such an LSN therefore differs from the one in the source of truth. Layout: docs/formats/vector-index.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"
#include "storage/epoch.h"

namespace mds {

inline constexpr const char* kEpochMarkName = "EPOCH";

// Vectors with a higher LSN must be discarded. Returns 0 if the directory has no mark, a damaged mark, or a
// mark of an epoch that is not in the history.
[[nodiscard]] uint64_t believed_lsn(const std::string& directory, std::span<const EpochSpan> history);
// Requires that all vectors with a higher LSN have been removed from disk. The mark is durable when the
// function returns. Does nothing if the mark already exists.
[[nodiscard]] Status mark_epoch(const std::string& directory, const Epoch& epoch);

}  // namespace mds
