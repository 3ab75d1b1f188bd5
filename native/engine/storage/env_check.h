// Checks the file of an env before LMDB maps it: LMDB trusts its pages, so that one flipped bit in a page number or a free list would make it read outside of the
// file, write over live pages or end the process. Everything that LMDB will follow is followed here first, with bounds: meta pages, trees, free lists; no page may be
// used twice. The contents of values are not looked at: they carry checksums of their own. Page layout: data version 2 of the LMDB that is compiled in.
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/status.h"

namespace mds {

// Corrupt where the file is not one that LMDB can follow safely. A missing or empty file is fine: LMDB will make it.
[[nodiscard]] Status check_env_file(const std::string& path);

// The same for the bytes of a file.
[[nodiscard]] Status check_env_bytes(Bytes file);

struct TruthFile {
  // What is newest in the file is what a start begins with; otherwise the machine went down while it was written, and only a start that may write begins with what is
  // whole.
  bool isSettled;
};

// The same for the truth env, which lmdb-js writes: its three meta pages, its free list, and every tree down to the pages above the leaves. The leaves, which may be most
// of the file, are read where `reads_leaves` says so.
[[nodiscard]] Result<TruthFile> check_truth_file(const std::string& path, bool reads_leaves);
[[nodiscard]] Result<TruthFile> check_truth_bytes(Bytes file, bool reads_leaves);

}  // namespace mds
