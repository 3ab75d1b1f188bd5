// An engine of the process that another may take the place of: what a restore does with the index and the vectors.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace mds {

// The engine that every thread calls, and the one that is opened to take its place. A call keeps the engine that it began with until it ends; the replaced one ends with
// its last call.
template <class Held>
class Replaceable {
 public:
  [[nodiscard]] std::shared_ptr<Held> current() const {
    const std::lock_guard lock(mutex_);
    return current_;
  }

  // Null where none is open.
  [[nodiscard]] std::shared_ptr<Held> next() const {
    const std::lock_guard lock(mutex_);
    return next_;
  }

  // The one before, if it was never adopted, ends.
  void set_next(std::shared_ptr<Held> next) {
    const std::lock_guard lock(mutex_);
    next_.swap(next);
  }

  // False where there is none. The engine before is released outside of the lock: its end waits for its threads.
  [[nodiscard]] bool adopt_next() {
    std::shared_ptr<Held> before;
    const std::lock_guard serial(adoption_);
    {
      const std::lock_guard lock(mutex_);
      if (next_ == nullptr) return false;
      before = std::exchange(current_, std::move(next_));
      next_.reset();
    }
    return true;
  }

 private:
  std::mutex adoption_;
  mutable std::mutex mutex_;
  std::shared_ptr<Held> current_ = std::make_shared<Held>();
  std::shared_ptr<Held> next_;
};

}  // namespace mds
