// The terms of a dictionary that begin with a prefix, looked at one by one; a walk can rest between two looks. Used by one search on one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "segment/dictionary.h"

namespace mds {

class PrefixWalk {
 public:
  // The walk has not begun.
  PrefixWalk(std::string prefix, const DictionaryWalk& walk) : prefix_(std::move(prefix)), walk_(walk) {}

  // Stands on a term that has not been looked at, going on from one that has. False at the end.
  [[nodiscard]] bool ready() {
    if (place_ == Place::kBefore) settle(walk_.seek(prefix_));
    if (place_ == Place::kLookedAt) settle(walk_.next());
    return place_ == Place::kFresh;
  }
  void mark_looked_at() noexcept { place_ = Place::kLookedAt; }
  // To the first term that is not below `target`, which is above the present one.
  void seek(std::string_view target) { settle(walk_.seek(target)); }
  void end() noexcept { place_ = Place::kEnd; }

  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
  [[nodiscard]] std::string_view term() const noexcept { return walk_.term(); }
  [[nodiscard]] const TermEntry& entry() const noexcept { return walk_.entry(); }

 private:
  enum class Place : uint8_t { kBefore, kFresh, kLookedAt, kEnd };

  void settle(bool isThere) noexcept { place_ = isThere && walk_.term().starts_with(prefix_) ? Place::kFresh : Place::kEnd; }

  std::string prefix_;
  DictionaryWalk walk_;
  Place place_ = Place::kBefore;
};

}  // namespace mds
