// Finds the LMDB env that the npm package lmdb has open for a file. The package keeps a list of the envs of
// the process, which it hands to other copies of its binary, and which this code reads. A second open of the
// file is no alternative: closing it would drop the locks of the process on it, and readers without an entry
// in its lock table lose their pages to the writer (docs/decisions/store/native-reads.md).
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

struct MDB_env;

namespace mds {

// How the package opens the env. A different one means that this code does not know its layout in memory.
struct TruthEnvShape {
  uint64_t mapBytes;
  uint32_t readersMin;
};

// packageEnvs: the pointer that the package stores in `globalThis.__lmdb_envs__`; its list must be that of
// version 3.5.6. Returns the env, which the package closes when its last user has closed it.
[[nodiscard]] Result<MDB_env*> shared_truth_env(const void* packageEnvs, const std::string& path, const TruthEnvShape& shape);

}  // namespace mds
