// The terms of a collection that begin with a prefix, commonest first: what an input field offers while somebody types. Reads dictionaries only, never a posting. Runs on
// the caller's thread.
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
  std::vector<std::string_view> fields;  // text fields; empty: all of them. A term of two fields is two completions
  std::string_view prefix;
  uint32_t most;
};

// JSON array of [term, field, documents], by documents descending, then by term and field. Documents: the term's df, dead ones included until a merge drops them. At most
// kCompletionScanMax dictionary entries are looked at; where they do not suffice to tell which are the commonest, the commonest of those.
[[nodiscard]] std::string completions_json(const SegmentSet& set, const CompletionRequest& request);

struct TermFrequenciesRequest {
  uint32_t collection;
  std::vector<std::string_view> fields;  // as above
  std::vector<std::string_view> terms;
};

// JSON array of [term, field, documents] as above, of those terms that are in a field, in no order.
[[nodiscard]] std::string term_frequencies_json(const SegmentSet& set, const TermFrequenciesRequest& request);

}  // namespace mds
