// A hash of byte strings for tables that live as long as one batch. Seeded per process, so that colliding
// terms cannot be constructed.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <string_view>

namespace mds {

[[nodiscard]] inline uint64_t hash_seed() {
  static const uint64_t seed = [] {
    std::random_device device;
    return (uint64_t{device()} << 32 | device()) | 1;
  }();
  return seed;
}

[[nodiscard]] inline uint64_t mix(uint64_t a, uint64_t b) noexcept {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Multiply-fold over 8-byte words (the construction of wyhash). `salt` distinguishes equal strings of
// different owners.
[[nodiscard]] inline uint64_t hash_text(std::string_view text, uint64_t salt, uint64_t seed) noexcept {
  uint64_t state = mix(seed ^ salt, 0x9E3779B97F4A7C15) ^ text.size();
  const char* at = text.data();
  size_t left = text.size();
  for (; left >= 8; left -= 8, at += 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    state = mix(state ^ word, seed ^ 0xD6E8FEB86659FD93);
  }
  uint64_t tail = 0;
  if (left > 0) std::memcpy(&tail, at, left);
  return mix(state ^ tail, seed ^ 0xA5A5A5A5C3C3C3C3);
}

}  // namespace mds
