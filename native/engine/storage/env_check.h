// Checks the file of an index env before LMDB maps it: LMDB trusts its pages, so that one flipped bit in a page number or a free list would make it read outside of the
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

}  // namespace mds
