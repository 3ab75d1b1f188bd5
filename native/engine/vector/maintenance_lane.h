// A background thread of a store. It takes steps until no work is due. When nothing has been requested for a
// while, it also does the work that is done only at rest. Every method may be called from any thread. The
// step runs on the lane's own thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace mds {

enum class LaneStep : uint8_t { kDone, kNothing, kFailed };

class MaintenanceLane {
 public:
  // `step(isResting)` does one piece of work. It must poll `is_stopping`.
  explicit MaintenanceLane(std::function<LaneStep(bool isResting)> step) : step_(std::move(step)) {}
  ~MaintenanceLane() { stop(); }
  MaintenanceLane(const MaintenanceLane&) = delete;
  MaintenanceLane& operator=(const MaintenanceLane&) = delete;

  // Signals that work may be due. The thread starts with the first call. Returns false if the system has no
  // more threads.
  [[nodiscard]] bool wake() noexcept;
  // Does the work that is due at rest immediately. Returns when no work is due, or when a step has failed.
  void settle() noexcept;
  void stop() noexcept;
  [[nodiscard]] const std::atomic<bool>& is_stopping() const noexcept { return isStopping_; }

 private:
  void run() noexcept;
  // Takes steps until no work is due. Returns false if a step failed.
  [[nodiscard]] bool work(bool isResting) noexcept;

  std::function<LaneStep(bool)> step_;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t wakes_ = 0;
  uint64_t restedAt_ = 0;  // the value of `wakes_` at the last complete rest phase
  uint64_t restsEnded_ = 0;
  uint32_t settling_ = 0;  // number of waiting callers
  std::atomic<bool> isStopping_{false};
  std::thread thread_;
};

}  // namespace mds
