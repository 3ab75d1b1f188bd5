// The lock that keeps a second process out of a data directory.
#pragma once

#include <string>

namespace mds {

// Opens (creates) the file and takes an exclusive flock without waiting. The lock lasts as long as the
// process. Returns an empty text on success, also when this process has the lock already; "locked" when
// another process has it; otherwise the error. Shared: a lock that others may share, on a file that is only
// read; a missing file counts as unlocked. Any thread.
[[nodiscard]] std::string lock_file_for_life(const std::string& path, bool isShared);

}  // namespace mds
