// Errors as values: every function of the engine that can fail returns one. The only exception that engine
// functions throw is std::bad_alloc; Engine's entry points convert it into a status as well.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace mds {

enum class StatusCode : uint8_t { kOk, kMalformed, kTooLarge, kOutOfMemory, kCancelled, kCorrupt, kIo };

class [[nodiscard]] Status {
 public:
  Status() noexcept = default;

  static Status malformed(std::string message) noexcept { return Status(StatusCode::kMalformed, std::move(message)); }
  static Status too_large(std::string message) noexcept { return Status(StatusCode::kTooLarge, std::move(message)); }
  static Status out_of_memory() noexcept { return Status(StatusCode::kOutOfMemory, {}); }
  // The stored bytes differ from those that were written.
  static Status corrupt(std::string message) noexcept { return Status(StatusCode::kCorrupt, std::move(message)); }
  // The file system or the disk reported an error.
  static Status io(std::string message) noexcept { return Status(StatusCode::kIo, std::move(message)); }
  static Status cancelled() noexcept { return Status(StatusCode::kCancelled, {}); }

  [[nodiscard]] bool ok() const noexcept { return code_ == StatusCode::kOk; }
  [[nodiscard]] StatusCode code() const noexcept { return code_; }
  // Describes what was expected, what was found and where. Does not allocate for kOutOfMemory.
  [[nodiscard]] const char* message() const noexcept { return code_ == StatusCode::kOutOfMemory ? "out of memory" : message_.c_str(); }

 private:
  Status(StatusCode code, std::string message) noexcept : code_(code), message_(std::move(message)) {}

  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

// A value, or the status that explains why there is none. `value()` requires `ok()`.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) noexcept : value_(std::move(value)) {}
  Result(Status status) noexcept : status_(std::move(status)) {}

  [[nodiscard]] bool ok() const noexcept { return value_.has_value(); }
  [[nodiscard]] const Status& status() const noexcept { return status_; }
  [[nodiscard]] T& value() noexcept { return *value_; }
  [[nodiscard]] const T& value() const noexcept { return *value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace mds
