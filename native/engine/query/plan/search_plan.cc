// See search_plan.h.
#include "query/plan/search_plan.h"

#include <bit>
#include <cmath>
#include <string>

#include "base/limits.h"

namespace mds {
namespace {

constexpr uint32_t kSearchPlanMagic = 0x3251534D;
constexpr uint32_t kFlagExactTotal = 1;
constexpr uint32_t kFlagRefined = 2;  // ranges and boosts follow the filters

Status malformed_plan(const char* what) { return Status::malformed(std::string("search plan: ") + what); }

bool is_weight(double value) noexcept { return std::isfinite(value) && value >= 0; }

Status parse_options(ByteReader& reader, SearchPlan& plan, bool& isRefined) {
  if (reader.u32() != kSearchPlanMagic) return malformed_plan("no header");
  plan.collection = reader.u32();
  const uint32_t algorithm = reader.u32();
  plan.k1 = reader.f32();
  plan.b = reader.f32();
  plan.k = reader.u32();
  plan.skip = reader.u32();
  const uint32_t sort = reader.u32();
  const uint32_t descending = reader.u32();
  const uint32_t flags = reader.u32();
  plan.pollWord = reader.u32();
  if (!reader.ok()) return malformed_plan("options cut short");
  if (algorithm > 2) return malformed_plan("unknown algorithm");
  if (sort > 4 || descending > 1) return malformed_plan("unknown order");
  if ((flags & ~(kFlagExactTotal | kFlagRefined)) != 0) return malformed_plan("unknown flags");
  if (!is_weight(plan.k1) || !is_weight(plan.b) || plan.b > 1) return malformed_plan("k1 or b out of range");
  plan.algorithm = static_cast<Algorithm>(algorithm);
  plan.sort = static_cast<SortField>(sort);
  plan.descending = descending != 0;
  plan.exactTotal = (flags & kFlagExactTotal) != 0;
  isRefined = (flags & kFlagRefined) != 0;
  return {};
}

Status parse_fields(ByteReader& reader, SearchPlan& plan) {
  const uint32_t fieldCount = reader.count(8);
  if (fieldCount > kPlanFieldsMax) return malformed_plan("too many fields");
  for (uint32_t index = 0; index < fieldCount; ++index) {
    const double weight = reader.f32();
    const uint32_t nameBytes = reader.u32();
    const std::string_view name = reader.padded(nameBytes);
    if (!is_weight(weight)) return malformed_plan("field weight out of range");
    for (const ScoredField& field : plan.fields) {
      if (field.name == name) return malformed_plan("a field occurs twice");
    }
    plan.fields.push_back({name, weight});
  }
  return {};
}

Status parse_bound(ByteReader& reader, RangeFilter& range) {
  const uint32_t kind = reader.u32();
  const uint32_t isText = reader.u32();
  const double scalar = reader.f64();
  const uint32_t textBytes = reader.u32();
  const std::string_view text = reader.padded(textBytes);
  if (kind > 3 || isText > 1 || std::isnan(scalar)) return malformed_plan("unknown bound");
  if (isText != 0 && range.field != RangeField::kMeta) return malformed_plan("a text bounds a time");
  range.bounds.push_back({static_cast<BoundKind>(kind), isText != 0, scalar, text});
  return {};
}

Status parse_ranges(ByteReader& reader, SearchPlan& plan) {
  const uint32_t rangeCount = reader.count(12);
  if (rangeCount > kPlanRangesMax) return malformed_plan("too many ranges");
  for (uint32_t index = 0; reader.ok() && index < rangeCount; ++index) {
    const uint32_t field = reader.u32();
    const uint32_t keyBytes = reader.u32();
    const std::string_view key = reader.padded(keyBytes);
    const uint32_t boundCount = reader.count(20);
    if (field > 2) return malformed_plan("unknown field of a range");
    if (boundCount > kRangeBoundsMax) return malformed_plan("too many bounds");
    RangeFilter range{static_cast<RangeField>(field), key, {}};
    for (uint32_t bound = 0; bound < boundCount; ++bound) {
      const Status status = parse_bound(reader, range);
      if (!status.ok()) return status;
    }
    plan.ranges.push_back(std::move(range));
  }
  return {};
}

Status parse_boosts(ByteReader& reader, SearchPlan& plan) {
  const uint32_t boostCount = reader.count(16);
  if (boostCount > kPlanBoostsMax) return malformed_plan("too many boosts");
  for (uint32_t index = 0; reader.ok() && index < boostCount; ++index) {
    const double factor = reader.f64();
    const uint32_t keyBytes = reader.u32();
    const std::string_view key = reader.padded(keyBytes);
    const uint32_t valueBytes = reader.u32();
    const std::string_view value = reader.padded(valueBytes);
    if (!(factor >= 1 / kBoostFactorMax && factor <= kBoostFactorMax)) return malformed_plan("boost out of range");
    plan.boosts.push_back({key, value, factor});
  }
  return {};
}

Status parse_terms(ByteReader& reader, SearchPlan& plan) {
  const uint32_t termCount = reader.count(16);
  if (termCount > kPlanLeavesMax) return malformed_plan("too many terms");
  for (uint32_t index = 0; reader.ok() && index < termCount; ++index) {
    const double weight = reader.f32();
    const uint64_t low = reader.u32();
    const uint64_t fields = low | uint64_t{reader.u32()} << 32;
    const uint32_t termBytes = reader.u32();
    const std::string_view text = reader.padded(termBytes);
    if (!is_weight(weight)) return malformed_plan("term weight out of range");
    if (std::bit_width(fields) > plan.fields.size()) return malformed_plan("term in an unknown field");
    if (plan.algorithm != Algorithm::kBm25f && std::popcount(fields) > 1) return malformed_plan("tfidf and bm25 score a term in one field");
    plan.terms.push_back({text, weight, fields, nullptr});
  }
  return {};
}

class TreeParser {
 public:
  TreeParser(ByteReader& reader, uint32_t termCount) : reader_(reader), termCount_(termCount) {}

  Status parse(PlanNode& node, uint32_t depth) {
    if (depth > kPlanDepthMax) return malformed_plan("tree too deep");
    if (++nodes_ > kPlanNodesMax) return malformed_plan("too many nodes");
    const uint32_t kind = reader_.u32();
    if (!reader_.ok() || kind < 1 || kind > 10) return malformed_plan("unknown node");
    node.kind = static_cast<NodeKind>(kind);
    switch (node.kind) {
      case NodeKind::kTerm:
        return parse_term(node.term);
      case NodeKind::kAnd:
      case NodeKind::kOr:
        return parse_children(node, reader_.count(4), depth);
      case NodeKind::kAndNot:
        return parse_children(node, 2, depth);
      case NodeKind::kPhrase:
        return parse_phrase(node);
      case NodeKind::kFuzzy:
        return parse_fuzzy(node);
      case NodeKind::kWildcard:
        return parse_term(node.term);
      case NodeKind::kProximity:
        return parse_proximity(node);
      case NodeKind::kAll:
      case NodeKind::kNone:
        return {};
    }
    return malformed_plan("unknown node");
  }

  // Number of leaves and terms of phrases: each opens a cursor per scored field. The terms of FUZZY and
  // WILDCARD leaves have a separate bound.
  [[nodiscard]] uint32_t cursors() const noexcept { return leaves_ + phraseTerms_; }

 private:
  Status parse_term(uint32_t& term) {
    if (++leaves_ > kPlanLeavesMax) return malformed_plan("too many leaves");
    term = reader_.u32();
    return reader_.ok() && term < termCount_ ? Status() : malformed_plan("term index out of range");
  }

  Status parse_fuzzy(PlanNode& node) {
    const Status status = parse_term(node.term);
    if (!status.ok()) return status;
    node.edits = reader_.u32();
    node.prefix = reader_.u32();
    return reader_.ok() && node.edits <= kFuzzyEditsMax ? Status() : malformed_plan("too many edits");
  }

  Status parse_proximity(PlanNode& node) {
    if (++leaves_ > kPlanLeavesMax) return malformed_plan("too many leaves");
    node.distance = reader_.u32();
    const uint32_t count = reader_.count(4);
    if (!reader_.ok() || count < 2) return malformed_plan("proximity of less than two terms");
    phraseTerms_ += count;
    if (count > kPlanPhraseTermsMax || phraseTerms_ > kPlanPhraseTermsMax) return malformed_plan("too many phrase terms");
    for (uint32_t index = 0; index < count; ++index) {
      const uint32_t term = reader_.u32();
      if (term >= termCount_) return malformed_plan("term index out of range");
      node.phrase.push_back({term, 0});
    }
    return {};
  }

  Status parse_children(PlanNode& node, uint32_t count, uint32_t depth) {
    if (count == 0) return malformed_plan("node without children");
    if (count > kPlanNodesMax) return malformed_plan("too many nodes");
    node.children.resize(count);
    for (PlanNode& child : node.children) {
      const Status status = parse(child, depth + 1);
      if (!status.ok()) return status;
    }
    return {};
  }

  Status parse_phrase(PlanNode& node) {
    if (++leaves_ > kPlanLeavesMax) return malformed_plan("too many leaves");
    const uint32_t scoring = reader_.u32();
    const uint32_t count = reader_.count(8);
    if (!reader_.ok() || scoring > 1 || count == 0) return malformed_plan("phrase without terms or of unknown scoring");
    phraseTerms_ += count;
    if (count > kPlanPhraseTermsMax || phraseTerms_ > kPlanPhraseTermsMax) return malformed_plan("too many phrase terms");
    node.scoring = static_cast<PhraseScoring>(scoring);
    for (uint32_t index = 0; index < count; ++index) {
      const uint32_t term = reader_.u32();
      const uint32_t offset = reader_.u32();
      if (term >= termCount_) return malformed_plan("term index out of range");
      node.phrase.push_back({term, offset});
    }
    return {};
  }

  ByteReader& reader_;
  uint32_t termCount_;
  uint32_t nodes_ = 0;
  uint32_t leaves_ = 0;
  uint32_t phraseTerms_ = 0;
};

Status parse_refinement(ByteReader& reader, SearchPlan& plan) {
  const Status status = parse_ranges(reader, plan);
  return status.ok() ? parse_boosts(reader, plan) : status;
}

}  // namespace

Status parse_filters(ByteReader& reader, std::vector<MetaFilter>& filters) {
  const uint32_t filterCount = reader.count(8);
  if (filterCount > kPlanFiltersMax) return malformed_plan("too many filters");
  uint32_t valuesLeft = kPlanFilterValuesMax;
  for (uint32_t index = 0; reader.ok() && index < filterCount; ++index) {
    const uint32_t keyBytes = reader.u32();
    MetaFilter filter{reader.padded(keyBytes), false, {}};
    const uint32_t written = reader.u32();
    filter.anyValue = written == kPlanAnyValue;
    const uint32_t valueCount = filter.anyValue ? 0 : reader.checked_count(written, 4);
    if (valueCount > valuesLeft) return malformed_plan("too many filter values");
    valuesLeft -= valueCount;
    for (uint32_t value = 0; reader.ok() && value < valueCount; ++value) {
      const uint32_t valueBytes = reader.u32();
      filter.values.push_back(reader.padded(valueBytes));
    }
    filters.push_back(std::move(filter));
  }
  return {};
}

Result<SearchPlan> parse_search_plan(Bytes bytes) {
  if (bytes.size() > kPlanBytesMax) return Status::too_large("search plan: " + std::to_string(bytes.size()) + " bytes");
  ByteReader reader(bytes);
  SearchPlan plan{};
  bool isRefined = false;
  Status status = parse_options(reader, plan, isRefined);
  if (status.ok()) status = parse_fields(reader, plan);
  if (status.ok()) status = parse_filters(reader, plan.filters);
  if (status.ok() && isRefined) status = parse_refinement(reader, plan);
  if (status.ok()) status = parse_terms(reader, plan);
  if (!status.ok()) return status;
  if (!reader.ok()) return malformed_plan("cut short");
  TreeParser tree(reader, static_cast<uint32_t>(plan.terms.size()));
  status = tree.parse(plan.root, 1);
  if (!status.ok()) return status;
  if (!reader.ok() || reader.remaining() != 0) return malformed_plan("length does not match its contents");
  if (uint64_t{tree.cursors()} * plan.fields.size() > kPlanCursorsMax) return malformed_plan("too many terms for so many fields");
  return plan;
}

}  // namespace mds
