// The seed of this run: MDS_SEED if set, else random. Printed once, so that a failure can be reproduced.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace mds::test {

inline uint64_t seed() {
  static const uint64_t value = [] {
    const char* wanted = std::getenv("MDS_SEED");
    const uint64_t chosen = wanted == nullptr ? std::random_device{}() : std::strtoull(wanted, nullptr, 10);
    std::printf("MDS_SEED=%llu\n", static_cast<unsigned long long>(chosen));
    (void)std::fflush(stdout);  // otherwise a crash would lose the output
    return chosen;
  }();
  return value;
}

}  // namespace mds::test
