// Checks the file of an env before LMDB maps it. LMDB trusts its pages: one flipped bit in a page number or a
// free list would make it read outside the file, write over live pages or end the process. This check follows
// everything that LMDB will follow, with bounds: meta pages, trees, free lists; no page may be used twice.
// The contents of values are not read: they carry checksums of their own. Page layout: data version 2 of the
// LMDB that is compiled in.
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/status.h"

namespace mds {

// Corrupt where LMDB cannot follow the file safely. A missing or empty file is valid: LMDB will create it.
[[nodiscard]] Status check_env_file(const std::string& path);

// The same for the bytes of a file.
[[nodiscard]] Status check_env_bytes(Bytes file);

struct TruthFile {
  // True: a start uses the newest state in the file. False: the machine crashed while that was written, and
  // only a start that may write uses the newest complete state.
  bool isSettled;
};

// The same for the truth env, which lmdb-js writes: its three meta pages, its free list, and every tree down
// to the pages above the leaves. The leaves, which may be most of the file, are read where `reads_leaves`
// returns true.
[[nodiscard]] Result<TruthFile> check_truth_file(const std::string& path, bool reads_leaves);
[[nodiscard]] Result<TruthFile> check_truth_bytes(Bytes file, bool reads_leaves);

}  // namespace mds
