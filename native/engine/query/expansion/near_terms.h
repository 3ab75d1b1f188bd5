// The terms of a collection within a number of edits of a word: candidates for the correction of a misspelled
// word. Reads dictionaries only, never a posting. Runs on the caller's thread.
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
  uint32_t prefix;  // characters at the beginning that are not edited
  uint32_t most;
};

// JSON array of [term, edits, df], the fewest edits first, then the commonest, then by the term. df: summed
// over the fields, dead documents included until a merge drops them. At most kNearTermsScanMax dictionary
// entries are read.
[[nodiscard]] std::string near_terms_json(const SegmentSet& set, const NearTermsRequest& request);

}  // namespace mds
