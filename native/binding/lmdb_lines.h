#pragma once

namespace mds {

// The LMDB that the npm package lmdb brings as a binary prints up to 126 bytes about a refused write into the 100 that it has asked of malloc; what lies behind them on
// the heap then ends the process, before anybody has said why (docs/decisions/0121). From here on the package's own calls of malloc get at least 160 bytes, by way of the
// slot through which its binary finds the function. To be called when the package has been loaded and before anything is written with it, once a process; again changes
// nothing. False where there is no such slot to be written: the package is not loaded, its binary is bound for good, or this is not Linux. (Our own copy:
// storage/lmdb_errors.h.)
[[nodiscard]] bool make_room_for_lmdb_lines() noexcept;

}  // namespace mds
