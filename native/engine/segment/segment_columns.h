// The columns of a segment, declared once. SegmentColumns owns them while they are built and in memory;
// SegmentViews reads them in memory and on disk. Storage, views and sizes use `zip_columns`, so that a new
// column is one member plus one line there. The order is that of the stored segment. Changing the order or an
// element requires a new kSegmentVersion. Layout: docs/formats/segment.md.
#pragma once

#include <cstdint>
#include <vector>

#include "segment/column_view.h"
#include "segment/impacts.h"

namespace mds {

// Stored segments of another version are discarded with their index, which is then rebuilt from the store.
inline constexpr uint32_t kSegmentVersion = 2;

// Not a slot: the position of a cursor past its last posting. All slots are below it.
inline constexpr uint32_t kEndOfList = UINT32_MAX;

enum class SectionKind : uint32_t { kText = 0, kMeta = 1 };

// The documents of one collection: slots [slotBegin, slotEnd), sections [sectionBegin, sectionEnd). Ordered
// by collection.
struct CollectionEntry {
  uint32_t collection;
  uint32_t slotBegin;
  uint32_t slotEnd;
  uint32_t sectionBegin;
  uint32_t sectionEnd;
};

// One field (kText) or one metadata key (kMeta) of one collection. Its terms or values are terms [termBegin,
// termEnd). Ordered by (collection, kind, name).
struct SectionEntry {
  SectionKind kind;
  uint32_t slotBegin;  // slots of the collection
  uint32_t slotEnd;
  uint32_t nameBegin;
  uint32_t nameEnd;
  uint32_t termBegin;  // a multiple of kDictionaryBlockTerms: sections do not share dictionary blocks
  uint32_t termEnd;
  uint32_t documents;     // number of documents with a length above 0; text only
  uint64_t totalLength;   // sum of the field lengths
  uint64_t lengthsBegin;  // byte offset in `fieldLengths`, a multiple of 4
  // 0: one length per slot of the collection; 1: `documents` slots (u32), then their `documents` lengths.
  uint16_t lengthsSparse;
  uint16_t lengthBytes;  // bytes per length: 1, 2 or 4
  uint32_t padding;
};

// One block of a list of more than kBlockPostings postings. Offsets are relative to the beginning of the
// list.
struct BlockEntry {
  uint32_t slotLast;
  uint32_t postingsOffset;
  uint32_t positionsOffset;
  Impacts impacts;  // text only
};

// A bit set in addition to postings: the documents of one dense metadata value, or of all values of a key.
// Ordered by (section, term).
struct BitSetEntry {
  uint32_t section;  // index in `sections`
  uint32_t term;     // kEveryTerm: the documents that have the key
  // Offset in `bitWords`: words [slotBegin / 64, (slotEnd + 63) / 64) of the collection, aligned with the
  // live bits.
  uint64_t wordBegin;
};

inline constexpr uint32_t kEveryTerm = UINT32_MAX;

// Number of words for the bits of slots [slotBegin, slotEnd). The first and the last word may contain bits of
// neighbouring collections.
[[nodiscard]] constexpr size_t bit_set_words(uint32_t slotBegin, uint32_t slotEnd) noexcept { return (size_t{slotEnd} + 63) / 64 - slotBegin / 64; }

static_assert(sizeof(CollectionEntry) == 20 && sizeof(SectionEntry) == 56 && sizeof(BlockEntry) == 44 && sizeof(BitSetEntry) == 16);

// A permutation of the slots of each collection: sorted by the value, then key, lang (bytes) and docid, all
// ascending.
enum class SlotOrder : uint8_t { kAddedAt, kUpdatedAt, kKey };

template <template <class> class Column>
struct ColumnsOf {
  Column<CollectionEntry> collections;
  Column<SectionEntry> sections;
  Column<char> names;
  Column<uint32_t> dictionaryEnds;
  Column<uint8_t> dictionary;
  Column<BlockEntry> blocks;
  Column<uint8_t> fieldLengths;
  Column<uint32_t> docids;
  Column<uint64_t> lsns;
  Column<int64_t> addedAt;
  Column<int64_t> updatedAt;
  Column<uint32_t> keyEnds;
  Column<uint8_t> keyBytes;
  Column<uint32_t> langEnds;
  Column<uint8_t> langBytes;
  Column<uint32_t> byAddedAt;
  Column<uint32_t> byUpdatedAt;
  Column<uint32_t> byKey;
  Column<uint32_t> keyRanks;
  Column<BitSetEntry> bitSets;
  Column<uint64_t> bitWords;
  Column<uint8_t> postings;
  Column<uint8_t> positions;
};

template <class T>
using OwnedColumn = std::vector<T>;
using SegmentColumns = ColumnsOf<OwnedColumn>;
using SegmentViews = ColumnsOf<ColumnView>;

// Whether a column begins a new chunk. True for columns whose writer prevents blocks from straddling chunks:
// the writer must know where the chunks begin.
enum class ColumnStart : uint8_t { kShared, kOwnChunks };

// Calls visit(left column, right column, start) for every column, in stored order.
template <class Left, class Right, class Visit>
void zip_columns(Left& left, Right& right, Visit visit) {
  visit(left.collections, right.collections, ColumnStart::kShared);
  visit(left.sections, right.sections, ColumnStart::kShared);
  visit(left.names, right.names, ColumnStart::kShared);
  visit(left.dictionaryEnds, right.dictionaryEnds, ColumnStart::kShared);
  visit(left.dictionary, right.dictionary, ColumnStart::kShared);
  visit(left.blocks, right.blocks, ColumnStart::kShared);
  visit(left.fieldLengths, right.fieldLengths, ColumnStart::kShared);
  visit(left.docids, right.docids, ColumnStart::kShared);
  visit(left.lsns, right.lsns, ColumnStart::kShared);
  visit(left.addedAt, right.addedAt, ColumnStart::kShared);
  visit(left.updatedAt, right.updatedAt, ColumnStart::kShared);
  visit(left.keyEnds, right.keyEnds, ColumnStart::kShared);
  visit(left.keyBytes, right.keyBytes, ColumnStart::kShared);
  visit(left.langEnds, right.langEnds, ColumnStart::kShared);
  visit(left.langBytes, right.langBytes, ColumnStart::kShared);
  visit(left.byAddedAt, right.byAddedAt, ColumnStart::kShared);
  visit(left.byUpdatedAt, right.byUpdatedAt, ColumnStart::kShared);
  visit(left.byKey, right.byKey, ColumnStart::kShared);
  visit(left.keyRanks, right.keyRanks, ColumnStart::kShared);
  visit(left.bitSets, right.bitSets, ColumnStart::kShared);
  visit(left.bitWords, right.bitWords, ColumnStart::kShared);
  visit(left.postings, right.postings, ColumnStart::kOwnChunks);
  visit(left.positions, right.positions, ColumnStart::kOwnChunks);
}

}  // namespace mds
