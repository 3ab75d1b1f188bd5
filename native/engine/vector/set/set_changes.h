// The changes of one batch to vector sets: one SetChange for each set. They are published together at the end
// of the batch, and also if memory is exhausted during the batch (see vector_set.h). Used under the engine's
// writer mutex.
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "vector/set/vector_set.h"

namespace mds {

class SetChanges {
 public:
  SetChanges() = default;
  ~SetChanges() { publish(); }
  SetChanges(const SetChanges&) = delete;
  SetChanges& operator=(const SetChanges&) = delete;

  [[nodiscard]] SetChange& of(const std::shared_ptr<VectorSet>& set) {
    const auto found = changes_.find(set);
    if (found != changes_.end()) return *found->second;
    return *changes_.emplace(set, std::make_unique<SetChange>(*set)).first->second;
  }

  void publish() noexcept {
    for (const auto& [set, change] : changes_) change->publish();
    changes_.clear();
  }

 private:
  std::map<std::shared_ptr<VectorSet>, std::unique_ptr<SetChange>> changes_;
};

}  // namespace mds
