// The terms of a collection that begin with a prefix, commonest first: what an input field offers while somebody types. Reads dictionaries only, never a posting. Runs on
// the caller's thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "index/segment_set.h"

namespace mds {

struct CompletionRequest {
  uint32_t collection;
  std::vector<std::string_view> fields;  // text fields; empty: all of them. A term of two fields is two completions
  std::string_view prefix;
  uint32_t most;
};

// JSON array of [term, field, documents], by documents descending, then by term and field. Documents: the term's df, dead ones included until a merge drops them. Where
// the prefix has more than kCompletionScanMax dictionary entries, those that come first in the order of the terms.
[[nodiscard]] std::string completions_json(const SegmentSet& set, const CompletionRequest& request);

}  // namespace mds
