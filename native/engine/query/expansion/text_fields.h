// Selects the sections of a segment that a dictionary lookup covers. Pure.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "segment/segment_columns.h"

namespace mds {

// Whether the section is a text field and, unless `fields` is empty, one of them.
[[nodiscard]] inline bool is_wanted(SectionKind kind, std::string_view name, const std::vector<std::string_view>& fields) noexcept {
  return kind == SectionKind::kText && (fields.empty() || std::find(fields.begin(), fields.end(), name) != fields.end());
}

}  // namespace mds
