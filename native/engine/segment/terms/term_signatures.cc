// See term_signatures.h.
#include "segment/terms/term_signatures.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "base/code_points.h"

namespace mds {
namespace {

constexpr uint32_t kLetters = (1U << kSignatureLetters) - 1;
constexpr uint32_t kSignatureLanes = 4;

using Words = uint32_t __attribute__((vector_size(16)));
using Ints = int32_t __attribute__((vector_size(16)));

// Sets all bits of a lane whose signature passes.
template <uint32_t kEdits, bool kIsAnyAdded>
[[gnu::always_inline]] inline Ints passing(Words signatures, const SignatureFilter& filter) noexcept {
  Words wrong = filter.letters & ~signatures;
  Words added = signatures & ~filter.letters & kLetters;
  // Clears the lowest bits, one per edit: a word with at most that many bits becomes 0.
  for (uint32_t edit = 0; edit < kEdits; ++edit) {
    wrong &= wrong - 1;
    added &= added - 1;
  }
  if constexpr (!kIsAnyAdded) wrong |= added;
  const auto lengths = (Ints)(signatures >> kSignatureLetters);
  return (wrong == 0) & (lengths >= static_cast<int32_t>(filter.lengthMin)) & (lengths <= static_cast<int32_t>(filter.lengthMax));
}

// Number of words compared before testing whether any of them passed. In most runs none has.
constexpr size_t kRun = size_t{4} * kSignatureLanes;

template <uint32_t kEdits, bool kIsAnyAdded>
void add_all(std::span<const uint32_t> signatures, const SignatureFilter& filter, uint32_t begin, std::vector<uint32_t>& out) {
  std::array<uint32_t, kRun> last{};
  for (size_t at = 0; at < signatures.size(); at += kRun) {
    const size_t count = std::min(kRun, signatures.size() - at);
    if (count < kRun) std::copy_n(signatures.data() + at, count, last.data());
    const uint32_t* const run = count < kRun ? last.data() : signatures.data() + at;
    std::array<Ints, kRun / kSignatureLanes> passed;
    Ints any{};
    for (uint32_t part = 0; part < passed.size(); ++part) {
      Words words;
      std::memcpy(&words, run + size_t{part} * kSignatureLanes, sizeof words);
      any |= passed[part] = passing<kEdits, kIsAnyAdded>(words, filter);
    }
    std::array<uint64_t, 2> halves;
    static_assert(sizeof halves == sizeof any);
    std::memcpy(halves.data(), &any, sizeof any);
    if ((halves[0] | halves[1]) == 0) continue;
    for (uint32_t index = 0; index < count; ++index) {
      if (passed[index / kSignatureLanes][index % kSignatureLanes] != 0) out.push_back(begin + static_cast<uint32_t>(at) + index);
    }
  }
}

}  // namespace

uint32_t signature_letter(uint32_t code) noexcept {
  constexpr uint32_t kSpread = 2654435761U;  // Knuth's constant: 2^32 / golden ratio
  const uint32_t bit = code >= 'a' && code <= 'z' ? code - 'a' : (code * kSpread >> 16) % kSignatureLetters;
  return 1U << bit;
}

uint32_t signature_of(std::string_view term) noexcept {
  uint32_t letters = 0;
  uint32_t length = 0;
  for (size_t at = 0; at < term.size(); ++length) letters |= signature_letter(take_code_point(term, at));
  return letters | std::min(length, kSignatureLengthMax) << kSignatureLetters;
}

void add_passing(std::span<const uint32_t> signatures, const SignatureFilter& filter, uint32_t begin, std::vector<uint32_t>& out) {
  static_assert(kFuzzyEditsMax == 2);
  if (filter.isAnyAdded) return add_all<0, true>(signatures, filter, begin, out);
  if (filter.edits == 0) return add_all<0, false>(signatures, filter, begin, out);
  if (filter.edits == 1) return add_all<1, false>(signatures, filter, begin, out);
  add_all<2, false>(signatures, filter, begin, out);
}

Signatures SignatureCache::of(const SectionEntry& section, TermScan scan, StopSignal& stop) {
  const std::lock_guard lock(mutex_);
  Signatures& known = sections_[section.termBegin];
  if (known != nullptr) return known;
  auto made = std::make_shared<std::vector<uint32_t>>();
  made->reserve(section.termEnd - section.termBegin);
  std::string term;
  while (scan.next()) {
    if (stop.after(1)) return nullptr;
    term.resize(scan.shared());
    term += scan.suffix();
    made->push_back(signature_of(term));
  }
  bytes_.fetch_add(made->capacity() * sizeof(uint32_t), std::memory_order_relaxed);
  return known = std::move(made);
}

}  // namespace mds
