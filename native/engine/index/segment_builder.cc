// See segment_builder.h. Distinct terms are found by hashing, and only these are sorted: a batch of 64
// documents has about a third as many distinct terms as postings.
#include "index/segment_builder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <string>
#include <tuple>

#include "base/text_hash.h"
#include "segment/segment_writer.h"

namespace mds {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

struct Occurrence {
  uint32_t slot;
  uint32_t tf;
  const PackedTokens* tokens;  // null for metadata
  uint32_t positionIndex;
  uint32_t next;  // next occurrence of the same term, by slot
};

struct DistinctTerm {
  std::string_view text;
  uint64_t prefix;  // first 8 bytes, big-endian: decides most comparisons
  uint32_t section;
  uint32_t first;
  uint32_t last;
};

// A slot of the hash table. Most mismatches are detected by the tag, without comparing the term.
struct TableEntry {
  uint32_t tag;
  uint32_t term;
};

struct Section {
  uint32_t collection;
  SectionKind kind;
  std::string_view name;
  std::vector<SlotLength> lengths;
  std::vector<uint32_t> terms;
};

uint64_t prefix_of(std::string_view text) noexcept {
  std::array<uint8_t, 8> bytes{};
  // Not memcpy: the data pointer of an empty string may be null.
  text.copy(reinterpret_cast<char*>(bytes.data()), bytes.size());
  return __builtin_bswap64(load_u64(bytes.data()));
}

class Builder {
 public:
  explicit Builder(size_t postings) : table_(std::bit_ceil(std::max<size_t>(64, postings)), TableEntry{0, kNone}) {
    occurrences_.reserve(postings);
    terms_.reserve(postings / 2);
  }

  Status add(const IndexOp& op, uint32_t slot) {
    for (const auto& [key, value] : op.meta) {
      const uint32_t term = find_or_add(section_of(op.collection, SectionKind::kMeta, key), value);
      if (terms_[term].last == kNone || occurrences_[terms_[term].last].slot != slot) append(term, {slot, 1, nullptr, 0, kNone});
    }
    for (const FieldTokens& field : op.fields) {
      if (field.tokens.length() == 0) continue;
      const uint32_t section = section_of(op.collection, SectionKind::kText, field.name);
      auto& lengths = sections_[section].lengths;
      if (!lengths.empty() && lengths.back().first == slot) return Status::malformed("index batch: field " + std::string(field.name) + " twice in one document");
      lengths.emplace_back(slot, field.tokens.length());
      const Status status = add_field(section, field.tokens, slot);
      if (!status.ok()) return status;
    }
    return {};
  }

  void write(SegmentWriter& writer) {
    std::sort(sectionOrder_.begin(), sectionOrder_.end(), [this](uint32_t a, uint32_t b) { return ordered(sections_[a], sections_[b]); });
    for (const uint32_t index : sectionOrder_) {
      Section& section = sections_[index];
      std::sort(section.terms.begin(), section.terms.end(), [this](uint32_t a, uint32_t b) { return before(terms_[a], terms_[b]); });
      writer.begin_section(section.collection, section.kind, section.name, section.lengths);
      for (const uint32_t term : section.terms) write_term(writer, terms_[term]);
      writer.end_section();
    }
  }

 private:
  static bool ordered(const Section& a, const Section& b) noexcept { return std::tie(a.collection, a.kind, a.name) < std::tie(b.collection, b.kind, b.name); }
  static bool before(const DistinctTerm& a, const DistinctTerm& b) noexcept { return a.prefix != b.prefix ? a.prefix < b.prefix : a.text < b.text; }

  uint32_t section_of(uint32_t collection, SectionKind kind, std::string_view name) {
    const auto [found, isNew] = sectionByName_.try_emplace(std::tuple(collection, kind, name), static_cast<uint32_t>(sections_.size()));
    if (isNew) {
      sectionOrder_.push_back(found->second);
      sections_.push_back({collection, kind, name, {}, {}});
    }
    return found->second;
  }

  Status add_field(uint32_t section, const PackedTokens& tokens, uint32_t slot) {
    uint32_t begin = 0;
    uint32_t positionIndex = 0;
    for (uint32_t index = 0; index < tokens.term_count(); ++index) {
      const uint32_t end = tokens.term_end(index);
      const uint32_t term = find_or_add(section, tokens.term(begin, end));
      if (terms_[term].last != kNone && occurrences_[terms_[term].last].slot == slot) return Status::malformed("packed tokens: a term occurs twice");
      const uint32_t tf = tokens.tf(index);
      append(term, {slot, tf, &tokens, positionIndex, kNone});
      positionIndex += tf;
      begin = end;
    }
    return {};
  }

  uint32_t find_or_add(uint32_t section, std::string_view text) {
    const auto tag = static_cast<uint32_t>(hash_text(text, section, seed_));
    TableEntry* entry = &table_[tag & (table_.size() - 1)];
    for (size_t at = tag;; entry = &table_[++at & (table_.size() - 1)]) {
      if (entry->term == kNone) break;
      if (entry->tag != tag) continue;
      const DistinctTerm& candidate = terms_[entry->term];
      if (candidate.section == section && candidate.text == text) return entry->term;
    }
    const auto term = static_cast<uint32_t>(terms_.size());
    *entry = {tag, term};
    terms_.push_back({text, prefix_of(text), section, kNone, kNone});
    sections_[section].terms.push_back(term);
    if (terms_.size() * 2 > table_.size()) grow();
    return term;
  }

  void grow() {
    std::vector<TableEntry> larger(table_.size() * 2, TableEntry{0, kNone});
    const size_t mask = larger.size() - 1;
    for (const TableEntry& entry : table_) {
      if (entry.term == kNone) continue;
      size_t at = entry.tag & mask;
      while (larger[at].term != kNone) at = (at + 1) & mask;
      larger[at] = entry;
    }
    table_ = std::move(larger);
  }

  void append(uint32_t term, const Occurrence& occurrence) {
    const auto index = static_cast<uint32_t>(occurrences_.size());
    occurrences_.push_back(occurrence);
    DistinctTerm& owner = terms_[term];
    (owner.last == kNone ? owner.first : occurrences_[owner.last].next) = index;
    owner.last = index;
  }

  void write_term(SegmentWriter& writer, const DistinctTerm& term) {
    writer.begin_term(term.text);
    for (uint32_t at = term.first; at != kNone; at = occurrences_[at].next) {
      const Occurrence& occurrence = occurrences_[at];
      writer.add_posting(occurrence.slot, occurrence.tf);
      if (occurrence.tokens == nullptr) continue;
      for (uint32_t index = 0; index < occurrence.tf; ++index) writer.add_position(occurrence.tokens->position(occurrence.positionIndex + index));
    }
    writer.end_term();
  }

  const uint64_t seed_ = hash_seed();
  std::map<std::tuple<uint32_t, SectionKind, std::string_view>, uint32_t> sectionByName_;
  std::vector<Section> sections_;
  std::vector<uint32_t> sectionOrder_;
  std::vector<DistinctTerm> terms_;
  std::vector<Occurrence> occurrences_;
  std::vector<TableEntry> table_;
};

}  // namespace

Result<std::shared_ptr<const Segment>> build_segment(std::span<const IndexOp* const> upserts, uint64_t serial) {
  size_t postings = 0;
  for (const IndexOp* op : upserts) {
    postings += op->meta.size();
    for (const FieldTokens& field : op->fields) postings += field.tokens.term_count();
  }
  SegmentWriter writer;
  Builder builder(postings);
  for (const IndexOp* op : upserts) {
    const uint32_t slot = writer.add_document({op->collection, op->docid, op->lsn, op->addedAt, op->updatedAt, op->key, op->lang});
    const Status status = builder.add(*op, slot);
    if (!status.ok()) return status;
  }
  builder.write(writer);
  return writer.finish(serial);
}

}  // namespace mds
