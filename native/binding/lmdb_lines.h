#pragma once

namespace mds {

// The LMDB that the npm package lmdb brings as a binary prints up to 126 bytes about a refused write into the
// 100 bytes that it has asked of malloc. The overflow damages the heap and ends the process before the error
// is logged (docs/decisions/0121). After this call the package's own calls of malloc get at least 160 bytes,
// by way of the slot through which its binary finds the function. Call it once per process, after the package
// has been loaded and before anything is written with it; further calls change nothing. False where there is
// no writable slot: the package is not loaded, its binary is bound for good, or this is not Linux. (Our own
// copy: storage/lmdb_errors.h.)
[[nodiscard]] bool make_room_for_lmdb_lines() noexcept;

}  // namespace mds
