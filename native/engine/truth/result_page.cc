// The results of a ranked search as the answer has them: each document with its score and the terms that it
// has. They are in the order of a hits record, whose documents have to be what was indexed: otherwise
// src/store puts the page together, which checks each document again and leaves out what does not match any
// more.
//
// How terms are shown: u32 count, then per term u32 same, u32 begin, u32 bytes, then the texts. `same` is the
// first term that is shown by the same text (itself, mostly), so that a text is shown once. `begin` and
// `bytes` locate the text, a JSON string, within the texts; without bytes the term is not shown.
#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <cmath>
#include <cstring>
#include <string_view>

#include "base/hits_record.h"
#include "base/limits.h"
#include "base/number_text.h"
#include "truth/document_reader.h"

namespace mds {
namespace {

constexpr std::string_view kDocument = R"({"document":)";
constexpr std::string_view kScore = R"(,"score":)";
constexpr std::string_view kMatched = R"(,"matchedTerms":[)";
constexpr std::string_view kResultEnd = "]}";
// Of a result, beside its document and its terms; with the comma before it.
constexpr size_t kResultBytes = 1 + kDocument.size() + kScore.size() + kNumberTextBytesMax + kMatched.size() + kResultEnd.size();

uint8_t* append(uint8_t* at, std::string_view text) noexcept {
  std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

class ShownTerms {
 public:
  // False: the bytes are not consistent.
  [[nodiscard]] bool read(Bytes terms) noexcept {
    if (terms.size() < sizeof(uint32_t)) return false;
    count_ = load_u32(terms.data());
    if (count_ > kPlanLeavesMax || terms.size() - sizeof(uint32_t) < count_ * kEntryBytes) return false;
    entries_ = terms.data() + sizeof(uint32_t);
    texts_ = as_text(terms.subspan(sizeof(uint32_t) + count_ * kEntryBytes));
    size_t sum = 0;
    for (uint32_t term = 0; term < count_; ++term) {
      if (same(term) > term || begin(term) > texts_.size() || bytes(term) > texts_.size() - begin(term)) return false;
      sum += bytes(term);
    }
    // The space for a result has room for each text once.
    return sum <= texts_.size();
  }

  // Bytes of all texts and the commas between them.
  [[nodiscard]] size_t bytes_max() const noexcept { return texts_.size() + count_; }

  // The terms of the mask that are shown, each text once. Null: the mask names a term that is not there.
  [[nodiscard]] uint8_t* append_matched(uint8_t* at, Bytes mask) const noexcept {
    std::bitset<kPlanLeavesMax> isWritten;
    const uint8_t* const first = at;
    for (size_t word = 0; word < mask.size() / sizeof(uint32_t); ++word) {
      for (uint32_t bits = load_u32(mask.data() + word * sizeof(uint32_t)); bits != 0; bits &= bits - 1) {
        const auto term = static_cast<uint32_t>(word * 32) + static_cast<uint32_t>(std::countr_zero(bits));
        if (term >= count_) return nullptr;
        if (bytes(term) == 0 || isWritten[same(term)]) continue;
        isWritten.set(same(term));
        if (at != first) *at++ = ',';
        at = append(at, texts_.substr(begin(term), bytes(term)));
      }
    }
    return at;
  }

 private:
  static constexpr size_t kEntryBytes = 12;

  [[nodiscard]] uint32_t same(uint32_t term) const noexcept { return load_u32(entries_ + term * kEntryBytes); }
  [[nodiscard]] uint32_t begin(uint32_t term) const noexcept { return load_u32(entries_ + term * kEntryBytes + 4); }
  [[nodiscard]] uint32_t bytes(uint32_t term) const noexcept { return load_u32(entries_ + term * kEntryBytes + 8); }

  size_t count_ = 0;
  const uint8_t* entries_ = nullptr;
  std::string_view texts_;
};

}  // namespace

DocumentRead DocumentReader::read_results(const ResultsWanted& wanted, std::span<uint8_t> space) noexcept {
  const std::optional<HitsRecord> hits = HitsRecord::read(wanted.hits);
  ShownTerms terms;
  const Snapshot snapshot(transaction_);
  if (!hits || !terms.read(wanted.terms) || !snapshot.isOpen()) return {};
  const size_t count = std::min<size_t>(wanted.limit, hits->size());
  size_t end = 0;
  FoundRows found;
  for (size_t first = 0; first < count; first += kPageDocumentsMax) {
    const size_t rows = std::min(count - first, kPageDocumentsMax);
    std::array<uint32_t, kPageDocumentsMax> docids;
    for (size_t row = 0; row < rows; ++row) docids[row] = hits->at(first + row).docid;
    find_rows(wanted.collection, std::span(docids).first(rows), found);
    for (size_t row = 0; row < rows; ++row) {
      const RecordedHit hit = hits->at(first + row);
      const std::optional<StoredHead>& head = found.heads[row];
      const bool isIndexed = head && head->indexedLsn == hit.lsn && !(head->expiresAt > 0 && head->expiresAt <= wanted.now);
      const std::optional<StoredBody> body = isIndexed && std::isfinite(hit.score) ? body_of(wanted.collection, found, row) : std::nullopt;
      if (!body) return {};
      const size_t beside = kResultBytes + terms.bytes_max();
      const size_t needed = end + beside + text_bytes(*head, *body);
      if (needed > wanted.bytesMax) return {};
      // The others will need about as much.
      if (needed > space.size())
        return {DocumentRead::Kind::kSpaceShort, std::min(wanted.bytesMax, needed + (needed / (first + row + 1) + 1) * (count - first - row - 1))};
      uint8_t* at = space.data() + end;
      if (end > 0) *at++ = ',';
      at = append(at, kDocument);
      DocumentFacts facts;
      const DocumentRead read = write_text(wanted.collection, *head, *body, std::span(at, text_bytes(*head, *body)), facts);
      if (read.kind != DocumentRead::Kind::kWritten) return {};
      at = append_number(append(at + read.bytes, kScore), hit.score);
      at = terms.append_matched(append(at, kMatched), hit.mask);
      if (at == nullptr) return {};
      end = static_cast<size_t>(append(at, kResultEnd) - space.data());
    }
  }
  return {DocumentRead::Kind::kWritten, end};
}

}  // namespace mds
