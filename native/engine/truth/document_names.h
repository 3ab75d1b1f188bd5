// The names of a get as a client sends them: collection, key and language in one text. Only names that every
// part of the system writes alike are read: printable ASCII without the characters that JSON escapes, so that
// lower case is a matter of bytes and the document's JSON has them unchanged. Pure.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "base/limits.h"

namespace mds {

// Longer names are in no table: a collection, and an identity, which begins with the number of the
// collection.
inline constexpr size_t kDocumentNamesBytesMax = 2 * size_t{kTruthKeyBytesMax};

// The views of it are valid as long as the text that was read and the space that it was read into.
struct DocumentNames {
  // In lower case.
  std::string_view collection;
  // Key and language, separated by a zero byte: in lower case, and as sent.
  std::string_view identity;
  std::string_view spelled;
};

using DocumentNamesSpace = std::array<char, kDocumentNamesBytesMax>;

// names: collection, key and language, separated by zero bytes. Empty if they are anything but three texts of
// the kind above.
[[nodiscard]] std::optional<DocumentNames> read_names(std::string_view names, DocumentNamesSpace& space) noexcept;

// In lower case by ASCII.
[[nodiscard]] constexpr char lower_ascii(char character) noexcept {
  return character >= 'A' && character <= 'Z' ? static_cast<char>(character + ('a' - 'A')) : character;
}

// Whether `text` is `lowered` in any case.
[[nodiscard]] bool is_spelling_of(std::string_view text, std::string_view lowered) noexcept;

}  // namespace mds
