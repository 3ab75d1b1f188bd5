// A process-wide engine that another engine may replace: used by a restore for the index and the vectors.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace mds {

// The engine that every thread calls, and the engine that is opened to replace it. A call uses the engine
// with which it began until it returns. The replaced engine is destroyed with its last call.
template <class AnyEngine>
class Replaceable {
 public:
  [[nodiscard]] std::shared_ptr<AnyEngine> current() const {
    const std::lock_guard lock(mutex_);
    return current_;
  }

  // Null if no next engine is open.
  [[nodiscard]] std::shared_ptr<AnyEngine> next() const {
    const std::lock_guard lock(mutex_);
    return next_;
  }

  // Sets the next engine. A next engine that was never adopted is destroyed.
  void set_next(std::shared_ptr<AnyEngine> next) {
    const std::lock_guard lock(mutex_);
    next_.swap(next);
  }

  // Makes the next engine the current one. Returns false if there is no next engine. The replaced engine is
  // released outside the lock: its destructor waits for its threads.
  [[nodiscard]] bool adopt_next() {
    std::shared_ptr<AnyEngine> before;
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
  std::shared_ptr<AnyEngine> current_ = std::make_shared<AnyEngine>();
  std::shared_ptr<AnyEngine> next_;
};

}  // namespace mds
