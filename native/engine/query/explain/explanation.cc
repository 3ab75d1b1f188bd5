// See explanation.h.
#include "query/explain/explanation.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "base/json_text.h"
#include "base/stop_signal.h"
#include "query/exhaustive/phrase_iterator.h"
#include "query/exhaustive/proximity_iterator.h"
#include "query/expansion/plan_expansion.h"
#include "query/plan/resolved_query.h"
#include "segment/postings/posting_cursor.h"

namespace mds {
namespace {

constexpr const char* kNoExplanation = "null";

// Steps per node: a leaf decodes one block in each field.
constexpr uint32_t kNodeSteps = 64;

struct Part {
  std::vector<std::string_view> terms;
  std::string_view field;
  uint32_t tf;
  double idf;
  double score;
};

class Explainer {
 public:
  Explainer(const ResolvedQuery& query, const ResolvedSegment& segment, uint32_t slot, StopSignal& stop) : query_(query), segment_(segment), slot_(slot), stop_(stop) {}

  // Returns whether the node matches. If it does, its parts are added.
  bool add(const PlanNode& node) {
    if (stop_.after(kNodeSteps)) return false;
    const size_t before = parts.size();
    const bool isMatch = add_node(node);
    if (!isMatch) parts.resize(before);
    return isMatch;
  }

  std::vector<Part> parts;

 private:
  bool add_node(const PlanNode& node) {
    switch (node.kind) {
      case NodeKind::kTerm:
        return add_term(node.term);
      case NodeKind::kAnd:
        return std::all_of(node.children.begin(), node.children.end(), [this](const PlanNode& child) { return add(child); });
      case NodeKind::kOr: {
        bool isAny = false;
        for (const PlanNode& child : node.children) isAny = add(child) || isAny;
        return isAny;
      }
      case NodeKind::kAndNot: {
        const size_t before = parts.size();
        const bool isExcluded = add(node.children[1]);
        parts.resize(before);
        return !isExcluded && add(node.children[0]);
      }
      case NodeKind::kPhrase:
        return add_occurrences(node, make_phrase_iterator(query_, segment_, node, stop_));
      case NodeKind::kProximity:
        return add_occurrences(node, make_proximity_iterator(query_, segment_, node, stop_));
      case NodeKind::kAll:
        return true;
      case NodeKind::kNone:
      case NodeKind::kFuzzy:  // expanded earlier
      case NodeKind::kWildcard:
        break;
    }
    return false;
  }

  bool add_term(uint32_t term) {
    const SearchPlan& plan = *query_.plan;
    const LeafScorer scorer(plan, query_.averageLengths, query_.idfs[term], plan.terms[term].weight);
    const size_t begin = parts.size();
    double tfSum = 0;
    for (size_t field = 0; field < plan.fields.size(); ++field) {
      const TermEntry* entry = query_.term_at(segment_, term, field);
      if (entry == nullptr) continue;
      PostingCursor cursor(*segment_.ref->segment, *segment_.fields[field], *entry);
      cursor.advance(slot_);
      if (cursor.doc() != slot_) continue;
      const uint32_t length = segment_.ref->segment->lengths(*segment_.fields[field]).at(slot_);
      const double score = plan.algorithm == Algorithm::kBm25f ? scorer.field_tf(field, cursor.tf(), length) : scorer.score(field, cursor.tf(), length);
      parts.push_back({{plan.terms[term].text}, plan.fields[field].name, cursor.tf(), query_.idfs[term], score});
      tfSum += score;
    }
    if (plan.algorithm == Algorithm::kBm25f && tfSum > 0) {
      const double whole = scorer.score_sum(tfSum);
      for (size_t at = begin; at < parts.size(); ++at) parts[at].score *= whole / tfSum;
    }
    return parts.size() > begin;
  }

  bool add_occurrences(const PlanNode& node, const DocIteratorPtr& occurrences) {
    if (occurrences->advance(slot_) != slot_) return false;
    Part part{{}, "", 0, 0, occurrences->score()};
    for (const PhraseTerm& term : node.phrase) {
      part.terms.push_back(query_.plan->terms[term.term].text);
      part.idf += query_.idfs[term.term];
    }
    parts.push_back(std::move(part));
    return true;
  }

  const ResolvedQuery& query_;
  const ResolvedSegment& segment_;
  uint32_t slot_;
  StopSignal& stop_;
};

void append_number(std::string& out, double value) {
  std::array<char, 32> text;
  const auto written = std::to_chars(text.data(), text.data() + text.size(), value);
  out.append(text.data(), written.ptr);
}

void append_part(std::string& out, const Part& part) {
  out += R"({"terms":)";
  char separator = '[';
  for (const std::string_view term : part.terms) {
    out += separator;
    append_json_string(out, term);
    separator = ',';
  }
  out += R"(],"field":)";
  append_json_string(out, part.field);
  out += R"(,"tf":)" + std::to_string(part.tf) + R"(,"idf":)";
  append_number(out, part.idf);
  out += R"(,"score":)";
  append_number(out, part.score);
  out += '}';
}

// Returns the product of the plan's boosts that apply to the document; at least kBoostFloor.
double factor_of(const SearchPlan& plan, const ResolvedSegment& segment, uint32_t slot) {
  const Segment& columns = *segment.ref->segment;
  double factor = 1;
  for (const Boost& boost : plan.boosts) {
    const SectionEntry* section = columns.find_section(*segment.collection, SectionKind::kMeta, boost.key);
    const std::optional<TermEntry> entry = section == nullptr ? std::nullopt : columns.find_entry(*section, boost.value);
    if (!entry) continue;
    PostingCursor cursor(columns, *section, *entry);
    cursor.advance(slot);
    if (cursor.doc() == slot) factor *= boost.factor;
  }
  return std::max(kBoostFloor, factor);
}

std::string explanation_of(const SegmentSet& set, const SearchPlan& plan, uint32_t docid, StopSignal& stop) {
  const ResolvedQuery query = resolve_query(set, plan);
  for (const ResolvedSegment& segment : query.segments) {
    const std::optional<uint32_t> slot = segment.ref->segment->find_docid(*segment.collection, docid);
    if (!slot || !segment.ref->alive(*slot)) continue;
    Explainer explainer(query, segment, *slot, stop);
    if (!explainer.add(plan.root) || stop.poll()) break;
    double sum = 0;
    std::string list;
    for (const Part& part : explainer.parts) {
      if (!list.empty()) list += ',';
      append_part(list, part);
      sum += part.score;
    }
    std::string json = R"({"score":)";
    const double factor = factor_of(plan, segment, *slot);
    append_number(json, sum * factor);
    json += R"(,"factor":)";
    append_number(json, factor);
    json += R"(,"parts":[)";
    json += list;
    json += "]}";
    return json;
  }
  return kNoExplanation;
}

}  // namespace

std::string explanation_json(const SegmentSet& set, const SearchPlan& plan, uint32_t docid, StopSignal stop) {
  if (!has_expandable(plan.root)) return explanation_of(set, plan, docid, stop);
  const ExpandedPlan expanded = expand_plan(set, plan, stop);
  return stop.stopped() ? kNoExplanation : explanation_of(set, expanded.plan, docid, stop);
}

}  // namespace mds
