// Locks a data directory against use by a second process.
#pragma once

#include <string>

namespace mds {

// Opens the file, creates it if necessary, and takes an exclusive flock without waiting. The lock is held for
// the lifetime of the process. Returns an empty string on success, also if this process already holds the
// lock; "locked" if another process holds it; otherwise the error. `isShared`: takes a shared lock on a file
// that is only read; a missing file counts as unlocked. Any thread.
[[nodiscard]] std::string lock_file_for_life(const std::string& path, bool isShared);

}  // namespace mds
