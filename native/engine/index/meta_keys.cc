// See meta_keys.h.
#include "index/meta_keys.h"

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/json_text.h"
#include "segment/postings/posting_cursor.h"

namespace mds {
namespace {

bool has_live_posting(const SegmentRef& ref, const SectionEntry& section, const TermEntry& entry) noexcept {
  if (ref.live == nullptr) return true;
  PostingCursor cursor(*ref.segment, section, entry);
  while (cursor.doc() != kEndOfList && !ref.alive(cursor.doc())) cursor.next();
  return cursor.doc() != kEndOfList;
}

}  // namespace

std::string meta_keys_json(const SegmentSet& set, uint32_t collection) {
  std::map<std::string_view, std::set<std::string, std::less<>>> values;
  for (const SegmentRef& ref : set.segments) {
    const CollectionEntry* entry = ref.segment->find_collection(collection);
    if (entry == nullptr) continue;
    for (const SectionEntry& section : ref.segment->sections(*entry)) {
      if (section.kind != SectionKind::kMeta) continue;
      std::set<std::string, std::less<>>* known = nullptr;
      for (DictionaryWalk walk = ref.segment->terms(section); walk.next();) {
        if (!has_live_posting(ref, section, walk.entry())) continue;
        if (known == nullptr) known = &values[ref.segment->name(section)];
        if (!known->contains(walk.term())) known->emplace(walk.term());
      }
    }
  }
  std::string json = "{";
  for (const auto& [key, keyValues] : values) {
    if (json.size() > 1) json += ',';
    append_json_string(json, key);
    char separator = '[';
    json += ':';
    for (const std::string& value : keyValues) {
      json += separator;
      append_json_string(json, value);
      separator = ',';
    }
    json += ']';
  }
  return json + "}";
}

}  // namespace mds
