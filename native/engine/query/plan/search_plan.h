// A parsed search plan (docs/formats/search-plan.md). Strings are views into the plan's bytes. Parsing
// validates everything that the scorer relies on: indexes, counts, depth, finite numbers.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "segment/segment.h"

namespace mds {

inline constexpr uint32_t kNoPollWord = 0xFFFFFFFF;

enum class Algorithm : uint32_t { kTfidf = 0, kBm25 = 1, kBm25f = 2 };
enum class SortField : uint32_t { kScore = 0, kAddedAt = 1, kUpdatedAt = 2, kKey = 3, kDocid = 4 };
enum class NodeKind : uint32_t { kTerm = 1, kAnd = 2, kOr = 3, kAndNot = 4, kPhrase = 5, kAll = 6, kNone = 7, kFuzzy = 8, kWildcard = 9, kProximity = 10 };
enum class PhraseScoring : uint32_t { kOccurrences = 0, kBm25 = 1 };

struct PhraseTerm {
  uint32_t term;
  uint32_t offset;
};

struct PlanNode {
  NodeKind kind = NodeKind::kNone;
  uint32_t term = 0;    // kTerm, kFuzzy; kWildcard: the text of this term is the pattern
  uint32_t edits = 0;   // kFuzzy
  uint32_t prefix = 0;  // kFuzzy: code points that are not edited
  PhraseScoring scoring = PhraseScoring::kOccurrences;
  uint32_t distance = 0;           // kProximity
  std::vector<PhraseTerm> phrase;  // terms of kPhrase and kProximity; with kProximity the offsets are 0
  std::vector<PlanNode> children;  // kAndNot: [wanted, excluded]
};

struct ScoredField {
  std::string_view name;
  double weight;
};

// Admits documents that have one of the values under the key; with `anyValue`, documents that have the key.
// Without values and `anyValue` it admits none: OR over nothing is nothing.
struct MetaFilter {
  std::string_view key;
  bool anyValue = false;
  std::vector<std::string_view> values;
};

enum class RangeField : uint32_t { kMeta = 0, kAddedAt = 1, kUpdatedAt = 2 };
enum class BoundKind : uint32_t { kAtLeast = 0, kAtMost = 1, kAbove = 2, kBelow = 3 };

struct RangeBound {
  BoundKind kind;
  bool isText;
  double scalar;  // a number, or Unix seconds
  std::string_view text;
};

// Admits documents with one value within all bounds. A time has no text bounds.
struct RangeFilter {
  RangeField field;
  std::string_view key;  // kMeta
  std::vector<RangeBound> bounds;
};

// Documents with the value score `factor` times as high. The factors of several boosts are multiplied; their
// product is at least kBoostFloor.
struct Boost {
  std::string_view key;
  std::string_view value;
  double factor;
};

inline constexpr double kBoostFloor = 0.001;

// Location of a term in one dictionary of a snapshot.
struct TermLocation {
  const SectionEntry* section;
  TermEntry entry;
};

struct PlanTerm {
  std::string_view text;
  double weight;
  // Bit f: the term is searched in scored field f. With tfidf and bm25 at most one bit is set.
  uint64_t fields;
  // For a term of an expansion: all its locations, which are already known. Null: the term must be looked up.
  const std::vector<TermLocation>* locations = nullptr;
};

// The expansion of one FUZZY leaf: terms [begin, end) of the plan, sorted by their edits. No term's idf is
// higher than that of a term with fewer edits.
struct FuzzyGroup {
  uint32_t begin;
  uint32_t end;
  std::vector<uint32_t> edits;
};

struct SearchPlan {
  uint32_t collection;
  Algorithm algorithm;
  double k1;
  double b;
  uint32_t k;
  uint32_t skip;
  SortField sort;
  bool descending;
  bool exactTotal;
  uint32_t pollWord;
  std::vector<ScoredField> fields;
  std::vector<MetaFilter> filters;
  std::vector<RangeFilter> ranges;
  std::vector<Boost> boosts;
  std::vector<PlanTerm> terms;
  PlanNode root;
  std::vector<FuzzyGroup> fuzzyGroups;  // only in an expanded plan
};

[[nodiscard]] inline bool is_expandable(const PlanNode& node) noexcept { return node.kind == NodeKind::kFuzzy || node.kind == NodeKind::kWildcard; }

// Parses `u32 count`, then the filters: the encoding that plans and aggregations share.
[[nodiscard]] Status parse_filters(ByteReader& reader, std::vector<MetaFilter>& filters);

[[nodiscard]] Result<SearchPlan> parse_search_plan(Bytes bytes);

}  // namespace mds
