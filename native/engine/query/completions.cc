// See completions.h.
#include "query/completions.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/json_text.h"
#include "base/limits.h"
#include "query/term_union.h"
#include "query/text_fields.h"

namespace mds {
namespace {

bool is_commoner(const UnionTerm& a, const UnionTerm& b) noexcept {
  if (a.df != b.df) return a.df > b.df;
  return a.text != b.text ? a.text < b.text : a.group < b.group;
}

struct CompletionSources {
  std::vector<TermSource> sources;
  std::vector<std::string_view> fields;  // by group
};

CompletionSources sources_of(const SegmentSet& set, const CompletionRequest& request) {
  CompletionSources found;
  for (const SegmentRef& ref : set.segments) {
    const CollectionEntry* collection = ref.segment->find_collection(request.collection);
    if (collection == nullptr) continue;
    for (const SectionEntry& section : ref.segment->sections(*collection)) {
      const std::string_view name = ref.segment->name(section);
      if (!is_wanted(section.kind, name, request.fields)) continue;
      found.sources.push_back({ref.segment.get(), &section, 0});
      found.fields.push_back(name);
    }
  }
  // Groups in the order of the names, so that they do not depend on the segments.
  std::vector<std::string_view> names = found.fields;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (size_t at = 0; at < found.sources.size(); ++at) {
    found.sources[at].group = static_cast<uint32_t>(std::lower_bound(names.begin(), names.end(), found.fields[at]) - names.begin());
  }
  found.fields = std::move(names);
  return found;
}

}  // namespace

std::string completions_json(const SegmentSet& set, const CompletionRequest& request) {
  const CompletionSources found = sources_of(set, request);
  StopSignal never(nullptr);
  TermUnion terms(found.sources, {request.prefix, TermMatch::kPrefix}, kCompletionScanMax, never);
  BestTerms best(std::min(request.most, kCompletionsMax), is_commoner);
  for (UnionTerm term; terms.next(term);) best.add(term);
  std::string json = "[";
  for (const UnionTerm& term : best.take(is_commoner)) {
    json += json.size() > 1 ? ",[" : "[";
    append_json_string(json, term.text);
    json += ',';
    append_json_string(json, found.fields[term.group]);
    json += ',' + std::to_string(term.df) + ']';
  }
  return json + "]";
}

}  // namespace mds
