// Checks the file of an env before LMDB maps it. LMDB does not validate its pages: one flipped bit in a page
// number or a free list would make it read outside the file, overwrite live pages or crash the process. This
// check follows everything that LMDB follows, with bounds checks: meta pages, trees and free lists. No page
// may be used twice. The contents of values are not read, because they have their own checksums. Page layout:
// data version 2 of the LMDB that is compiled in.
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/status.h"

namespace mds {

// Returns kCorrupt if LMDB cannot follow the file safely. A missing or empty file is valid; LMDB creates it.
[[nodiscard]] Status check_env_file(const std::string& path);

// The same for the bytes of a file.
[[nodiscard]] Status check_env_bytes(Bytes file);

struct TruthFile {
  // True: a start uses the newest state in the file. False: the machine crashed while that state was being
  // written, and only a start with write access uses the newest complete state.
  bool isSettled;
};

// The same check for the truth env, which lmdb-js writes. It covers the three meta pages, the free list, and
// every tree down to the pages above the leaves. The leaves, which may be most of the file, are read only if
// `reads_leaves` is true.
[[nodiscard]] Result<TruthFile> check_truth_file(const std::string& path, bool reads_leaves);
[[nodiscard]] Result<TruthFile> check_truth_bytes(Bytes file, bool reads_leaves);

}  // namespace mds
