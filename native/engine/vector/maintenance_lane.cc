// See maintenance_lane.h.
#include "vector/maintenance_lane.h"

#include <exception>

#include "vector/vector_limits.h"

namespace mds {

bool MaintenanceLane::wake() noexcept {
  try {
    const std::lock_guard lock(mutex_);
    wakes_ += 1;
    if (!thread_.joinable() && !isStopping_) thread_ = std::thread([this] { run(); });
  } catch (const std::exception&) {
    return false;
  }
  changed_.notify_all();
  return true;
}

void MaintenanceLane::settle() noexcept {
  std::unique_lock lock(mutex_);
  if (!thread_.joinable()) return;
  settling_ += 1;
  // A rest phase that has already begun may have missed recent requests. The following one includes them.
  const uint64_t wanted = restsEnded_ + 2;
  changed_.notify_all();
  changed_.wait(lock, [&] { return restsEnded_ >= wanted || isStopping_; });
  settling_ -= 1;
}

void MaintenanceLane::stop() noexcept {
  std::thread ended;
  {
    const std::lock_guard lock(mutex_);
    isStopping_ = true;
    ended.swap(thread_);
  }
  changed_.notify_all();
  if (ended.joinable()) ended.join();
}

bool MaintenanceLane::work(bool isResting) noexcept {
  while (!isStopping_) {
    LaneStep step = LaneStep::kFailed;
    try {
      step = step_(isResting);
    } catch (const std::exception&) {
      // Out of memory. Retried later.
    }
    if (step == LaneStep::kFailed) return false;
    if (step == LaneStep::kNothing) return true;
  }
  return true;
}

void MaintenanceLane::run() noexcept {
  std::unique_lock lock(mutex_);
  while (!isStopping_) {
    const uint64_t seen = wakes_;
    lock.unlock();
    (void)work(false);
    lock.lock();
    const auto isAsked = [&] { return isStopping_ || settling_ > 0 || wakes_ != seen; };
    if (!changed_.wait_for(lock, std::chrono::milliseconds(kVectorRestMs), isAsked) || settling_ > 0) {
      lock.unlock();
      const bool isGood = work(true);
      lock.lock();
      restsEnded_ += 1;
      if (isGood) restedAt_ = seen;
      changed_.notify_all();
    }
    // At rest there is no timed work. The thread waits for the next wake().
    if (restedAt_ == seen) changed_.wait(lock, isAsked);
  }
}

}  // namespace mds
