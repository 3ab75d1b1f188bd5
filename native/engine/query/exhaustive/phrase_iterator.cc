// See phrase_iterator.h.
#include "query/exhaustive/phrase_iterator.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "query/exhaustive/leaf_iterators.h"
#include "segment/postings/posting_cursor.h"

namespace mds {
namespace {

// The phrase in one field: a conjunction of its terms' cursors, verified by positions.
class FieldPhrase {
 public:
  FieldPhrase(const Segment& segment, const SectionEntry& section, size_t field, StopSignal& stop) : lengths_(segment.lengths(section)), field_(field), stop_(stop) {}

  void add(PostingCursor cursor, uint32_t offset) { terms_.push_back({std::move(cursor), offset}); }

  void begin() {
    std::stable_sort(terms_.begin(), terms_.end(), [](const Term& a, const Term& b) { return a.cursor.df() < b.cursor.df(); });
    find(terms_[0].cursor.doc());
  }
  void advance(uint32_t target) {
    if (doc_ >= target) return;
    terms_[0].cursor.advance(target);
    find(terms_[0].cursor.doc());
  }

  [[nodiscard]] uint32_t doc() const noexcept { return doc_; }
  [[nodiscard]] uint32_t occurrences() const noexcept { return occurrences_; }
  [[nodiscard]] uint32_t length() const noexcept { return lengths_.at(doc_); }
  [[nodiscard]] size_t field() const noexcept { return field_; }
  [[nodiscard]] uint64_t cost() const noexcept { return terms_[0].cursor.df(); }

 private:
  struct Term {
    PostingCursor cursor;
    uint32_t offset;
  };

  void find(uint32_t candidate) {
    size_t agreed = 1;
    occurrences_ = 0;
    while (candidate != kEndOfList && occurrences_ == 0) {
      if (stop_.after(1)) {
        candidate = kEndOfList;
      } else if (agreed == terms_.size()) {
        occurrences_ = count_occurrences();
        if (occurrences_ == 0) candidate = restart(candidate + 1, agreed);
      } else {
        terms_[agreed].cursor.advance(candidate);
        const uint32_t found = terms_[agreed].cursor.doc();
        if (found == candidate) {
          ++agreed;
        } else {
          candidate = restart(found, agreed);
        }
      }
    }
    doc_ = candidate;
  }

  uint32_t restart(uint32_t target, size_t& agreed) {
    agreed = 1;
    terms_[0].cursor.advance(target);
    return terms_[0].cursor.doc();
  }

  // Counts the starts (position minus offset, possibly negative) that all terms share. Lists are ascending,
  // so each step is a merge.
  uint32_t count_occurrences() {
    for (size_t index = 0; index < terms_.size(); ++index) {
      const int64_t offset = terms_[index].offset;
      terms_[index].cursor.positions(positions_);
      if (index == 0) {
        starts_.resize(positions_.size());
        for (size_t at = 0; at < positions_.size(); ++at) starts_[at] = positions_[at] - offset;
        continue;
      }
      size_t kept = 0;
      size_t at = 0;
      for (const int64_t start : starts_) {
        while (at < positions_.size() && positions_[at] - offset < start) ++at;
        if (at < positions_.size() && positions_[at] - offset == start) starts_[kept++] = start;
      }
      starts_.resize(kept);
      if (kept == 0) return 0;
    }
    return static_cast<uint32_t>(starts_.size());
  }

  std::vector<Term> terms_;
  FieldLengths lengths_;
  size_t field_;
  StopSignal& stop_;
  uint32_t doc_ = kEndOfList;
  uint32_t occurrences_ = 0;
  std::vector<uint32_t> positions_;
  std::vector<int64_t> starts_;
};

class PhraseIterator final : public DocIterator {
 public:
  PhraseIterator(std::vector<FieldPhrase> fields, Algorithm algorithm, PhraseScoring scoring, LeafScorer scorer)
      : fields_(std::move(fields)), algorithm_(algorithm), scoring_(scoring), scorer_(std::move(scorer)) {
    for (FieldPhrase& field : fields_) {
      field.begin();
      doc_ = std::min(doc_, field.doc());
    }
  }
  uint32_t advance(uint32_t target) override {
    if (target <= doc_) return doc_;
    doc_ = kEndOfList;
    for (FieldPhrase& field : fields_) {
      field.advance(target);
      doc_ = std::min(doc_, field.doc());
    }
    return doc_;
  }
  double score() override {
    double occurrences = 0;
    double tfSum = 0;
    for (const FieldPhrase& field : fields_) {
      if (field.doc() != doc_) continue;
      if (scoring_ == PhraseScoring::kBm25 && algorithm_ != Algorithm::kBm25f) return scorer_.score(field.field(), field.occurrences(), field.length());
      if (scoring_ == PhraseScoring::kBm25) tfSum += scorer_.field_tf(field.field(), field.occurrences(), field.length());
      occurrences += field.occurrences();
    }
    return scoring_ == PhraseScoring::kBm25 ? scorer_.score_sum(tfSum) : occurrences;
  }
  uint64_t cost() const noexcept override {
    uint64_t postings = 0;
    for (const FieldPhrase& field : fields_) postings += field.cost();
    return postings;
  }

 private:
  std::vector<FieldPhrase> fields_;
  Algorithm algorithm_;
  PhraseScoring scoring_;
  LeafScorer scorer_;
};

}  // namespace

DocIteratorPtr make_phrase_iterator(const ResolvedQuery& query, const ResolvedSegment& segment, const PlanNode& node, StopSignal& stop) {
  std::vector<FieldPhrase> fields;
  for (size_t field = 0; field < segment.fields.size(); ++field) {
    const auto isMissing = [&](const PhraseTerm& term) { return query.term_at(segment, term.term, field) == nullptr; };
    if (segment.fields[field] == nullptr || std::any_of(node.phrase.begin(), node.phrase.end(), isMissing)) continue;
    const Segment& columns = *segment.ref->segment;
    FieldPhrase& phrase = fields.emplace_back(columns, *segment.fields[field], field, stop);
    for (const PhraseTerm& term : node.phrase) {
      phrase.add(PostingCursor(columns, *segment.fields[field], *query.term_at(segment, term.term, field)), term.offset);
    }
  }
  if (fields.empty()) return make_none_iterator();
  double idf = 0;
  for (const PhraseTerm& term : node.phrase) idf += query.idfs[term.term];
  return std::make_unique<PhraseIterator>(std::move(fields), query.plan->algorithm, node.scoring, LeafScorer(*query.plan, query.averageLengths, idf, 1));
}

}  // namespace mds
