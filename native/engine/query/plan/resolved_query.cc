// See resolved_query.h.
#include "query/plan/resolved_query.h"

#include <algorithm>
#include <limits>

namespace mds {
namespace {

struct FieldTotals {
  uint64_t documents = 0;
  uint64_t length = 0;
};

TermEntry find_in(const Segment& segment, const SectionEntry* section, const PlanTerm& term) {
  if (section == nullptr) return {};
  if (term.locations == nullptr) return segment.find_entry(*section, term.text).value_or(TermEntry{});
  const auto found = std::find_if(term.locations->begin(), term.locations->end(), [section](const TermLocation& location) { return location.section == section; });
  return found == term.locations->end() ? TermEntry{} : found->entry;
}

ResolvedSegment resolve_segment(const SegmentRef& ref, const CollectionEntry& collection, const SearchPlan& plan) {
  const Segment& segment = *ref.segment;
  ResolvedSegment resolved{&ref, &collection, {}, {}};
  for (const ScoredField& field : plan.fields) resolved.fields.push_back(segment.find_section(collection, SectionKind::kText, field.name));
  resolved.terms.reserve(plan.terms.size() * plan.fields.size());
  for (const PlanTerm& term : plan.terms) {
    for (size_t field = 0; field < resolved.fields.size(); ++field) {
      const bool isWanted = (term.fields >> field & 1) != 0;
      resolved.terms.push_back(isWanted ? find_in(segment, resolved.fields[field], term) : TermEntry{});
    }
  }
  return resolved;
}

// Caps the idf of a match at the smallest idf of matches with fewer edits, so that closer matches score
// higher: a rare misspelling must not outweigh the word.
void cap_fuzzy_idfs(const SearchPlan& plan, std::vector<double>& idfs) {
  for (const FuzzyGroup& group : plan.fuzzyGroups) {
    double cap = std::numeric_limits<double>::infinity();  // the smallest idf of the matches with fewer edits
    double smallest = cap;
    for (uint32_t term = group.begin; term < group.end; ++term) {
      if (term > group.begin && group.edits[term - group.begin] != group.edits[term - group.begin - 1]) cap = smallest;
      idfs[term] = std::min(idfs[term], cap);
      smallest = std::min(smallest, idfs[term]);
    }
  }
}

}  // namespace

ResolvedQuery resolve_query(const SegmentSet& set, const SearchPlan& plan, ValueOrderCache* orders) {
  ResolvedQuery query;
  query.plan = &plan;
  query.orders = orders;
  const size_t fieldCount = plan.fields.size();
  std::vector<FieldTotals> totals(fieldCount);
  std::vector<uint64_t> dfs(plan.terms.size() * fieldCount);
  for (const SegmentRef& ref : set.segments) {
    const CollectionEntry* collection = ref.segment->find_collection(plan.collection);
    if (collection == nullptr) continue;
    query.documents += collection->slotEnd - collection->slotBegin;
    query.liveDocuments += ref.live_in(*collection);
    query.segments.push_back(resolve_segment(ref, *collection, plan));
    const ResolvedSegment& resolved = query.segments.back();
    for (size_t field = 0; field < fieldCount; ++field) {
      if (resolved.fields[field] == nullptr) continue;
      totals[field].documents += resolved.fields[field]->documents;
      totals[field].length += resolved.fields[field]->totalLength;
    }
    for (size_t at = 0; at < dfs.size(); ++at) dfs[at] += resolved.terms[at].df;
  }
  for (const FieldTotals& total : totals) {
    query.averageLengths.push_back(total.documents == 0 ? 1 : static_cast<double>(total.length) / static_cast<double>(total.documents));
  }
  for (size_t term = 0; term < plan.terms.size(); ++term) {
    uint64_t df = 0;
    for (size_t field = 0; field < fieldCount; ++field) df = std::max(df, dfs[term * fieldCount + field]);
    query.idfs.push_back(inverse_document_frequency(plan.algorithm, query.documents, df));
  }
  cap_fuzzy_idfs(plan, query.idfs);
  return query;
}

}  // namespace mds
