// The terms of a collection that begin with a prefix, most frequent first: suggestions while a user types.
// Reads dictionaries only, never postings. Runs on the caller's thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "segment/segment_set.h"

namespace mds {

struct CompletionRequest {
  uint32_t collection;
  // Text fields; empty: all. A term in two fields is two completions.
  std::vector<std::string_view> fields;
  std::string_view prefix;
  uint32_t most;
};

// Returns a JSON array of [term, field, documents], by documents descending, then by term and field.
// Documents is the term's df; it includes dead documents until a merge drops them. Reads at most
// kCompletionScanMax dictionary entries. If they do not suffice to find the most frequent terms, the result
// is the most frequent of the entries read.
[[nodiscard]] std::string completions_json(const SegmentSet& set, const CompletionRequest& request);

struct TermFrequenciesRequest {
  uint32_t collection;
  std::vector<std::string_view> fields;  // as above
  std::vector<std::string_view> terms;
};

// Returns a JSON array of [term, field, documents] as above, for the requested terms that occur in a field,
// in no particular order.
[[nodiscard]] std::string term_frequencies_json(const SegmentSet& set, const TermFrequenciesRequest& request);

}  // namespace mds
