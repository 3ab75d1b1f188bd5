// Which sections of a segment a look into the dictionaries concerns. Pure.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "segment/segment_columns.h"

namespace mds {

// A text field, and one of `fields` where there are any.
[[nodiscard]] inline bool is_wanted(SectionKind kind, std::string_view name, const std::vector<std::string_view>& fields) noexcept {
  return kind == SectionKind::kText && (fields.empty() || std::find(fields.begin(), fields.end(), name) != fields.end());
}

}  // namespace mds
