// See completions.h.
#include "query/completion/completions.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/json_text.h"
#include "base/limits.h"
#include "query/completion/commonest_terms.h"
#include "query/expansion/text_fields.h"

namespace mds {
namespace {

struct CompletionSources {
  std::vector<TermSource> sources;
  std::vector<std::string_view> fields;  // indexed by group
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
  // Groups are numbered in the order of the field names, so that they do not depend on the segments.
  std::vector<std::string_view> names = found.fields;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (size_t at = 0; at < found.sources.size(); ++at) {
    found.sources[at].group = static_cast<uint32_t>(std::lower_bound(names.begin(), names.end(), found.fields[at]) - names.begin());
  }
  found.fields = std::move(names);
  return found;
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
  std::vector<CommonTerm> best;
  uint32_t steps = kCompletionScanMax;
  bool isSure = terms.size() <= kCompletionWalkMax && terms.walk(most, steps, best);
  // The search may use the steps that remain after reserving those of a final walk over all entries.
  const uint64_t kept = terms.size() < kCompletionScanMax ? terms.size() + 1 : 0;
  if (!isSure) {
    steps = static_cast<uint32_t>(kCompletionScanMax - kept);
    isSure = terms.find(most, steps, best);
  }
  if (!isSure && kept > 0) {
    steps = kCompletionScanMax;
    (void)terms.walk(most, steps, best);
  }
  std::string json = "[";
  for (const CommonTerm& term : best) append(json, term.text, found.fields[term.group], term.df);
  return json + "]";
}

std::string term_frequencies_json(const SegmentSet& set, const TermFrequenciesRequest& request) {
  const CompletionSources found = sources_of(set, request.collection, request.fields);
  std::string json = "[";
  std::vector<std::string_view> terms = request.terms;
  // Sorted, so that each lookup begins where the previous one ended.
  std::sort(terms.begin(), terms.end());
  std::vector<std::vector<uint64_t>> counts(found.fields.size(), std::vector<uint64_t>(terms.size()));
  for (const TermSource& source : found.sources) {
    const uint32_t end = source.section->termEnd;
    uint32_t block = source.section->termBegin;
    for (size_t term = 0; block < end && term < terms.size(); ++term) {
      block = source.segment->block_ahead(block, end, terms[term]);
      const std::optional<TermEntry> entry = source.segment->find_entry(block, std::min(end, block + kDictionaryBlockTerms), terms[term]);
      if (entry) counts[source.group][term] += entry->df;
    }
  }
  for (size_t group = 0; group < counts.size(); ++group) {
    for (size_t term = 0; term < terms.size(); ++term) {
      if (counts[group][term] > 0) append(json, terms[term], found.fields[group], counts[group][term]);
    }
  }
  return json + "]";
}

}  // namespace mds
