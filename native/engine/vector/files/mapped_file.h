// File operations of the vector index: complete writes, replacement of a whole file, and read-only mapping of
// a range. Error messages name the system call.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/status.h"

namespace mds {

[[nodiscard]] Status io_error(const char* call);
// Writes all bytes at the given offset.
[[nodiscard]] Status write_at(int descriptor, Bytes bytes, uint64_t offset);
// Makes the creation, renaming or removal of a file in the directory durable.
[[nodiscard]] Status sync_directory(const std::string& directory);

// Replaces the file `name` with the bytes that `write` writes. The file is durable when the function returns.
// After an error the old file is unchanged and no other file remains.
[[nodiscard]] Status replace_file(const std::string& directory, const std::string& name, const std::function<Status(int descriptor)>& write);

struct MappedBytes {
  Bytes bytes;
  std::shared_ptr<const void> owner;  // unmaps the range
};
// Maps the bytes [begin, end) of the file, read-only. `begin` need not be aligned.
[[nodiscard]] Result<MappedBytes> map_file(int descriptor, uint64_t begin, uint64_t end);

}  // namespace mds
