// See batch_application.h. There is no map from docid to slot: a document is found by binary search in each
// segment's docid column. Nearly every lookup of a new document ends at the comparison with the segment's
// last docid.
#include "index/batch_application.h"

#include <algorithm>

namespace mds {
namespace {

struct Location {
  uint32_t segment;
  uint32_t slot;
};

std::optional<Location> find_live(const SegmentSet& set, uint32_t collection, uint32_t docid) noexcept {
  for (uint32_t index = 0; index < set.segments.size(); ++index) {
    const SegmentRef& ref = set.segments[index];
    const CollectionEntry* entry = ref.segment->find_collection(collection);
    if (entry == nullptr) continue;
    const std::optional<uint32_t> slot = ref.segment->find_docid(*entry, docid);
    if (slot && ref.alive(*slot)) return Location{index, *slot};
  }
  return std::nullopt;
}

}  // namespace

void BatchApplication::apply(const IndexOp& op) {
  switch (op.kind) {
    case OpKind::kUpsert:
      return upsert(op);
    case OpKind::kDelete:
      return remove(op);
    case OpKind::kDropCollection:
      drops_.insert(op.collection);
  }
}

std::optional<uint64_t> BatchApplication::live_lsn(uint32_t collection, uint32_t docid) const noexcept {
  const std::optional<Location> at = find_live(set_, collection, docid);
  if (!at) return std::nullopt;
  return set_.segments[at->segment].segment->lsn(at->slot);
}

bool BatchApplication::is_dropped(uint32_t collection) const { return dropped_.contains(collection) || drops_.contains(collection); }

void BatchApplication::kill(uint32_t collection, uint32_t docid) {
  const std::optional<Location> at = find_live(set_, collection, docid);
  if (at) kills_.emplace_back(at->segment, at->slot);
}

void BatchApplication::upsert(const IndexOp& op) {
  if (is_dropped(op.collection)) return;
  const uint64_t id = document_key(op.collection, op.docid);
  const auto tombstone = tombstones_.find(id);
  if (tombstone != tombstones_.end() && tombstone->second >= op.lsn) return;
  const auto isNewer = [&op](uint64_t lsn, bool wasDelete) { return op.lsn > lsn || (op.lsn == lsn && op.replacesEqualLsn && !wasDelete); };
  const auto found = pending_.find(id);
  if (found != pending_.end()) {
    if (isNewer(found->second.lsn, found->second.upsert == nullptr)) found->second = {&op, op.lsn};
    return;
  }
  const std::optional<uint64_t> known = live_lsn(op.collection, op.docid);
  if (known && !isNewer(*known, false)) return;
  if (known) kill(op.collection, op.docid);
  pending_.emplace(id, Pending{&op, op.lsn});
}

void BatchApplication::remove(const IndexOp& op) {
  const uint64_t id = document_key(op.collection, op.docid);
  if (rebuilding_) newTombstones_.emplace_back(id, op.lsn);
  const auto found = pending_.find(id);
  if (found != pending_.end()) {
    if (op.lsn > found->second.lsn) found->second = {nullptr, op.lsn};
    return;
  }
  const std::optional<uint64_t> known = live_lsn(op.collection, op.docid);
  if (known && op.lsn <= *known) return;
  if (known) kill(op.collection, op.docid);
  // Recorded for the rest of the batch even if the document is unknown: a later op of the batch may have a
  // lower LSN.
  pending_.emplace(id, Pending{nullptr, op.lsn});
}

std::vector<const IndexOp*> BatchApplication::upserts() const {
  std::vector<const IndexOp*> standing;
  for (const auto& [id, pending] : pending_) {
    // An op before the drop of its collection is dropped with it. An op after the drop was not accepted.
    if (pending.upsert != nullptr && !drops_.contains(pending.upsert->collection)) standing.push_back(pending.upsert);
  }
  std::sort(standing.begin(), standing.end(),
            [](const IndexOp* a, const IndexOp* b) { return document_key(a->collection, a->docid) < document_key(b->collection, b->docid); });
  return standing;
}

std::vector<SegmentRef> BatchApplication::survivors() const {
  std::vector<std::shared_ptr<LiveDocs>> copies(set_.segments.size());
  const auto copy_of = [&](uint32_t index) -> LiveDocs& {
    if (copies[index] == nullptr) {
      const SegmentRef& ref = set_.segments[index];
      copies[index] = ref.live == nullptr ? std::make_shared<LiveDocs>(ref.segment->slot_count()) : std::make_shared<LiveDocs>(*ref.live);
    }
    return *copies[index];
  };
  for (const auto& [segment, slot] : kills_) copy_of(segment).kill(slot);
  for (const uint32_t collection : drops_) {
    for (uint32_t index = 0; index < set_.segments.size(); ++index) {
      const CollectionEntry* entry = set_.segments[index].segment->find_collection(collection);
      for (uint32_t slot = entry == nullptr ? 0 : entry->slotBegin; entry != nullptr && slot < entry->slotEnd; ++slot) copy_of(index).kill(slot);
    }
  }
  std::vector<SegmentRef> remaining;
  for (uint32_t index = 0; index < set_.segments.size(); ++index) {
    SegmentRef ref = set_.segments[index];
    if (copies[index] != nullptr) ref.live = std::move(copies[index]);
    if (ref.live_count() > 0) remaining.push_back(std::move(ref));
  }
  return remaining;
}

}  // namespace mds
