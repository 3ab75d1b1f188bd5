// Encodes JSON strings. Pure.
#pragma once

#include <string>
#include <string_view>

namespace mds {

// `text` must be UTF-8.
void append_json_string(std::string& out, std::string_view text);

}  // namespace mds
