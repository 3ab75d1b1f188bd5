// See model.h.
#include "support/model.h"

#include <algorithm>
#include <cmath>

namespace mds::test {
namespace {

constexpr double kSlope = 0.2;

double length_of(const Document& document, const std::string& field) {
  const auto found = document.fields.find(field);
  if (found == document.fields.end()) return 0;
  size_t length = 0;
  for (const auto& [term, positions] : found->second) length += positions.size();
  return static_cast<double>(length);
}

const std::vector<uint32_t>* positions_of(const Document& document, const std::string& field, const std::string& term) {
  const auto found = document.fields.find(field);
  if (found == document.fields.end()) return nullptr;
  const auto at = found->second.find(term);
  return at == found->second.end() ? nullptr : &at->second;
}

// Positions of a term of the plan in one of its fields. Also null if the plan does not search the field.
const std::vector<uint32_t>* places_of(const Plan& plan, const Document& document, size_t field, uint32_t term) {
  return plan.looks_in(term, field) ? positions_of(document, plan.fields[field].first, plan.terms[term].first) : nullptr;
}

double phrase_occurrences(const Plan& plan, const Tree& node, const Document& document, size_t field) {
  const std::vector<uint32_t>* first = places_of(plan, document, field, node.phrase[0].first);
  if (first == nullptr) return 0;
  double occurrences = 0;
  for (const uint32_t position : *first) {
    const int64_t start = int64_t{position} - node.phrase[0].second;
    bool isWhole = true;
    for (const auto& [term, offset] : node.phrase) {
      const std::vector<uint32_t>* positions = places_of(plan, document, field, term);
      const int64_t wanted = start + offset;
      isWhole = isWhole && positions != nullptr && wanted >= 0 && std::count(positions->begin(), positions->end(), static_cast<uint32_t>(wanted)) > 0;
    }
    if (isWhole) ++occurrences;
  }
  return occurrences;
}

double idf_of(const Plan& plan, double documents, double df) {
  if (df == 0) return 0;
  return plan.algorithm == 0 ? std::log(1 + documents / df) : std::log((documents - df + 0.5) / (df + 0.5) + 1);
}

// The smallest distance between an occurrence of the first term and one of the last, with the others between
// them. Negative if there is none.
double proximity_span(const Plan& plan, const Tree& node, const Document& document, size_t field) {
  std::vector<std::vector<uint32_t>> lists;
  for (const auto& [term, offset] : node.phrase) {
    const std::vector<uint32_t>* positions = places_of(plan, document, field, term);
    if (positions == nullptr) return -1;
    lists.push_back(*positions);
  }
  const bool isSame = plan.terms[node.phrase.front().first].first == plan.terms[node.phrase.back().first].first;
  double best = -1;
  for (const uint32_t first : lists.front()) {
    for (const uint32_t last : lists.back()) {
      const uint32_t low = std::min(first, last);
      const uint32_t high = std::max(first, last);
      bool isWhole = high - low <= node.distance && !(isSame && low == high);
      for (size_t middle = 1; middle + 1 < lists.size(); ++middle) {
        isWhole = isWhole && std::any_of(lists[middle].begin(), lists[middle].end(), [&](uint32_t at) { return at >= low && at <= high; });
      }
      if (isWhole && (best < 0 || high - low < best)) best = high - low;
    }
  }
  return best;
}

}  // namespace

uint32_t edit_distance(const std::u32string& a, const std::u32string& b) {
  std::vector<std::vector<uint32_t>> cost(a.size() + 1, std::vector<uint32_t>(b.size() + 1));
  for (uint32_t i = 0; i <= a.size(); ++i) {
    for (uint32_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

bool wildcard_matches(const std::u32string& pattern, const std::u32string& text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == U'*') return wildcard_matches(pattern.substr(1), text) || (!text.empty() && wildcard_matches(pattern, text.substr(1)));
  return !text.empty() && (pattern[0] == U'?' || pattern[0] == text[0]) && wildcard_matches(pattern.substr(1), text.substr(1));
}

std::u32string code_points(const std::string& utf8) {
  std::u32string out;
  for (const char character : utf8) {
    const auto byte = static_cast<uint8_t>(character);
    if ((byte & 0xC0) == 0x80) {
      out.back() = out.back() << 6 | (byte & 0x3FU);
    } else {
      out.push_back(byte < 0x80 ? byte : byte < 0xE0 ? byte & 0x1FU : byte < 0xF0 ? byte & 0x0FU : byte & 0x07U);
    }
  }
  return out;
}

struct Model::Statistics {
  double documents = 0;
  std::map<std::string, std::map<std::string, double>> dfs;  // term, scored field
  std::map<std::string, double> averageLengths;
  std::vector<double> idfs;

  // `tfs` and lengths are per field of the plan. A tf of 0 means that the field does not match.
  [[nodiscard]] double score(const Plan& plan, const Document& document, const std::vector<double>& tfs, double idf, double weight) const {
    if (plan.algorithm == 2) {
      double sum = 0;
      for (size_t field = 0; field < tfs.size(); ++field) {
        const auto& [name, fieldWeight] = plan.fields[field];
        if (tfs[field] > 0) sum += double{fieldWeight} * tfs[field] / (1 - plan.b + plan.b * length_of(document, name) / averageLengths.at(name));
      }
      return sum > 0 ? weight * idf * sum / (plan.k1 + sum) : 0;
    }
    const auto field = static_cast<size_t>(std::find_if(tfs.begin(), tfs.end(), [](double tf) { return tf > 0; }) - tfs.begin());
    const std::string& name = plan.fields[field].first;
    const double ratio = length_of(document, name) / averageLengths.at(name);
    if (plan.algorithm == 0) return weight * (1 + std::log(tfs[field])) * idf / (1 - kSlope + kSlope * ratio);
    return weight * idf * tfs[field] * (double{plan.k1} + 1) / (tfs[field] + plan.k1 * (1 - plan.b + plan.b * ratio));
  }
};

void Model::upsert(const Document& document, bool replacesEqualLsn) {
  if (dropped_.contains(document.collection)) return;
  const auto found = documents_.find({document.collection, document.docid});
  if (found == documents_.end() || document.lsn > found->second.lsn || (replacesEqualLsn && document.lsn == found->second.lsn)) {
    documents_[{document.collection, document.docid}] = document;
  }
}

void Model::remove(uint32_t collection, uint32_t docid, uint64_t lsn) {
  const auto found = documents_.find({collection, docid});
  if (found != documents_.end() && lsn > found->second.lsn) documents_.erase(found);
}

void Model::drop(uint32_t collection) {
  dropped_.insert(collection);
  std::erase_if(documents_, [collection](const auto& entry) { return entry.first.first == collection; });
}

size_t Model::count(uint32_t collection) const {
  return static_cast<size_t>(std::count_if(documents_.begin(), documents_.end(), [collection](const auto& entry) { return entry.first.first == collection; }));
}

Model::Statistics Model::statistics(const Plan& plan) const {
  Statistics statistics;
  std::map<std::string, std::pair<double, double>> totals;  // number of documents with the field, number of tokens
  std::vector<std::vector<double>> dfs(plan.terms.size(), std::vector<double>(plan.fields.size()));
  for (const auto& [id, document] : documents_) {
    if (id.first != plan.collection) continue;
    ++statistics.documents;
    for (size_t field = 0; field < plan.fields.size(); ++field) {
      const std::string& name = plan.fields[field].first;
      const double length = length_of(document, name);
      if (length > 0) totals[name].first += 1;
      totals[name].second += length;
      for (uint32_t term = 0; term < plan.terms.size(); ++term) dfs[term][field] += places_of(plan, document, field, term) != nullptr ? 1 : 0;
    }
  }
  for (const auto& [id, document] : documents_) {
    if (id.first != plan.collection) continue;
    for (const auto& [name, weight] : plan.fields) {
      const auto found = document.fields.find(name);
      if (found == document.fields.end()) continue;
      for (const auto& [term, positions] : found->second) ++statistics.dfs[term][name];
    }
  }
  for (const auto& [name, total] : totals) statistics.averageLengths[name] = total.first > 0 ? total.second / total.first : 1;
  const double n = statistics.documents;
  for (const auto& perField : dfs) {
    double df = 0;
    for (const double count : perField) df = std::max(df, count);
    statistics.idfs.push_back(idf_of(plan, n, df));
  }
  return statistics;
}

std::vector<Model::LeafTerm> Model::leaf_terms(const Plan& plan, const Tree& leaf, const Statistics& statistics) const {
  std::vector<LeafTerm> terms;
  const std::u32string wanted = code_points(plan.terms[leaf.term].first);
  for (const auto& [text, dfs] : statistics.dfs) {
    double df = 0;
    for (size_t field = 0; field < plan.fields.size(); ++field) {
      const auto found = dfs.find(plan.fields[field].first);
      if (plan.looks_in(leaf.term, field) && found != dfs.end()) df = std::max(df, found->second);
    }
    if (df == 0) continue;
    const std::u32string term = code_points(text);
    uint32_t edits = 0;
    if (leaf.kind == 8) {
      const size_t fixed = std::min<size_t>(leaf.prefix, wanted.size());
      if (term.substr(0, fixed) != wanted.substr(0, fixed)) continue;
      edits = edit_distance(term.substr(fixed), wanted.substr(fixed));
      if (edits > leaf.edits) continue;
    } else if (!wildcard_matches(wanted, term)) {
      continue;
    }
    terms.push_back({text, edits, idf_of(plan, statistics.documents, df)});
  }
  // No idf exceeds that of a closer term.
  for (LeafTerm& term : terms) {
    for (const LeafTerm& other : terms) {
      if (other.edits < term.edits) term.idf = std::min(term.idf, other.idf);
    }
  }
  return terms;
}

Model::NodeResult Model::evaluate_expanded(const Plan& plan, const Tree& leaf, const Document& document, const Statistics& statistics) const {
  NodeResult result{false, 0};
  for (const auto& [term, edits, idf] : leaf_terms(plan, leaf, statistics)) {
    std::vector<double> tfs;
    double sum = 0;
    for (size_t field = 0; field < plan.fields.size(); ++field) {
      const std::vector<uint32_t>* positions = plan.looks_in(leaf.term, field) ? positions_of(document, plan.fields[field].first, term) : nullptr;
      tfs.push_back(positions == nullptr ? 0 : static_cast<double>(positions->size()));
      sum += tfs.back();
    }
    if (sum == 0) continue;
    result.matches = true;
    result.score += statistics.score(plan, document, tfs, idf, double{plan.terms[leaf.term].second} * std::pow(0.8, edits));
  }
  return result;
}

void Model::add_expanded(const Plan& plan, const Tree& node, const Document& document, const Statistics& statistics, Hit& hit) const {
  if (node.kind == 8 || node.kind == 9) {
    for (const auto& [term, edits, idf] : leaf_terms(plan, node, statistics)) {
      for (size_t field = 0; field < plan.fields.size(); ++field) {
        if (plan.looks_in(node.term, field) && positions_of(document, plan.fields[field].first, term) != nullptr)
          hit.expanded.insert(std::to_string(node.term) + " " + std::to_string(edits) + " " + term);
      }
    }
  }
  for (const Tree& child : node.children) add_expanded(plan, child, document, statistics, hit);
}

Model::NodeResult Model::evaluate(const Plan& plan, const Tree& node, const Document& document, const Statistics& statistics) const {
  std::vector<double> tfs;
  double sum = 0;
  switch (node.kind) {
    case 1: {
      const float weight = plan.terms[node.term].second;
      for (size_t field = 0; field < plan.fields.size(); ++field) {
        const std::vector<uint32_t>* positions = places_of(plan, document, field, node.term);
        tfs.push_back(positions == nullptr ? 0 : static_cast<double>(positions->size()));
        sum += tfs.back();
      }
      if (sum == 0) return {false, 0};
      return {true, statistics.score(plan, document, tfs, statistics.idfs[node.term], double{weight})};
    }
    case 5: {
      double idf = 0;
      for (const auto& [term, offset] : node.phrase) idf += statistics.idfs[term];
      for (size_t field = 0; field < plan.fields.size(); ++field) {
        tfs.push_back(phrase_occurrences(plan, node, document, field));
        sum += tfs.back();
      }
      if (sum == 0) return {false, 0};
      return {true, node.scoring == 0 ? sum : statistics.score(plan, document, tfs, idf, 1)};
    }
    case 2:
    case 3: {
      size_t matching = 0;
      for (const Tree& child : node.children) {
        const NodeResult result = evaluate(plan, child, document, statistics);
        matching += result.matches ? 1 : 0;
        sum += result.matches ? result.score : 0;
      }
      return {node.kind == 2 ? matching == node.children.size() : matching > 0, sum};
    }
    case 4: {
      const NodeResult wanted = evaluate(plan, node.children[0], document, statistics);
      return {wanted.matches && !evaluate(plan, node.children[1], document, statistics).matches, wanted.score};
    }
    case 8:
    case 9:
      return evaluate_expanded(plan, node, document, statistics);
    case 10: {
      double span = -1;
      for (size_t field = 0; field < plan.fields.size(); ++field) {
        const double here = proximity_span(plan, node, document, field);
        if (here >= 0 && (span < 0 || here < span)) span = here;
      }
      return {span >= 0, std::max(0.1, (node.distance + 1.0 - span) / (node.distance + 1.0))};
    }
    default:
      return {node.kind == 6, 0};
  }
}

bool Model::passes(const Plan& plan, const Document& document) const {
  if (!std::all_of(plan.ranges.begin(), plan.ranges.end(), [&document](const Range& range) { return is_within(range, document); })) return false;
  return std::all_of(plan.filters.begin(), plan.filters.end(), [&](const auto& filter) {
    const std::string& key = filter.first;
    const std::optional<std::vector<std::string>>& values = filter.second;
    return std::any_of(document.meta.begin(), document.meta.end(),
                       [&](const auto& pair) { return pair.first == key && (!values || std::find(values->begin(), values->end(), pair.second) != values->end()); });
  });
}

std::map<uint32_t, Hit> Model::matches(const Plan& plan) const {
  const Statistics known = statistics(plan);
  std::map<uint32_t, Hit> hits;
  for (const auto& [id, document] : documents_) {
    if (id.first != plan.collection || !passes(plan, document)) continue;
    const NodeResult result = evaluate(plan, plan.root, document, known);
    if (!result.matches) continue;
    Hit hit{id.second, result.score, document.lsn, {}};
    for (const auto& [key, value, factor] : plan.boosts) hit.factor *= document.meta.contains({key, value}) ? factor : 1;
    hit.factor = std::max(0.001, hit.factor);
    hit.score *= hit.factor;
    for (uint32_t term = 0; term < plan.terms.size(); ++term) {
      for (size_t field = 0; field < plan.fields.size(); ++field) {
        if (places_of(plan, document, field, term) != nullptr) hit.matched.insert(term);
      }
    }
    add_expanded(plan, plan.root, document, known, hit);
    hits.emplace(id.second, hit);
  }
  return hits;
}

std::string Model::meta_keys(uint32_t collection) const {
  std::map<std::string, std::set<std::string>> values;
  for (const auto& [id, document] : documents_) {
    if (id.first != collection) continue;
    for (const auto& [key, value] : document.meta) values[key].insert(value);
  }
  std::string json;
  for (const auto& [key, keyValues] : values) {
    json += (json.empty() ? "\"" : ",\"") + key + "\":[";
    for (const std::string& value : keyValues) json += (value == *keyValues.begin() ? "\"" : ",\"") + value + "\"";
    json += "]";
  }
  return "{" + json + "}";
}

}  // namespace mds::test
