// Files for the vector index: writing a number of bytes completely, replacing a whole file, and mapping a
// range for reading. Errors name the system call.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/status.h"

namespace mds {

[[nodiscard]] Status io_error(const char* call);
// Writes all of the bytes at an offset.
[[nodiscard]] Status write_at(int descriptor, Bytes bytes, uint64_t offset);
// Makes the creation, renaming or removal of a file durable.
[[nodiscard]] Status sync_directory(const std::string& directory);

// Replaces the file `name` by the bytes that `write` writes, on disk when it returns. After an error the file
// is unchanged and no other file is left.
[[nodiscard]] Status replace_file(const std::string& directory, const std::string& name, const std::function<Status(int descriptor)>& write);

struct MappedBytes {
  Bytes bytes;
  std::shared_ptr<const void> owner;  // unmaps
};
// Bytes [begin, end) of the file, read-only; `begin` need not be aligned.
[[nodiscard]] Result<MappedBytes> map_file(int descriptor, uint64_t begin, uint64_t end);

}  // namespace mds
