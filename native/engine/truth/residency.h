// Whether the pages of the truth env are in memory, for a thread that must not wait for a disk. The answer is
// the kernel's (mincore), without a guarantee: a page may be evicted between the answer and the read. Such a
// read waits as it would without the question, and major_faults() counts it. Where the system cannot tell,
// every page counts as resident, as all do in some sandboxes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"

namespace mds {

// Page faults of this thread that waited for a disk, since it began. Where the system does not count them by
// thread, those of the process.
[[nodiscard]] uint64_t major_faults() noexcept;

// Belongs to one thread.
class Residency {
 public:
  // From here to the end of the scope, LMDB asks before it reads a page in this thread, and reads with
  // MDS_LMDB_NOT_RESIDENT fail.
  class Asked {
   public:
    explicit Asked(Residency& residency) noexcept;
    ~Asked();
    Asked(const Asked&) = delete;
    Asked& operator=(const Asked&) = delete;

   private:
    Residency& residency_;
  };

  [[nodiscard]] bool isAsked() const noexcept { return isAsked_; }

  // Whether all pages of the range are resident.
  [[nodiscard]] bool holds(Bytes range) noexcept;

  // Whether a page was not, since the scope began.
  [[nodiscard]] bool hasMissed() const noexcept { return hasMissed_; }

 private:
  // A page that was resident at this time. It is trusted for a moment (kResidencyTrustMs), so that the upper
  // pages of the trees are asked about once for many reads. If it is evicted in this moment, the read waits.
  struct KnownPage {
    uintptr_t number = 0;
    uint64_t seenMs = 0;
  };
  static constexpr size_t kKnownPages = 1024;

  [[nodiscard]] KnownPage& known(uintptr_t number) noexcept;

  std::array<KnownPage, kKnownPages> known_{};
  uint64_t nowMs_ = 0;
  bool isAsked_ = false;
  bool hasMissed_ = false;
};

}  // namespace mds
