#include "truth/document_names.h"

#include <algorithm>

namespace mds {
namespace {

constexpr bool is_plain_character(char character) noexcept { return character >= ' ' && character <= '~' && character != '"' && character != '\\'; }

}  // namespace

std::optional<DocumentNames> read_names(std::string_view names, DocumentNamesSpace& space) noexcept {
  if (names.size() > space.size()) return std::nullopt;
  std::array<size_t, 2> ends{};
  size_t parts = 0;
  for (size_t at = 0; at < names.size(); ++at) {
    if (names[at] == '\0') {
      if (parts == ends.size()) return std::nullopt;
      ends[parts++] = at;
    } else if (!is_plain_character(names[at])) {
      return std::nullopt;
    }
    space[at] = lower_ascii(names[at]);
  }
  const auto [key, lang] = ends;
  if (parts != ends.size() || key == 0 || key > kTruthKeyBytesMax || lang == key + 1 || lang + 1 == names.size()) return std::nullopt;
  const std::string_view lowered(space.data(), names.size());
  return DocumentNames{lowered.substr(0, key), lowered.substr(key + 1), names.substr(key + 1)};
}

bool is_spelling_of(std::string_view text, std::string_view lowered) noexcept {
  return std::equal(text.begin(), text.end(), lowered.begin(), lowered.end(), [](char each, char wanted) { return lower_ascii(each) == wanted; });
}

}  // namespace mds
