// See segment_boosts.h. Each boost in turn splits the documents into those that have the value and those that
// do not. If that makes too many sets, sets with neighbouring factors are merged.
#include "query/filter/segment_boosts.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"

namespace mds {
namespace {

struct BoostClass {
  SlotBits documents;
  double most;  // maximum factor of its documents
};

void merge_into(BoostClass& into, const BoostClass& from) {
  into.documents.add(from.documents);
  into.most = std::max(into.most, from.most);
}

// Merges the two neighbours with the smallest ratio of factors, until at most `most` classes remain and no
// two have equal factors. Leaves the classes in descending order of factor.
void merge_nearest(std::vector<BoostClass>& classes, size_t most) {
  std::sort(classes.begin(), classes.end(), [](const BoostClass& a, const BoostClass& b) { return a.most > b.most; });
  while (classes.size() > 1) {
    size_t nearest = 0;
    for (size_t at = 1; at + 1 < classes.size(); ++at) {
      if (classes[at].most / classes[at + 1].most < classes[nearest].most / classes[nearest + 1].most) nearest = at;
    }
    if (classes.size() <= most && classes[nearest].most != classes[nearest + 1].most) return;
    merge_into(classes[nearest], classes[nearest + 1]);
    classes.erase(classes.begin() + static_cast<ptrdiff_t>(nearest) + 1);
  }
}

}  // namespace

SegmentBoosts::SegmentBoosts(const ResolvedSegment& segment, const std::vector<Boost>& boosts, StopSignal& stop) {
  const Segment& columns = *segment.ref->segment;
  for (const Boost& boost : boosts) {
    const SectionEntry* section = columns.find_section(*segment.collection, SectionKind::kMeta, boost.key);
    const std::optional<uint32_t> term = section == nullptr ? std::nullopt : columns.find_term(*section, boost.value);
    if (!term) continue;
    SlotBits documents(*segment.collection);
    add_value(columns, *section, *term, columns.term_entry(*term), documents, stop);
    boosted_.push_back({std::move(documents), boost.factor});
  }
  if (!boosted_.empty()) make_passes(*segment.collection);
}

void SegmentBoosts::make_passes(const CollectionEntry& collection) {
  std::vector<BoostClass> classes;
  classes.push_back({SlotBits(collection), 1});
  classes[0].documents.fill();
  for (const Boosted& boosted : boosted_) {
    for (size_t at = 0, count = classes.size(); at < count; ++at) {
      BoostClass having = classes[at];
      having.documents.keep(boosted.documents.words());
      if (having.documents.is_empty()) continue;
      having.most *= boosted.factor;
      classes[at].documents.remove(boosted.documents);
      classes.push_back(std::move(having));
    }
    std::erase_if(classes, [](const BoostClass& each) { return each.documents.is_empty(); });
    if (classes.size() > kBoostClassesMax) merge_nearest(classes, kBoostClassesMax);
  }
  for (BoostClass& each : classes) each.most = std::max(kBoostFloor, each.most);
  // Documents whose factor is at most 1 score no higher than without boosts. One pass covers all of them.
  const auto raisedEnd = std::partition(classes.begin(), classes.end(), [](const BoostClass& each) { return each.most > 1; });
  for (auto each = raisedEnd; each != classes.end(); ++each) {
    if (each != raisedEnd) merge_into(*raisedEnd, *each);
  }
  if (raisedEnd != classes.end()) classes.erase(raisedEnd + 1, classes.end());
  merge_nearest(classes, kBoostPassesMax);
  for (BoostClass& each : classes) passes_.push_back({std::move(each.documents), each.most});
  if (passes_.size() == 1) passes_[0].documents.reset();
}

double SegmentBoosts::factor(uint32_t slot) const noexcept {
  double factor = 1;
  for (const Boosted& boosted : boosted_) {
    if (boosted.documents.test(slot)) factor *= boosted.factor;
  }
  return std::max(kBoostFloor, factor);
}

}  // namespace mds
