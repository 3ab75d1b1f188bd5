#pragma once

namespace mds {

// The npm package lmdb contains LMDB as a binary. On a failed write it prints up to 126 bytes into a buffer
// of 100 bytes that it has allocated with malloc. The overflow corrupts the heap and ends the process before
// the error is logged (docs/decisions/store/disks.md). After this call the package's own calls of malloc
// return at least 160 bytes: the slot through which its binary calls the function is redirected. Call it once
// per process, after the package has been loaded and before anything is written with it. Further calls change
// nothing. Returns false if there is no writable slot: the package is not loaded, its slots are read-only, or
// the platform is not Linux. (For the engine's own copy of LMDB: storage/lmdb_errors.h.)
[[nodiscard]] bool reserve_lmdb_line_buffer() noexcept;

}  // namespace mds
