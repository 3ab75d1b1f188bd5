// Errors as values: every function of the engine that can fail returns one. The only exception that leaves
// the engine's functions is std::bad_alloc, which Engine's entry points turn into a status, too.
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
  // Stored bytes differ from what was written.
  static Status corrupt(std::string message) noexcept { return Status(StatusCode::kCorrupt, std::move(message)); }
  // The file system or the disk refused.
  static Status io(std::string message) noexcept { return Status(StatusCode::kIo, std::move(message)); }
  static Status cancelled() noexcept { return Status(StatusCode::kCancelled, {}); }

  [[nodiscard]] bool ok() const noexcept { return code_ == StatusCode::kOk; }
  [[nodiscard]] StatusCode code() const noexcept { return code_; }
  // What was expected, what was found and where. Does not allocate when memory has run out.
  [[nodiscard]] const char* message() const noexcept { return code_ == StatusCode::kOutOfMemory ? "out of memory" : message_.c_str(); }

 private:
  Status(StatusCode code, std::string message) noexcept : code_(code), message_(std::move(message)) {}

  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

// A value, or the status that explains its absence. `value()` requires `ok()`.
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
