// See search.h.
#include "query/search.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "base/hits_record.h"
#include "query/exhaustive/segment_search.h"
#include "query/expansion/plan_expansion.h"
#include "query/filter/segment_refinement.h"
#include "query/listing/sorted_page.h"
#include "query/page/top_k.h"
#include "query/plan/resolved_query.h"
#include "query/pruned/pruned_plan.h"
#include "query/pruned/pruned_search.h"
#include "segment/postings/posting_cursor.h"

namespace mds {
namespace {

constexpr size_t kExpansionBytes = 12;
constexpr uint32_t kStatusStopped = 1;
constexpr uint32_t kStatusCut = 2;
constexpr uint32_t kStatusBoosted = 4;  // the boost factors of the hits follow the expansions

struct HitsLayout {
  uint32_t maskWords;
  size_t hitBytes;

  explicit HitsLayout(size_t terms) noexcept : maskWords(static_cast<uint32_t>((terms + 31) / 32)), hitBytes(hit_stride(maskWords)) {}
};

template <class T>
void store(uint8_t* at, T value) noexcept {
  std::memcpy(at, &value, sizeof value);
}

uint32_t clamp32(uint64_t value) noexcept { return static_cast<uint32_t>(std::min<uint64_t>(value, std::numeric_limits<uint32_t>::max())); }

// Sets the bits of the terms that occur in the hits. Hits of one segment are visited by slot, so that each
// cursor moves forward only.
void fill_masks(const ResolvedQuery& query, const std::vector<Candidate>& hits, const HitsLayout& layout, uint8_t* firstHit) {
  std::vector<uint32_t> order(hits.size());
  for (uint32_t index = 0; index < order.size(); ++index) order[index] = index;
  std::sort(order.begin(), order.end(),
            [&hits](uint32_t a, uint32_t b) { return hits[a].segment != hits[b].segment ? hits[a].segment < hits[b].segment : hits[a].slot < hits[b].slot; });
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    const ResolvedSegment& segment = query.segments[hits[order[begin]].segment];
    while (end < order.size() && hits[order[end]].segment == hits[order[begin]].segment) ++end;
    for (uint32_t at = 0; at < segment.terms.size(); ++at) {
      if (segment.terms[at].df == 0) continue;
      const auto term = static_cast<uint32_t>(at / segment.fields.size());
      PostingCursor cursor(*segment.ref->segment, *segment.fields[at % segment.fields.size()], segment.terms[at]);
      for (size_t index = begin; index < end && cursor.doc() != kEndOfList; ++index) {
        const uint32_t slot = hits[order[index]].slot;
        cursor.advance(slot);
        if (cursor.doc() != slot) continue;
        uint8_t* word = firstHit + order[index] * layout.hitBytes + kHitBytes + size_t{term / 32} * 4;
        store(word, load_u32(word) | uint32_t{1} << (term % 32));
      }
    }
  }
}

// Orders the segments by size, largest first. The largest usually contains most of the best matches: its
// threshold lets pruned search skip most of the other segments.
std::vector<uint32_t> largest_first(const ResolvedQuery& query) {
  std::vector<uint32_t> order(query.segments.size());
  for (uint32_t index = 0; index < order.size(); ++index) order[index] = index;
  const auto slots = [&query](uint32_t index) { return query.segments[index].collection->slotEnd - query.segments[index].collection->slotBegin; };
  std::stable_sort(order.begin(), order.end(), [&slots](uint32_t a, uint32_t b) { return slots(a) > slots(b); });
  return order;
}

// One entry per segment; empty for a segment that was not searched.
using Refinements = std::vector<std::optional<SegmentRefinement>>;

Page ranked_page(const ResolvedQuery& query, const SearchPlan& plan, Refinements& refinements, StopSignal& stop) {
  const std::optional<PrunedPlan> pruned = make_pruned_plan(plan);
  TopK top(query);
  // poll() before each segment: a deadline that has already passed is noticed before any work.
  for (const uint32_t index : largest_first(query)) {
    if (stop.poll()) break;
    if (query.segments[index].ref->live_in(*query.segments[index].collection) == 0) continue;
    const SegmentRefinement& refinement = refinements[index].emplace(query, query.segments[index], stop);
    if (refinement.ranged.isNothing) continue;
    if (!pruned || !search_segment_pruned(query, *pruned, index, refinement, top, stop)) search_segment(query, index, refinement, top, stop);
  }
  const uint64_t total = top.total();
  return {total, top.take_page()};
}

// Appends the terms that the plan's leaves expand to: u32 count, then per term u32 leaf, u32 edits, u32
// bytes, and the padded text.
void append_expansions(const std::vector<Expansion>& expansions, std::vector<uint8_t>& record) {
  size_t at = record.size();
  size_t size = at + 4;
  for (const Expansion& expansion : expansions) size += kExpansionBytes + static_cast<size_t>(pad4(expansion.text->size()));
  record.resize(size);
  store(record.data() + at, clamp32(expansions.size()));
  at += 4;
  for (const Expansion& expansion : expansions) {
    store(record.data() + at, expansion.leaf);
    store(record.data() + at + 4, expansion.edits);
    store(record.data() + at + 8, clamp32(expansion.text->size()));
    std::memcpy(record.data() + at + kExpansionBytes, expansion.text->data(), expansion.text->size());
    at += kExpansionBytes + static_cast<size_t>(pad4(expansion.text->size()));
  }
}

// Appends the boost factor of each hit as an f64.
void append_factors(const Refinements& refinements, const std::vector<Candidate>& hits, std::vector<uint8_t>& record) {
  size_t at = record.size();
  record.resize(at + hits.size() * sizeof(double));
  for (const Candidate& hit : hits) {
    const std::optional<SegmentRefinement>& refinement = refinements[hit.segment];
    store(record.data() + at, refinement ? refinement->boosts.factor(hit.slot) : 1.0);
    at += sizeof(double);
  }
}

std::vector<uint8_t> search_expanded(const SegmentSet& set, const SearchPlan& plan, const std::vector<Expansion>& expansions, ValueOrderCache* orders, StopSignal& stop,
                                     uint32_t status) {
  const ResolvedQuery query = resolve_query(set, plan, orders);
  Refinements refinements(query.segments.size());
  const auto [total, hits] = is_listing(plan) ? sorted_page(query, stop) : ranked_page(query, plan, refinements, stop);
  const bool isStopped = stop.poll();

  const HitsLayout layout(plan.terms.size());
  std::vector<uint8_t> record(kHitsHeaderBytes + hits.size() * layout.hitBytes);
  store(record.data(), kHitsMagic);
  store(record.data() + 4, clamp32(total));
  store(record.data() + 8, clamp32(hits.size()));
  store(record.data() + 12, layout.maskWords);
  store(record.data() + 16, set.lsnLast);
  store(record.data() + 24, clamp32(query.liveDocuments));
  store(record.data() + 28, status | (isStopped ? kStatusStopped : 0) | (plan.boosts.empty() ? 0 : kStatusBoosted));
  uint8_t* at = record.data() + kHitsHeaderBytes;
  for (const Candidate& hit : hits) {
    const Segment& segment = *query.segments[hit.segment].ref->segment;
    store(at, segment.docid(hit.slot));
    store(at + 8, hit.score);
    store(at + 16, segment.lsn(hit.slot));
    at += layout.hitBytes;
  }
  fill_masks(query, hits, layout, record.data() + kHitsHeaderBytes);
  append_expansions(expansions, record);
  if (!plan.boosts.empty()) append_factors(refinements, hits, record);
  return record;
}

}  // namespace

std::vector<uint8_t> run_search(const SegmentSet& set, const SearchPlan& plan, StopSignal stop, ValueOrderCache* orders) {
  if (!has_expandable(plan.root)) return search_expanded(set, plan, {}, orders, stop, 0);
  const ExpandedPlan expanded = expand_plan(set, plan, stop);
  return search_expanded(set, expanded.plan, expanded.expansions, orders, stop, expanded.isCut ? kStatusCut : 0);
}

}  // namespace mds
