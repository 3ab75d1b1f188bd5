// Lists the metadata keys and values of a collection from the dictionaries.
#pragma once

#include <string>

#include "segment/segment_set.h"

namespace mds {

// Returns a JSON object: key -> values, both sorted by bytes; only values that a live document has.
[[nodiscard]] std::string meta_keys_json(const SegmentSet& set, uint32_t collection);

}  // namespace mds
