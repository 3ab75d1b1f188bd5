// A background thread of a store: it takes steps until there is nothing to do, and one more, for work that is
// done only at rest, when nothing has been requested for a while. Every method may be called from any thread;
// the step runs on the lane's own.
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
  // `step(isResting)` does one piece of work. It polls `is_stopping`.
  explicit MaintenanceLane(std::function<LaneStep(bool isResting)> step) : step_(std::move(step)) {}
  ~MaintenanceLane() { stop(); }
  MaintenanceLane(const MaintenanceLane&) = delete;
  MaintenanceLane& operator=(const MaintenanceLane&) = delete;

  // Work may be due. The thread starts with the first call; false: the system has no more threads.
  [[nodiscard]] bool wake() noexcept;
  // Does at once the work that is due at rest. Returns when no work is due any more, or a step has failed.
  void settle() noexcept;
  void stop() noexcept;
  [[nodiscard]] const std::atomic<bool>& is_stopping() const noexcept { return isStopping_; }

 private:
  void run() noexcept;
  // Takes steps until no work is due. False: one failed.
  [[nodiscard]] bool work(bool isResting) noexcept;

  std::function<LaneStep(bool)> step_;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t wakes_ = 0;
  uint64_t restedAt_ = 0;  // of `wakes_`
  uint64_t restsEnded_ = 0;
  uint32_t settling_ = 0;  // callers that wait
  std::atomic<bool> isStopping_{false};
  std::thread thread_;
};

}  // namespace mds
