// See proximity_iterator.h.
#include "query/exhaustive/proximity_iterator.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "query/exhaustive/leaf_iterators.h"
#include "segment/postings/posting_cursor.h"

namespace mds {
namespace {

constexpr uint32_t kNoSpan = UINT32_MAX;
constexpr double kScoreMin = 0.1;

using Positions = std::vector<uint32_t>;

// Moves `at` to the first value >= `least`. `least` must not decrease from call to call.
bool move_to(const Positions& positions, size_t& at, uint32_t least) noexcept {
  while (at < positions.size() && positions[at] < least) ++at;
  return at < positions.size();
}

// Returns the smallest span from an occurrence of term `left` to an occurrence of term `right` at or behind
// it, with all other terms in between. Reads every list once.
uint32_t narrowest(const std::vector<Positions>& terms, size_t left, size_t right, bool isStrict, std::vector<size_t>& ats) noexcept {
  ats.assign(terms.size(), 0);
  uint32_t best = kNoSpan;
  for (const uint32_t begin : terms[left]) {
    uint32_t least = begin + (isStrict ? 1 : 0);
    for (size_t term = 0; term < terms.size(); ++term) {
      if (term == left || term == right) continue;
      if (!move_to(terms[term], ats[term], begin)) return best;
      least = std::max(least, terms[term][ats[term]]);
    }
    if (!move_to(terms[right], ats[right], least)) return best;
    best = std::min(best, terms[right][ats[right]] - begin);
  }
  return best;
}

// The matches in one field: candidates are documents that contain all the terms. The cursors advance as a
// conjunction.
class FieldProximity {
 public:
  FieldProximity(const ResolvedQuery& query, const ResolvedSegment& segment, const PlanNode& node, size_t field, StopSignal& stop)
      : distance_(node.distance),
        isSame_(query.plan->terms[node.phrase.front().term].text == query.plan->terms[node.phrase.back().term].text),
        stop_(stop),
        positions_(node.phrase.size()) {
    for (const PhraseTerm& term : node.phrase) {
      cursors_.emplace_back(*segment.ref->segment, *segment.fields[field], *query.term_at(segment, term.term, field));
      byDf_.push_back(byDf_.size());
    }
    std::stable_sort(byDf_.begin(), byDf_.end(), [this](size_t a, size_t b) { return cursors_[a].df() < cursors_[b].df(); });
    find(cursors_[byDf_[0]].doc());
  }

  void advance(uint32_t target) {
    if (doc_ < target) find(advance_rarest(target));
  }
  [[nodiscard]] uint32_t doc() const noexcept { return doc_; }
  [[nodiscard]] uint32_t span() const noexcept { return span_; }
  [[nodiscard]] uint64_t cost() const noexcept { return cursors_[byDf_[0]].df(); }

 private:
  uint32_t advance_rarest(uint32_t target) {
    PostingCursor& rarest = cursors_[byDf_[0]];
    rarest.advance(target);
    return rarest.doc();
  }

  void find(uint32_t candidate) {
    doc_ = kEndOfList;
    while (candidate != kEndOfList && !stop_.after(1)) {
      const uint32_t agreed = agree(candidate);
      if (agreed == candidate) {
        span_ = span_here();
        if (span_ != kNoSpan && span_ <= distance_) {
          doc_ = candidate;
          return;
        }
      }
      candidate = advance_rarest(agreed == candidate ? candidate + 1 : agreed);
    }
  }

  // Returns `candidate` if all cursors are on it, else the first document that may be the next candidate.
  uint32_t agree(uint32_t candidate) {
    for (size_t order = 1; order < byDf_.size(); ++order) {
      PostingCursor& cursor = cursors_[byDf_[order]];
      cursor.advance(candidate);
      if (cursor.doc() != candidate) return cursor.doc();
    }
    return candidate;
  }

  uint32_t span_here() {
    for (size_t term = 0; term < cursors_.size(); ++term) cursors_[term].positions(positions_[term]);
    const size_t last = positions_.size() - 1;
    return std::min(narrowest(positions_, 0, last, isSame_, ats_), narrowest(positions_, last, 0, isSame_, ats_));
  }

  uint32_t distance_;
  bool isSame_;
  StopSignal& stop_;
  std::vector<PostingCursor> cursors_;  // in the order of the plan
  std::vector<size_t> byDf_;
  std::vector<Positions> positions_;
  std::vector<size_t> ats_;
  uint32_t doc_ = kEndOfList;
  uint32_t span_ = kNoSpan;
};

class ProximityIterator final : public DocIterator {
 public:
  ProximityIterator(std::vector<FieldProximity> fields, uint32_t distance) : fields_(std::move(fields)), distance_(distance) {
    for (const FieldProximity& field : fields_) doc_ = std::min(doc_, field.doc());
  }
  uint32_t advance(uint32_t target) override {
    if (target <= doc_) return doc_;
    doc_ = kEndOfList;
    for (FieldProximity& field : fields_) {
      field.advance(target);
      doc_ = std::min(doc_, field.doc());
    }
    return doc_;
  }
  double score() override {
    uint32_t span = kNoSpan;
    for (const FieldProximity& field : fields_) {
      if (field.doc() == doc_) span = std::min(span, field.span());
    }
    const double width = static_cast<double>(distance_) + 1;
    return std::max(kScoreMin, (width - span) / width);
  }
  uint64_t cost() const noexcept override {
    uint64_t postings = 0;
    for (const FieldProximity& field : fields_) postings += field.cost();
    return postings;
  }

 private:
  std::vector<FieldProximity> fields_;
  uint32_t distance_;
};

}  // namespace

DocIteratorPtr make_proximity_iterator(const ResolvedQuery& query, const ResolvedSegment& segment, const PlanNode& node, StopSignal& stop) {
  std::vector<FieldProximity> fields;
  for (size_t field = 0; field < segment.fields.size(); ++field) {
    const auto isMissing = [&](const PhraseTerm& term) { return query.term_at(segment, term.term, field) == nullptr; };
    if (segment.fields[field] == nullptr || std::any_of(node.phrase.begin(), node.phrase.end(), isMissing)) continue;
    fields.emplace_back(query, segment, node, field, stop);
  }
  if (fields.empty()) return make_none_iterator();
  return std::make_unique<ProximityIterator>(std::move(fields), node.distance);
}

}  // namespace mds
