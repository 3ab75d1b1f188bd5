// The terms of a collection that begin with a prefix, commonest first: suggestions for an input field while a
// user types. Reads dictionaries only, never a posting. Runs on the caller's thread.
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
  // Text fields; empty: all of them. A term in two fields is two completions.
  std::vector<std::string_view> fields;
  std::string_view prefix;
  uint32_t most;
};

// JSON array of [term, field, documents], by documents descending, then by term and field. Documents: the
// term's df, dead ones included until a merge drops them. At most kCompletionScanMax dictionary entries are
// read; where they do not suffice to find the commonest, the result is the commonest of the entries read.
[[nodiscard]] std::string completions_json(const SegmentSet& set, const CompletionRequest& request);

struct TermFrequenciesRequest {
  uint32_t collection;
  std::vector<std::string_view> fields;  // as above
  std::vector<std::string_view> terms;
};

// JSON array of [term, field, documents] as above, for the terms that occur in a field, in no order.
[[nodiscard]] std::string term_frequencies_json(const SegmentSet& set, const TermFrequenciesRequest& request);

}  // namespace mds
