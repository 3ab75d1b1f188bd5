// Threads that help with a scan when a processor is idle. A search begins its scan by itself and never waits
// for help: an idle helper joins it and takes pieces of work from the same counter. No helper is asked while
// the number of running searches reaches the threads that one search may use, so that under load a search
// costs what it costs alone. Threads start when they are first needed. Every method may be called from any
// thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace mds {

class ScanHelpers {
 public:
  ScanHelpers() = default;
  ~ScanHelpers();
  ScanHelpers(const ScanHelpers&) = delete;
  ScanHelpers& operator=(const ScanHelpers&) = delete;

  // A running search, helped or not: constructed before its work begins.
  class Searching {
   public:
    explicit Searching(ScanHelpers& helpers) noexcept : helpers_(helpers) { helpers_.searches_.fetch_add(1, std::memory_order_relaxed); }
    ~Searching() { helpers_.searches_.fetch_sub(1, std::memory_order_relaxed); }
    Searching(const Searching&) = delete;
    Searching& operator=(const Searching&) = delete;

   private:
    ScanHelpers& helpers_;
  };

  // Calls `work(0)` on this thread and, as long as that runs, `work(1)`, `work(2)`, ... on helpers that join,
  // on fewer than `threads` of them. Returns when all have returned; throws std::bad_alloc where one of them
  // did. The caller must have a `Searching`.
  void share(uint32_t threads, const std::function<void(uint32_t worker)>& work);

 private:
  struct Job {
    const std::function<void(uint32_t)>* work;
    uint32_t wanted;  // helpers that may still join
    uint32_t joined = 0;
    uint32_t running = 0;
    bool isFailed = false;
  };

  // Number of helpers that may be asked now, of `threads` that one search may use.
  [[nodiscard]] uint32_t spare(uint32_t threads) const noexcept;
  void begin_threads(uint32_t count) noexcept;
  void run() noexcept;

  std::atomic<uint32_t> searches_{0};
  std::mutex mutex_;
  std::condition_variable offered_;
  std::condition_variable returned_;
  std::vector<Job*> jobs_;
  std::vector<std::thread> threads_;
  std::atomic<uint32_t> helping_{0};
  bool isStopping_ = false;
};

}  // namespace mds
