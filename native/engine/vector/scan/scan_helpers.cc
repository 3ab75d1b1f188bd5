// See scan_helpers.h.
#include "vector/scan/scan_helpers.h"

#include <algorithm>
#include <exception>
#include <new>

#include "vector/vector_limits.h"

namespace mds {

ScanHelpers::~ScanHelpers() {
  {
    const std::lock_guard lock(mutex_);
    isStopping_ = true;
  }
  offered_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

uint32_t ScanHelpers::spare(uint32_t threads) const noexcept {
  const uint32_t busy = searches_.load(std::memory_order_relaxed) + helping_.load(std::memory_order_relaxed);
  return threads > busy ? threads - busy : 0;
}

void ScanHelpers::begin_threads(uint32_t count) noexcept {
  try {
    while (threads_.size() < std::min(count, kScanThreadsMax - 1)) threads_.emplace_back([this] { run(); });
  } catch (const std::exception&) {
    // The system has no more threads. The existing helpers are used.
  }
}

void ScanHelpers::share(uint32_t threads, const std::function<void(uint32_t)>& work) {
  const uint32_t wanted = spare(threads);
  if (wanted == 0) {
    work(0);
    return;
  }
  Job job{&work, wanted};
  {
    const std::lock_guard lock(mutex_);
    begin_threads(threads - 1);
    jobs_.push_back(&job);
  }
  for (uint32_t helper = 0; helper < wanted; ++helper) offered_.notify_one();
  bool isFailed = false;
  try {
    work(0);
  } catch (const std::bad_alloc&) {
    isFailed = true;
  }
  {
    std::unique_lock lock(mutex_);
    std::erase(jobs_, &job);
    returned_.wait(lock, [&job] { return job.running == 0; });
  }
  if (isFailed || job.isFailed) throw std::bad_alloc();
}

void ScanHelpers::run() noexcept {
  std::unique_lock lock(mutex_);
  while (true) {
    offered_.wait(lock, [this] { return isStopping_ || !jobs_.empty(); });
    if (isStopping_) return;
    Job& job = *jobs_.front();
    const uint32_t worker = ++job.joined;
    job.running += 1;
    if (--job.wanted == 0) jobs_.erase(jobs_.begin());
    helping_.fetch_add(1, std::memory_order_relaxed);
    lock.unlock();
    bool isFailed = false;
    try {
      (*job.work)(worker);
    } catch (const std::bad_alloc&) {
      isFailed = true;
    }
    helping_.fetch_sub(1, std::memory_order_relaxed);
    lock.lock();
    job.isFailed = job.isFailed || isFailed;
    if (--job.running == 0) returned_.notify_all();
  }
}

}  // namespace mds
