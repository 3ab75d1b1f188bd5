// See leaf_iterators.h.
#include "query/exhaustive/leaf_iterators.h"

#include <utility>
#include <vector>

#include "base/limits.h"
#include "query/exhaustive/boolean_iterators.h"
#include "segment/postings/posting_cursor.h"

namespace mds {
namespace {

class NoneIterator final : public DocIterator {
 public:
  uint32_t advance(uint32_t) override { return doc_; }
  double score() override { return 0; }
  uint64_t cost() const noexcept override { return 0; }
};

class RangeIterator final : public DocIterator {
 public:
  explicit RangeIterator(const CollectionEntry& collection) : end_(collection.slotEnd), cost_(collection.slotEnd - collection.slotBegin) { doc_ = collection.slotBegin; }
  uint32_t advance(uint32_t target) override {
    if (target > doc_) doc_ = target < end_ ? target : kEndOfList;
    return doc_;
  }
  double score() override { return 0; }
  uint64_t cost() const noexcept override { return cost_; }

 private:
  uint32_t end_;
  uint64_t cost_;
};

class FilterPostingIterator final : public DocIterator {
 public:
  FilterPostingIterator(const Segment& segment, const SectionEntry& section, uint32_t term) : cursor_(segment, section, term) { doc_ = cursor_.doc(); }
  uint32_t advance(uint32_t target) override {
    cursor_.advance(target);
    return doc_ = cursor_.doc();
  }
  double score() override { return 0; }
  uint64_t cost() const noexcept override { return cursor_.df(); }

 private:
  PostingCursor cursor_;
};

// Iterates over the documents whose bits are set: the union of many posting lists, each read once, or the
// documents within ranges.
class BitSetIterator final : public DocIterator {
 public:
  BitSetIterator(const CollectionEntry& collection, SlotBits bits) : bits_(std::move(bits)), cost_(bits_.count()) { doc_ = bits_.next(collection.slotBegin); }
  uint32_t advance(uint32_t target) override {
    if (target > doc_) doc_ = bits_.next(target);
    return doc_;
  }
  double score() override { return 0; }
  uint64_t cost() const noexcept override { return cost_; }

 private:
  SlotBits bits_;
  uint64_t cost_;
};

// For tfidf and bm25, which score a term in one field.
class TermIterator final : public DocIterator {
 public:
  TermIterator(const Segment& segment, const SectionEntry& section, const TermEntry& term, size_t field, LeafScorer scorer)
      : cursor_(segment, section, term), lengths_(segment.lengths(section)), field_(field), scorer_(std::move(scorer)) {
    doc_ = cursor_.doc();
  }
  uint32_t advance(uint32_t target) override {
    cursor_.advance(target);
    return doc_ = cursor_.doc();
  }
  double score() override { return scorer_.score(field_, cursor_.tf(), lengths_.at(doc_)); }
  uint64_t cost() const noexcept override { return cursor_.df(); }

 private:
  PostingCursor cursor_;
  FieldLengths lengths_;
  size_t field_;
  LeafScorer scorer_;
};

// For bm25f: the union over the scored fields.
class FieldsTermIterator final : public DocIterator {
 public:
  explicit FieldsTermIterator(LeafScorer scorer) : scorer_(std::move(scorer)) {}

  void add(const Segment& segment, const SectionEntry& section, const TermEntry& term, size_t field) {
    fields_.push_back({PostingCursor(segment, section, term), segment.lengths(section), field});
    doc_ = std::min(doc_, fields_.back().cursor.doc());
  }
  uint32_t advance(uint32_t target) override {
    doc_ = kEndOfList;
    for (Field& field : fields_) {
      field.cursor.advance(target);
      doc_ = std::min(doc_, field.cursor.doc());
    }
    return doc_;
  }
  double score() override {
    double tfSum = 0;
    for (Field& field : fields_) {
      if (field.cursor.doc() == doc_) tfSum += scorer_.field_tf(field.index, field.cursor.tf(), field.lengths.at(doc_));
    }
    return scorer_.score_sum(tfSum);
  }
  uint64_t cost() const noexcept override {
    uint64_t postings = 0;
    for (const Field& field : fields_) postings += field.cursor.df();
    return postings;
  }

 private:
  struct Field {
    PostingCursor cursor;
    FieldLengths lengths;
    size_t index;
  };

  LeafScorer scorer_;
  std::vector<Field> fields_;
};

}  // namespace

DocIteratorPtr make_none_iterator() { return std::make_unique<NoneIterator>(); }

DocIteratorPtr make_all_iterator(const CollectionEntry& collection) { return std::make_unique<RangeIterator>(collection); }

DocIteratorPtr make_term_iterator(const ResolvedQuery& query, const ResolvedSegment& segment, uint32_t term) {
  LeafScorer scorer(*query.plan, query.averageLengths, query.idfs[term], query.plan->terms[term].weight);
  if (query.plan->algorithm != Algorithm::kBm25f) {
    const auto field = static_cast<size_t>(std::countr_zero(query.plan->terms[term].fields));
    const TermEntry* found = field < segment.fields.size() ? query.term_at(segment, term, field) : nullptr;
    if (found == nullptr) return make_none_iterator();
    return std::make_unique<TermIterator>(*segment.ref->segment, *segment.fields[field], *found, field, std::move(scorer));
  }
  auto fields = std::make_unique<FieldsTermIterator>(std::move(scorer));
  for (size_t field = 0; field < segment.fields.size(); ++field) {
    const TermEntry* found = query.term_at(segment, term, field);
    if (found != nullptr) fields->add(*segment.ref->segment, *segment.fields[field], *found, field);
  }
  return fields;
}

DocIteratorPtr make_filter_iterator(const ResolvedSegment& segment, const MetaFilter& filter, StopSignal& stop) {
  const Segment& columns = *segment.ref->segment;
  const SectionEntry* section = columns.find_section(*segment.collection, SectionKind::kMeta, filter.key);
  if (section == nullptr) return make_none_iterator();
  std::vector<uint32_t> terms;
  for (const std::string_view value : filter.values) {
    const std::optional<uint32_t> term = columns.find_term(*section, value);
    if (term) terms.push_back(*term);
  }
  if (filter.anyValue) {
    for (uint32_t term = section->termBegin; term < section->termEnd; ++term) terms.push_back(term);
  }
  if (terms.empty()) return make_none_iterator();
  if (terms.size() == 1) return std::make_unique<FilterPostingIterator>(columns, *section, terms[0]);
  if (terms.size() <= kFilterCursorsMax) {
    std::vector<DocIteratorPtr> values;
    values.reserve(terms.size());
    for (const uint32_t term : terms) values.push_back(std::make_unique<FilterPostingIterator>(columns, *section, term));
    return make_or_iterator(std::move(values));
  }
  SlotBits bits(*segment.collection);
  for (const uint32_t term : terms) add_value(columns, *section, term, columns.term_entry(term), bits, stop);
  if (stop.stopped()) return make_none_iterator();
  return make_bits_iterator(*segment.collection, std::move(bits));
}

DocIteratorPtr make_bits_iterator(const CollectionEntry& collection, SlotBits bits) { return std::make_unique<BitSetIterator>(collection, std::move(bits)); }

}  // namespace mds
