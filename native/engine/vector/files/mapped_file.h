// Files for the vector index: writing all of some bytes, replacing a whole file, and mapping a stretch for reading. Errors name the system call.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/status.h"

namespace mds {

[[nodiscard]] Status io_error(const char* call);
// At an offset; all of them.
[[nodiscard]] Status write_at(int descriptor, Bytes bytes, uint64_t offset);
// So that a created, renamed or removed file stays so.
[[nodiscard]] Status sync_directory(const std::string& directory);

// Makes `name` a file with what `write` writes into it, on disk when it returns. After an error the file is as before and nothing else is left.
[[nodiscard]] Status replace_file(const std::string& directory, const std::string& name, const std::function<Status(int descriptor)>& write);

struct MappedBytes {
  Bytes bytes;
  std::shared_ptr<const void> owner;  // unmaps
};
// Bytes [begin, end) of the file, read-only; `begin` need not be a multiple of anything.
[[nodiscard]] Result<MappedBytes> map_file(int descriptor, uint64_t begin, uint64_t end);

}  // namespace mds
