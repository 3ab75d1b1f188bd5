// See near_terms.h.
#include "query/expansion/near_terms.h"

#include <algorithm>
#include <utility>

#include "base/json_text.h"
#include "base/limits.h"
#include "query/expansion/term_union.h"
#include "query/expansion/text_fields.h"

namespace mds {
namespace {

bool is_nearer(const UnionTerm& a, const UnionTerm& b) noexcept {
  if (a.edits != b.edits) return a.edits < b.edits;
  return a.df != b.df ? a.df > b.df : a.text < b.text;
}

}  // namespace

std::string near_terms_json(const SegmentSet& set, const NearTermsRequest& request) {
  std::vector<TermSource> sources;
  for (const SegmentRef& ref : set.segments) {
    const CollectionEntry* collection = ref.segment->find_collection(request.collection);
    if (collection == nullptr) continue;
    for (const SectionEntry& section : ref.segment->sections(*collection)) {
      if (is_wanted(section.kind, ref.segment->name(section), request.fields)) sources.push_back({ref.segment.get(), &section, 0});
    }
  }
  StopSignal never(nullptr);
  TermUnion terms(sources, {request.word, TermMatch::kFuzzy, request.edits, request.prefix}, kNearTermsScanMax, never);
  BestTerms best(std::min(request.most, kNearTermsMax), is_nearer);
  for (UnionTerm term; terms.next(term);) best.add(term);
  std::string json = "[";
  for (const UnionTerm& term : best.take(is_nearer)) {
    json += json.size() > 1 ? ",[" : "[";
    append_json_string(json, term.text);
    json += ',' + std::to_string(term.edits) + ',' + std::to_string(term.df) + ']';
  }
  return json + "]";
}

}  // namespace mds
