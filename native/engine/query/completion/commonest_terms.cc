// See commonest_terms.h.
#include "query/completion/commonest_terms.h"

#include <algorithm>
#include <utility>

namespace mds {

bool is_commoner(const CommonTerm& a, const CommonTerm& b) noexcept {
  if (a.df != b.df) return a.df > b.df;
  return a.text != b.text ? a.text < b.text : a.group < b.group;
}

void BestCommonTerms::add(const CommonTerm& term) {
  if (most_ == 0 || (is_full() && !is_commoner(term, rarest()))) return;
  if (is_full()) {
    std::pop_heap(terms_.begin(), terms_.end(), is_commoner);
    terms_.pop_back();
  }
  terms_.push_back(term);
  std::push_heap(terms_.begin(), terms_.end(), is_commoner);
}

std::vector<CommonTerm> BestCommonTerms::take() {
  std::sort_heap(terms_.begin(), terms_.end(), is_commoner);
  return std::move(terms_);
}

CommonestTerms::CommonestTerms(const std::vector<TermSource>& sources, std::string_view prefix) {
  for (const TermSource& source : sources) {
    CommonTerms terms(*source.segment, *source.section, prefix);
    if (terms.size() == 0) continue;
    size_ += terms.size();
    auto group = std::find_if(groups_.begin(), groups_.end(), [&source](const Group& each) { return each.number == source.group; });
    if (group == groups_.end()) group = groups_.insert(groups_.end(), {source.group});
    group->lists.push_back(std::move(terms));
  }
}

bool CommonestTerms::walk(size_t most, uint32_t& steps, std::vector<CommonTerm>& best) const {
  BestCommonTerms found(most);
  for (const Group& group : groups_) {
    std::vector<CommonTerm> terms;
    for (const CommonTerms& list : group.lists) list.each(steps, [&](std::string_view text, uint32_t df) { terms.push_back({std::string(text), group.number, df}); });
    if (group.lists.size() > 1) std::sort(terms.begin(), terms.end(), [](const CommonTerm& a, const CommonTerm& b) { return a.text < b.text; });
    for (size_t at = 0; at < terms.size(); ++at) {
      CommonTerm& term = terms[at];
      for (; at + 1 < terms.size() && terms[at + 1].text == term.text; ++at) term.df += terms[at + 1].df;
      found.add(term);
    }
  }
  if (steps == 0) return false;
  best = found.take();
  return true;
}

void CommonestTerms::set_bounds(Group& group) {
  group.dfMax = 0;
  group.textMin.clear();
  for (CommonTerms& list : group.lists) {
    if (list.is_at_end()) continue;
    group.dfMax += list.df();
    // A list returns terms of equal df in byte order. In each list, a term whose df is the sum of all bounds
    // is therefore the next term or a later one.
    group.textMin = std::max(group.textMin, list.text());
  }
}

bool CommonestTerms::can_have(const Group& group, const BestCommonTerms& best) noexcept {
  if (group.dfMax == 0) return false;
  if (!best.is_full()) return true;
  const CommonTerm& rarest = best.rarest();
  if (group.dfMax != rarest.df) return group.dfMax > rarest.df;
  return group.textMin != rarest.text ? group.textMin < rarest.text : group.number < rarest.group;
}

void CommonestTerms::advance(Group& group, BestCommonTerms& best, uint32_t& steps) {
  // Chooses the list with the highest bound; of several, the one with the fewest terms left.
  const auto next = std::max_element(group.lists.begin(), group.lists.end(), [](const CommonTerms& a, const CommonTerms& b) {
    if (a.is_at_end() || b.is_at_end()) return a.is_at_end() && !b.is_at_end();
    return a.df() != b.df() ? a.df() < b.df() : a.left() > b.left();
  });
  const std::string text = next->text();
  const auto found = std::lower_bound(group.seen.begin(), group.seen.end(), text);
  if (found == group.seen.end() || *found != text) {
    group.seen.insert(found, text);
    uint64_t df = 0;
    for (const CommonTerms& list : group.lists) df += &list == &*next ? list.df() : list.df_of(text, steps);
    best.add({text, group.number, df});
  }
  next->next(steps);
  set_bounds(group);
}

bool CommonestTerms::find(size_t most, uint32_t& steps, std::vector<CommonTerm>& best) {
  BestCommonTerms found(most);
  for (Group& group : groups_) {
    for (CommonTerms& list : group.lists) list.begin(steps);
    set_bounds(group);
  }
  bool isSure = most == 0;
  while (!isSure && steps > 0) {
    Group* next = nullptr;
    for (Group& group : groups_) {
      if (can_have(group, found) && (next == nullptr || group.dfMax > next->dfMax)) next = &group;
    }
    if (next != nullptr) advance(*next, found, steps);
    isSure = next == nullptr && steps > 0;
  }
  best = found.take();
  return isSure;
}

}  // namespace mds
