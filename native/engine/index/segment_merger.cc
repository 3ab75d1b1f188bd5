// See segment_merger.h.
#include "index/segment_merger.h"

#include <algorithm>
#include <tuple>

#include "segment/postings/posting_cursor.h"
#include "segment/segment_writer.h"

namespace mds {
namespace {

constexpr uint32_t kTermsPerStopCheck = 256;

struct LiveSlot {
  uint32_t collection;
  uint32_t docid;
  uint32_t source;
  uint32_t slot;
};

using SectionKey = std::tuple<uint32_t, SectionKind, std::string_view>;

// Iterates over the sections of one source in order.
struct SectionWalk {
  const Segment* segment;
  uint32_t collectionIndex = 0;
  uint32_t section = 0;  // index within the collection

  [[nodiscard]] const SectionEntry* current() noexcept {
    for (; collectionIndex < segment->collections().size(); ++collectionIndex, section = 0) {
      const auto sections = segment->sections(segment->collections()[collectionIndex]);
      if (section < sections.size()) return &sections[section];
    }
    return nullptr;
  }
  [[nodiscard]] SectionKey key(const SectionEntry& entry) const noexcept {
    return {segment->collections()[collectionIndex].collection, entry.kind, segment->name(entry)};
  }
};

// The terms of one section of one source, positioned on one of them.
struct TermWalk {
  uint32_t source;
  const SectionEntry* section;
  DictionaryWalk terms;
};

class Merger {
 public:
  Merger(std::span<const SegmentRef> sources, const std::atomic<bool>& stop) : sources_(sources), stop_(stop) {}

  Result<MergedSegment> run(uint64_t serial) {
    merge_documents();
    std::vector<SectionWalk> walks;
    for (const SegmentRef& source : sources_) walks.push_back({source.segment.get()});
    while (merge_next_section(walks)) {
      if (stopped_) return Status::cancelled();
    }
    return MergedSegment{writer_.finish(serial, std::move(seeds_)), std::move(slotMaps_)};
  }

 private:
  void merge_documents() {
    std::vector<LiveSlot> slots;
    for (uint32_t source = 0; source < sources_.size(); ++source) {
      const SegmentRef& ref = sources_[source];
      slotMaps_.emplace_back(ref.segment->slot_count(), kEndOfList);
      for (const CollectionEntry& collection : ref.segment->collections()) {
        for (uint32_t slot = collection.slotBegin; slot < collection.slotEnd; ++slot) {
          if (ref.alive(slot)) slots.push_back({collection.collection, ref.segment->docid(slot), source, slot});
        }
      }
    }
    std::sort(slots.begin(), slots.end(), [](const LiveSlot& a, const LiveSlot& b) { return std::tie(a.collection, a.docid) < std::tie(b.collection, b.docid); });
    for (const LiveSlot& from : slots) {
      const Segment& segment = *sources_[from.source].segment;
      slotMaps_[from.source][from.slot] = writer_.add_document({from.collection, from.docid, segment.lsn(from.slot), segment.added_at(from.slot),
                                                                segment.updated_at(from.slot), segment.key(from.slot), segment.lang(from.slot)});
    }
    for (size_t begin = 0; begin < slots.size();) {
      seed_orders(slots[begin].collection);
      const auto end = std::upper_bound(slots.begin() + static_cast<ptrdiff_t>(begin), slots.end(), slots[begin].collection,
                                        [](uint32_t collection, const LiveSlot& slot) { return collection < slot.collection; });
      begin = static_cast<size_t>(end - slots.begin());
    }
  }

  // Appends the sources' orders one after the other; the writer merges them.
  void seed_orders(uint32_t collection) {
    for (uint32_t source = 0; source < sources_.size(); ++source) {
      const Segment& segment = *sources_[source].segment;
      const CollectionEntry* entry = segment.find_collection(collection);
      if (entry == nullptr) continue;
      const auto append = [&](SlotOrder order, std::vector<uint32_t>& seed) {
        const std::vector<uint32_t>& slotMap = slotMaps_[source];
        const ColumnView<uint32_t> slots = segment.ordered_slots(order, *entry);
        for (size_t index = 0; index < slots.size(); ++index) {
          // If a damaged order omits or repeats a slot, the writer ignores the seed.
          if (slots[index] < slotMap.size() && slotMap[slots[index]] != kEndOfList) seed.push_back(slotMap[slots[index]]);
        }
      };
      append(SlotOrder::kAddedAt, seeds_.byAddedAt);
      append(SlotOrder::kUpdatedAt, seeds_.byUpdatedAt);
      append(SlotOrder::kKey, seeds_.byKey);
    }
  }

  // Finds the smallest section key of all walks, merges the sections that have this key and advances their
  // walks. Returns false when all walks have ended.
  bool merge_next_section(std::vector<SectionWalk>& walks) {
    bool isAny = false;
    SectionKey smallest;
    for (SectionWalk& walk : walks) {
      const SectionEntry* entry = walk.current();
      if (entry != nullptr && (!isAny || walk.key(*entry) < smallest)) {
        smallest = walk.key(*entry);
        isAny = true;
      }
    }
    if (!isAny) return false;
    termWalks_.clear();
    for (uint32_t source = 0; source < walks.size(); ++source) {
      const SectionEntry* entry = walks[source].current();
      if (entry == nullptr || walks[source].key(*entry) != smallest) continue;
      termWalks_.push_back({source, entry, walks[source].segment->terms(*entry)});
      ++walks[source].section;
    }
    if (writer_.has_collection(std::get<0>(smallest))) merge_section(smallest);
    return true;
  }

  void merge_section(const SectionKey& key) {
    const auto& [collection, kind, name] = key;
    lengths_.clear();
    for (const TermWalk& walk : termWalks_) {
      if (kind != SectionKind::kText) break;
      const std::vector<uint32_t>& slotMap = slotMaps_[walk.source];
      sources_[walk.source].segment->lengths(*walk.section).for_each([&](uint32_t slot, uint32_t length) {
        if (slotMap[slot] != kEndOfList) lengths_.emplace_back(slotMap[slot], length);
      });
    }
    if (!std::is_sorted(lengths_.begin(), lengths_.end())) std::sort(lengths_.begin(), lengths_.end());
    writer_.begin_section(collection, kind, name, lengths_);
    merge_terms(kind == SectionKind::kText);
    writer_.end_section();
  }

  // Uses a heap of walks (their indexes) ordered by their current term. Every round processes the walks that
  // share the smallest term.
  void merge_terms(bool isText) {
    const auto later = [this](uint32_t a, uint32_t b) { return termWalks_[a].terms.term() > termWalks_[b].terms.term(); };
    std::vector<uint32_t> heap;
    for (uint32_t index = 0; index < termWalks_.size(); ++index) {
      if (termWalks_[index].terms.next()) heap.push_back(index);
    }
    std::make_heap(heap.begin(), heap.end(), later);
    uint32_t terms = 0;
    while (!heap.empty()) {
      if (++terms % kTermsPerStopCheck == 0 && stop_.load(std::memory_order_relaxed)) {
        stopped_ = true;
        return;
      }
      const std::string_view smallest = termWalks_[heap.front()].terms.term();
      size_t end = heap.size();
      cursors_.clear();
      while (end > 0 && termWalks_[heap.front()].terms.term() == smallest) {
        std::pop_heap(heap.begin(), heap.begin() + static_cast<ptrdiff_t>(end), later);
        const TermWalk& walk = termWalks_[heap[--end]];
        cursors_.emplace_back(*sources_[walk.source].segment, *walk.section, walk.terms.entry(), slotMaps_[walk.source]);
      }
      writer_.begin_term(smallest);
      merge_postings(isText);
      writer_.end_term();
      push_back_walks(heap, end, later);
    }
  }

  // The walks from `end` on were at the finished term. Advances each and returns it to the heap, or drops it
  // at the end of its section.
  template <class Later>
  void push_back_walks(std::vector<uint32_t>& heap, size_t end, Later later) {
    size_t kept = end;
    for (size_t index = end; index < heap.size(); ++index) {
      const uint32_t walk = heap[index];
      if (!termWalks_[walk].terms.next()) continue;
      heap[kept++] = walk;
      std::push_heap(heap.begin(), heap.begin() + static_cast<ptrdiff_t>(kept), later);
    }
    heap.resize(kept);
  }

  struct MergeCursor {
    PostingCursor cursor;
    const std::vector<uint32_t>* slotMap;
    uint32_t slot = kEndOfList;  // slot in the merged segment

    // Constructed in place: a cursor is over 1 KB, and small segments have as many lists as postings.
    MergeCursor(const Segment& segment, const SectionEntry& section, const TermEntry& entry, const std::vector<uint32_t>& map) noexcept
        : cursor(segment, section, entry), slotMap(&map) {}

    void settle() noexcept {
      while (cursor.doc() != kEndOfList && (*slotMap)[cursor.doc()] == kEndOfList) cursor.next();
      slot = cursor.doc() == kEndOfList ? kEndOfList : (*slotMap)[cursor.doc()];
    }
  };

  // Sources usually cover disjoint docid ranges. The smallest cursor therefore advances up to the second
  // smallest slot before cursors are compared again.
  void merge_postings(bool isText) {
    for (MergeCursor& cursor : cursors_) cursor.settle();
    for (;;) {
      MergeCursor* smallest = nullptr;
      uint32_t limit = kEndOfList;
      for (MergeCursor& cursor : cursors_) {
        if (smallest == nullptr || cursor.slot < smallest->slot) {
          if (smallest != nullptr) limit = smallest->slot;
          smallest = &cursor;
        } else {
          limit = std::min(limit, cursor.slot);
        }
      }
      if (smallest == nullptr || smallest->slot == kEndOfList) return;
      for (; smallest->slot < limit; smallest->settle()) {
        writer_.add_posting(smallest->slot, isText ? smallest->cursor.tf() : 1);
        if (isText) {
          smallest->cursor.positions(positions_);
          for (const uint32_t position : positions_) writer_.add_position(position);
        }
        smallest->cursor.next();
      }
    }
  }

  std::span<const SegmentRef> sources_;
  const std::atomic<bool>& stop_;
  bool stopped_ = false;
  SegmentWriter writer_;
  std::vector<std::vector<uint32_t>> slotMaps_;
  OrderSeeds seeds_;
  std::vector<TermWalk> termWalks_;
  std::vector<MergeCursor> cursors_;
  std::vector<SlotLength> lengths_;
  std::vector<uint32_t> positions_;
};

}  // namespace

Result<MergedSegment> merge_segments(std::span<const SegmentRef> sources, uint64_t serial, const std::atomic<bool>& stop) { return Merger(sources, stop).run(serial); }

}  // namespace mds
