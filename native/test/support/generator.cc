// See model.h: random documents and plans.
#include <algorithm>

#include "support/model.h"

namespace mds::test {

std::string Generator::word() {
  // A skewed choice from 60 words. Some share their first bytes beyond the 8 bytes that are compared first.
  const uint32_t rank = std::min(below(60), below(60));
  return rank % 3 == 0 ? "sharedprefix" + std::to_string(rank) : "w" + std::to_string(rank);
}

std::string Generator::pattern() {
  std::string text = word();
  for (uint32_t count = 1 + below(3); count > 0; --count) {
    const uint32_t at = below(static_cast<uint32_t>(text.size()));
    if (below(2) == 0) text.erase(at, 1 + below(4));
    text.insert(std::min<size_t>(at, text.size()), below(3) == 0 ? "?" : "*");
  }
  return text;
}

FieldText Generator::text(uint32_t lengthMax) {
  FieldText words;
  uint32_t position = 0;
  for (uint32_t left = 1 + below(lengthMax); left > 0; --left) {
    words[word()].push_back(position);
    position += 1 + (below(5) == 0 ? below(3) : 0);  // gaps from stop words
  }
  return words;
}

Document Generator::document(uint32_t collection, uint32_t docid, uint64_t lsn) {
  Document document;
  document.collection = collection;
  document.docid = docid;
  document.lsn = lsn;
  document.addedAt = below(50) - int64_t{20};
  document.updatedAt = below(1000000);
  document.key = "key" + std::to_string(below(40)) + (below(2) == 0 ? "-with-a-long-tail" : "");
  document.lang = below(2) == 0 ? "en" : "pl";
  for (uint32_t count = below(4); count > 0; --count) document.meta.emplace("m" + std::to_string(below(4)), "v" + std::to_string(below(30)));
  if (below(2) == 0) document.meta.emplace("price", std::to_string(below(2) == 0 ? below(8) : below(3000)) + (below(4) == 0 ? ".50" : ""));
  if (below(10) > 0) document.fields["content"] = text(40);
  if (below(3) == 0) document.fields["meta.title"] = text(5);
  if (below(20) == 0) document.fields["meta.rare"] = text(3);
  return document;
}

Tree Generator::tree(uint32_t depth, uint32_t termCount) {
  Tree node;
  const uint32_t kinds[] = {1, 1, 1, 5, 8, 9, 10, 2, 3, 4, 6, 7};
  node.kind = kinds[below(depth == 0 ? 7 : 12)];
  node.term = below(termCount);
  node.scoring = below(2);
  if (node.kind == 5) {
    uint32_t offset = below(2);
    for (uint32_t count = 1 + below(3); count > 0; --count, offset += 1 + below(2)) node.phrase.emplace_back(below(termCount), offset);
  }
  if (node.kind == 8) {
    node.edits = below(3);
    node.prefix = below(3);
  }
  if (node.kind == 10) {
    node.distance = below(3) == 0 ? 1000 : below(12);
    for (uint32_t count = 2 + below(2); count > 0; --count) node.phrase.emplace_back(below(termCount), 0);
  }
  if (node.kind == 2 || node.kind == 3 || node.kind == 4) {
    for (uint32_t count = node.kind == 4 ? 2 : 1 + below(3); count > 0; --count) node.children.push_back(tree(depth - 1, termCount));
  }
  return node;
}

void Generator::look_in_fields(Plan& plan) {
  if (plan.algorithm != 2) plan.fields = {{"content", 1.0F}, {"meta.title", 1.0F}, {"meta.absent", 1.0F}};
  const auto fieldCount = static_cast<uint32_t>(plan.fields.size());
  // Usually one field for all terms, so that phrases match.
  const uint32_t usual = below(2);
  plan.termFields.clear();
  for (size_t term = 0; term < plan.terms.size(); ++term) {
    const uint64_t one = uint64_t{1} << (below(4) > 0 ? usual : below(fieldCount));
    plan.termFields.push_back(plan.algorithm == 2 && below(2) == 0 ? 1 + below((1U << fieldCount) - 1) : one);
  }
}

Plan Generator::plan(uint32_t collection) {
  Plan plan;
  plan.collection = collection;
  plan.algorithm = below(3);
  plan.k = 100000;
  if (plan.algorithm == 2) plan.fields = {{"content", 1.0F}, {"meta.title", 3.0F}, {"meta.rare", 0.5F}, {"meta.absent", 1.0F}};
  for (uint32_t count = below(3); count > 0 && below(2) == 0; --count) {
    std::vector<std::string> values;
    for (uint32_t value = below(3) == 0 ? below(25) : below(3); value > 0; --value) values.push_back("v" + std::to_string(below(30)));
    const bool anyValue = values.empty() && below(2) == 0;
    plan.filters.emplace_back("m" + std::to_string(below(5)), anyValue ? std::nullopt : std::optional(values));
  }
  const uint32_t termCount = 1 + below(6);
  for (uint32_t term = 0; term < termCount; ++term)
    plan.terms.emplace_back(below(20) == 0 ? "absent" : below(4) == 0 ? pattern() : word(), static_cast<float>(1 + below(2)));
  if (below(4) == 0) look_in_fields(plan);
  if (below(2) == 0) {
    plan.root.kind = 3;
    for (uint32_t term = 0; term < termCount; ++term) plan.root.children.push_back({1, term, 0, {}, {}});
  } else {
    plan.root = tree(3, termCount);
  }
  if (below(3) == 0) refine(plan);
  return plan;
}

}  // namespace mds::test
