// Writers of index batches and search plans, and a reader of hits, for the tests and the benchmark. Written
// from docs/formats, independent of the engine's parsers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace mds::test {

using Wire = std::vector<uint8_t>;
// Term -> positions, ascending.
using FieldText = std::map<std::string, std::vector<uint32_t>>;

struct Document {
  uint32_t collection = 1;
  uint32_t docid = 0;
  uint64_t lsn = 0;
  int64_t addedAt = 0;
  int64_t updatedAt = 0;
  std::string key;
  std::string lang = "en";
  std::set<std::pair<std::string, std::string>> meta;
  std::map<std::string, FieldText> fields;
};

// Words in order, one position each.
FieldText text_of(const std::vector<std::string>& words);

Wire packed_tokens(const FieldText& text);
Wire upsert_op(const Document& document, bool replacesEqualLsn = false);
Wire delete_op(uint32_t collection, uint32_t docid, uint64_t lsn);
Wire drop_op(uint32_t collection, uint64_t lsn);
Wire batch_of(const std::vector<Wire>& ops, uint64_t lsnLast);

struct Tree {
  uint32_t kind = 6;
  uint32_t term = 0;
  uint32_t scoring = 0;
  std::vector<std::pair<uint32_t, uint32_t>> phrase;
  std::vector<Tree> children;
  uint32_t edits = 0;
  uint32_t prefix = 0;
  uint32_t distance = 0;
};

struct Bound {
  uint32_t kind = 0;  // gte, lte, gt, lt
  std::optional<std::string> text;
  double scalar = 0;
};

struct Range {
  uint32_t field = 0;  // metadata, addedAt, updatedAt
  std::string key;
  std::vector<Bound> bounds;
};

struct Boost {
  std::string key;
  std::string value;
  double factor = 1;
};

struct Plan {
  uint32_t collection = 1;
  uint32_t algorithm = 1;
  float k1 = 1.2F;
  float b = 0.75F;
  uint32_t k = 10;
  uint32_t skip = 0;
  uint32_t sort = 0;
  uint32_t descending = 0;
  bool exactTotal = true;
  uint32_t pollWord = 0xFFFFFFFF;
  std::vector<std::pair<std::string, float>> fields = {{"content", 1.0F}};
  // Without a list: any value.
  std::vector<std::pair<std::string, std::optional<std::vector<std::string>>>> filters;
  std::vector<Range> ranges;
  std::vector<Boost> boosts;
  std::vector<std::pair<std::string, float>> terms;
  // For each term, bit f is set if the term is searched in field f. A term without an entry is searched in
  // all fields with bm25f, and in the first field otherwise.
  std::vector<uint64_t> termFields = {};
  Tree root = {};

  [[nodiscard]] uint64_t fields_of(size_t term) const { return term < termFields.size() ? termFields[term] : algorithm == 2 ? (uint64_t{1} << fields.size()) - 1 : 1; }
  [[nodiscard]] bool looks_in(size_t term, size_t field) const { return (fields_of(term) >> field & 1) != 0; }
};

Wire plan_bytes(const Plan& plan);

struct Hit {
  uint32_t docid;
  double score;
  uint64_t lsn;
  std::set<uint32_t> matched;
  std::set<std::string> expanded = {};  // terms that leaves expand to, as "leaf edits text"
  double factor = 1;                    // of the plan's boosts
  bool operator==(const Hit&) const = default;
};

struct Hits {
  uint32_t total;
  uint64_t lsn;
  uint32_t docCount;
  uint32_t status;
  std::vector<Hit> hits;
};

// `termCount`: number of terms of the plan. Mask bits from there on are expansions.
Hits read_hits(const Wire& record, size_t termCount = SIZE_MAX);

}  // namespace mds::test
