// The lock that keeps a second process out of a data directory.
#pragma once

#include <string>

namespace mds {

// Opens (creates) the file and takes an exclusive flock without waiting; the lock lasts as long as the process. Empty on success, also when this process holds it
// already; "locked" when another process does; otherwise what went wrong. Shared: a lock that others may share, on a file that is only read; a missing one is locked by
// nobody. Any thread.
[[nodiscard]] std::string lock_file_for_life(const std::string& path, bool isShared);

}  // namespace mds
