// Threads that help with a scan when a processor is idle. A search starts its scan itself and never waits for
// helpers. An idle helper joins the scan and takes pieces of work from the same counter. No helpers are
// requested once the number of running searches reaches the number of threads that one search may use. Under
// load a search therefore costs the same as without helpers. Threads are started when they are first needed.
// Every method may be called from any thread.
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

  // A running search, with or without helpers. Must be constructed before its work begins.
  class Searching {
   public:
    explicit Searching(ScanHelpers& helpers) noexcept : helpers_(helpers) { helpers_.searches_.fetch_add(1, std::memory_order_relaxed); }
    ~Searching() { helpers_.searches_.fetch_sub(1, std::memory_order_relaxed); }
    Searching(const Searching&) = delete;
    Searching& operator=(const Searching&) = delete;

   private:
    ScanHelpers& helpers_;
  };

  // Calls `work(0)` on this thread. While that call runs, helpers may join and call `work(1)`, `work(2)`,
  // ..., on fewer than `threads` helpers. Returns when all calls have returned. Throws std::bad_alloc if one
  // of them did. The caller must have a `Searching`.
  void share(uint32_t threads, const std::function<void(uint32_t worker)>& work);

 private:
  struct Job {
    const std::function<void(uint32_t)>* work;
    uint32_t wanted;  // helpers that may still join
    uint32_t joined = 0;
    uint32_t running = 0;
    bool isFailed = false;
  };

  // Number of helpers that may be requested now, if one search may use `threads` threads.
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
