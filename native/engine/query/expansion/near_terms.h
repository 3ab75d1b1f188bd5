// The terms of a collection within a given number of edits of a word: candidates for the correction of a
// misspelled word. Reads dictionaries only, never postings. Runs on the caller's thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "segment/segment_set.h"

namespace mds {

struct NearTermsRequest {
  uint32_t collection;
  std::vector<std::string_view> fields;  // text fields; empty: all
  std::string_view word;
  uint32_t edits;   // at most kFuzzyEditsMax
  uint32_t prefix;  // number of leading characters that are not edited
  uint32_t most;
};

// Returns a JSON array of [term, edits, df], by edits ascending, then by df descending, then by term. The df
// is summed over the fields and includes dead documents until a merge drops them. Reads at most
// kNearTermsScanMax dictionary entries.
[[nodiscard]] std::string near_terms_json(const SegmentSet& set, const NearTermsRequest& request);

}  // namespace mds
