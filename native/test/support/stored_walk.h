// Opens a stored segment from the bytes of its chunks without checking their checksums, and reads everything
// in it. Used for damaged bytes that a checksum would have detected. Nothing may be read or written out of
// bounds, whatever the bytes are.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "index/meta_keys.h"
#include "index/segment_merger.h"
#include "query/completion/common_terms.h"
#include "query/completion/completions.h"
#include "query/plan/search_plan.h"
#include "query/search.h"
#include "segment/postings/posting_cursor.h"
#include "storage/stored_segment.h"
#include "support/model.h"

namespace mds::test {

struct ChunkBytes {
  std::vector<uint64_t> columnSizes;
  std::vector<std::vector<uint8_t>> chunks;
};

class NoLease final : public ChunkLease {};

inline uint64_t walk_terms(const Segment& segment, const SectionEntry& section) {
  uint64_t seen = 0;
  std::vector<uint32_t> positions;
  FieldLengths lengths = segment.lengths(section);
  lengths.for_each([&seen](uint32_t, uint32_t length) { seen += length; });
  for (DictionaryWalk walk = segment.terms(section); walk.next();) {
    seen += segment.find_term(section, walk.term()).value_or(0);
    for (PostingCursor cursor(segment, section, walk.entry()); cursor.doc() != kEndOfList; cursor.next()) {
      seen += cursor.tf() + lengths.at(cursor.doc());
      if (section.kind == SectionKind::kText) cursor.positions(positions);
    }
  }
  return seen;
}

// A plan for every evaluation path: exhaustive, pruned, pruned phrase, listing.
inline Plan walk_plan(Generator& generator, uint32_t round) {
  Plan plan = generator.plan(1 + generator.below(3));
  if (round % 4 == 0) return plan;
  plan.k = 10;
  plan.exactTotal = false;
  if (round % 4 == 1) return plan;
  plan.terms = {{"w1", 1.0F}, {"w2", 1.0F}};
  plan.root = round % 4 == 2 ? Tree{5, 0, generator.below(2), {{0, 0}, {1, 1}}, {}} : Tree{};
  if (round % 4 == 3) plan.sort = 1 + generator.below(4);
  plan.descending = generator.below(2);
  plan.b = 1;  // a length of 0 would cause a division by 0
  return plan;
}

// Returns a sum over all values read, so that no read is optimized away. Returns 0 if the segment is
// rejected.
inline uint64_t walk_stored(const ChunkBytes& bytes, uint64_t seed) {
  StoredChunks stored;
  stored.columnSizes = bytes.columnSizes;
  for (const std::vector<uint8_t>& chunk : bytes.chunks) stored.chunks.push_back(chunk.data());
  const Result<std::shared_ptr<const Segment>> opened = Segment::open(1, views_of(stored), std::make_unique<NoLease>(), 1);
  if (!opened.ok()) return 0;
  const Segment& segment = *opened.value();
  SegmentSet set;
  set.segments.push_back({opened.value(), std::make_shared<const LiveDocs>(segment.slot_count()), 0});
  uint64_t seen = 1;
  for (const CollectionEntry& collection : segment.collections()) {
    for (const SectionEntry& section : segment.sections(collection)) seen += walk_terms(segment, section);
    seen += segment.find_docid(collection, 7).value_or(0) + meta_keys_json(set, collection.collection).size();
    seen += completions_json(set, {collection.collection, {}, "", 100}).size() + term_frequencies_json(set, {collection.collection, {}, {"w1", "w2"}}).size();
    // Uses the algorithm for prefixes with many terms, regardless of their number.
    uint32_t steps = kCompletionScanMax;
    for (const SectionEntry& section : segment.sections(collection)) {
      CommonTerms terms(segment, section, "w");
      for (terms.begin(steps); steps > 0 && !terms.is_at_end(); terms.next(steps)) seen += terms.df_of(terms.text(), steps);
      seen += segment.maxima(section)->size();
    }
  }
  for (uint32_t slot = 0; slot < segment.slot_count(); ++slot) seen += segment.key(slot).size() + segment.lang(slot).size();
  Generator generator(seed);
  for (uint32_t round = 0; round < 12; ++round) {
    const Wire plan = plan_bytes(walk_plan(generator, round));
    const Result<SearchPlan> parsed = parse_search_plan(plan);
    if (parsed.ok()) seen += run_search(set, parsed.value(), StopSignal(nullptr)).size();
  }
  const std::atomic<bool> stop{false};
  const std::vector<SegmentRef> sources = {set.segments[0], set.segments[0]};
  return seen + (merge_segments(std::span(sources).first(1), 2, stop).ok() ? 1 : 0);
}

}  // namespace mds::test
