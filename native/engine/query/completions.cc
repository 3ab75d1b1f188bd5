// See completions.h.
#include "query/completions.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/json_text.h"
#include "base/limits.h"
#include "query/commonest_terms.h"
#include "query/term_union.h"
#include "query/text_fields.h"

namespace mds {
namespace {

struct CompletionSources {
  std::vector<TermSource> sources;
  std::vector<std::string_view> fields;  // by group
};

CompletionSources sources_of(const SegmentSet& set, uint32_t wanted, const std::vector<std::string_view>& fields) {
  CompletionSources found;
  for (const SegmentRef& ref : set.segments) {
    const CollectionEntry* collection = ref.segment->find_collection(wanted);
    if (collection == nullptr) continue;
    for (const SectionEntry& section : ref.segment->sections(*collection)) {
      const std::string_view name = ref.segment->name(section);
      if (!is_wanted(section.kind, name, fields)) continue;
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

std::vector<CommonTerm> walk(const std::vector<TermSource>& sources, std::string_view prefix, size_t most) {
  StopSignal never(nullptr);
  TermUnion terms(sources, {prefix, TermMatch::kPrefix}, kCompletionScanMax, never);
  BestCommonTerms best(most);
  for (UnionTerm term; terms.next(term);) best.add({term.text, term.group, term.df});
  return best.take();
}

void append(std::string& json, std::string_view term, std::string_view field, uint64_t df) {
  json += json.size() > 1 ? ",[" : "[";
  append_json_string(json, term);
  json += ',';
  append_json_string(json, field);
  json += ',' + std::to_string(df) + ']';
}

}  // namespace

std::string completions_json(const SegmentSet& set, const CompletionRequest& request) {
  const CompletionSources found = sources_of(set, request.collection, request.fields);
  CommonestTerms terms(found.sources, request.prefix);
  const size_t most = std::min(request.most, kCompletionsMax);
  // What was read in vain counts, too.
  uint32_t steps = kCompletionScanMax - (terms.size() > kCompletionScanMax ? 0 : static_cast<uint32_t>(terms.size()));
  std::vector<CommonTerm> best;
  bool isSure = false;
  if (terms.size() > kCompletionWalkMax) isSure = terms.find(most, steps, best);
  if (!isSure && terms.size() <= kCompletionScanMax) best = walk(found.sources, request.prefix, most);
  std::string json = "[";
  for (const CommonTerm& term : best) append(json, term.text, found.fields[term.group], term.df);
  return json + "]";
}

std::string term_frequencies_json(const SegmentSet& set, const TermFrequenciesRequest& request) {
  const CompletionSources found = sources_of(set, request.collection, request.fields);
  std::string json = "[";
  std::vector<uint64_t> counts(found.fields.size());
  for (const std::string_view term : request.terms) {
    std::fill(counts.begin(), counts.end(), 0);
    for (const TermSource& source : found.sources) {
      const std::optional<TermEntry> entry = source.segment->find_entry(*source.section, term);
      if (entry) counts[source.group] += entry->df;
    }
    for (size_t group = 0; group < counts.size(); ++group) {
      if (counts[group] > 0) append(json, term, found.fields[group], counts[group]);
    }
  }
  return json + "]";
}

}  // namespace mds
