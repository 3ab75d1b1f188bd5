// See wire.h.
#include "support/wire.h"

#include <cstring>

#include "base/limits.h"

namespace mds::test {
namespace {

template <class T>
void put(Wire& out, T value) {
  const size_t at = out.size();
  out.resize(at + sizeof value);
  std::memcpy(out.data() + at, &value, sizeof value);
}

void put_u32(Wire& out, size_t value) { put(out, static_cast<uint32_t>(value)); }

void put_text(Wire& out, const std::string& text) {
  out.insert(out.end(), text.begin(), text.end());
  while (out.size() % 4 != 0) out.push_back(0);
}

void put_wire(Wire& out, const Wire& part) { out.insert(out.end(), part.begin(), part.end()); }

template <class T>
T get(const Wire& in, size_t at) {
  T value;
  std::memcpy(&value, &in.at(at + sizeof value - 1) - (sizeof value - 1), sizeof value);
  return value;
}

Wire op_of(uint8_t kind, uint8_t flags, uint32_t collection, uint32_t docid, uint64_t lsn, const Wire& rest) {
  Wire out;
  put_u32(out, 24 + rest.size());
  out.insert(out.end(), {kind, flags, 0, 0});
  put(out, collection);
  put(out, docid);
  put(out, lsn);
  put_wire(out, rest);
  return out;
}

void put_tree(Wire& out, const Tree& node) {
  put(out, node.kind);
  if (node.kind == 1) put(out, node.term);
  if (node.kind == 2 || node.kind == 3) put_u32(out, node.children.size());
  if (node.kind == 5) {
    put(out, node.scoring);
    put_u32(out, node.phrase.size());
    for (const auto& [term, offset] : node.phrase) {
      put(out, term);
      put(out, offset);
    }
  }
  if (node.kind == 8) {
    for (const uint32_t word : {node.term, node.edits, node.prefix}) put(out, word);
  }
  if (node.kind == 9) put(out, node.term);
  if (node.kind == 10) {
    put(out, node.distance);
    put_u32(out, node.phrase.size());
    for (const auto& [term, offset] : node.phrase) put(out, term);
  }
  for (const Tree& child : node.children) put_tree(out, child);
}

void put_refinement(Wire& out, const Plan& plan) {
  put_u32(out, plan.ranges.size());
  for (const Range& range : plan.ranges) {
    put(out, range.field);
    put_u32(out, range.key.size());
    put_text(out, range.key);
    put_u32(out, range.bounds.size());
    for (const Bound& bound : range.bounds) {
      put(out, bound.kind);
      put(out, uint32_t{bound.text.has_value()});
      put(out, bound.scalar);
      put_u32(out, bound.text.value_or("").size());
      put_text(out, bound.text.value_or(""));
    }
  }
  put_u32(out, plan.boosts.size());
  for (const Boost& boost : plan.boosts) {
    put(out, boost.factor);
    put_u32(out, boost.key.size());
    put_text(out, boost.key);
    put_u32(out, boost.value.size());
    put_text(out, boost.value);
  }
}

}  // namespace

FieldText text_of(const std::vector<std::string>& words) {
  FieldText text;
  for (uint32_t position = 0; position < words.size(); ++position) text[words[position]].push_back(position);
  return text;
}

Wire packed_tokens(const FieldText& text) {
  Wire ends;
  Wire tfs;
  Wire positions;
  std::string terms;
  size_t length = 0;
  uint32_t positionCount = 0;
  for (const auto& [term, at] : text) {
    terms += term;
    put_u32(ends, terms.size());
    put_u32(tfs, at.size());
    for (const uint32_t position : at) put(positions, position);
    length += at.size();
    positionCount = std::max(positionCount, at.back() + 1);
  }
  Wire out;
  put(out, uint32_t{0x314B544D});
  put(out, positionCount);
  put_u32(out, length);
  put_u32(out, text.size());
  put_u32(out, terms.size());
  for (const Wire& column : {ends, tfs, positions}) put_wire(out, column);
  put_text(out, terms);
  return out;
}

Wire upsert_op(const Document& document, bool replacesEqualLsn) {
  Wire rest;
  put(rest, document.addedAt);
  put(rest, document.updatedAt);
  put_u32(rest, document.key.size());
  put_u32(rest, document.lang.size());
  put_u32(rest, document.meta.size());
  put_u32(rest, document.fields.size());
  put_text(rest, document.key);
  put_text(rest, document.lang);
  for (const auto& [key, value] : document.meta) {
    put_u32(rest, key.size());
    put_u32(rest, value.size());
    put_text(rest, key);
    put_text(rest, value);
  }
  for (const auto& [name, text] : document.fields) {
    const Wire tokens = packed_tokens(text);
    put_u32(rest, name.size());
    put_u32(rest, tokens.size());
    put_text(rest, name);
    put_wire(rest, tokens);
  }
  return op_of(1, replacesEqualLsn ? 1 : 0, document.collection, document.docid, document.lsn, rest);
}

Wire delete_op(uint32_t collection, uint32_t docid, uint64_t lsn) { return op_of(2, 0, collection, docid, lsn, {}); }

Wire drop_op(uint32_t collection, uint64_t lsn) { return op_of(3, 0, collection, 0, lsn, {}); }

Wire batch_of(const std::vector<Wire>& ops, uint64_t lsnLast) {
  Wire out;
  put(out, uint32_t{0x3142494D});
  put_u32(out, ops.size());
  put(out, lsnLast);
  for (const Wire& op : ops) put_wire(out, op);
  return out;
}

Wire plan_bytes(const Plan& plan) {
  Wire out;
  put(out, uint32_t{0x3251534D});
  put(out, plan.collection);
  put(out, plan.algorithm);
  put(out, plan.k1);
  put(out, plan.b);
  const bool isRefined = !plan.ranges.empty() || !plan.boosts.empty();
  for (const uint32_t word : {plan.k, plan.skip, plan.sort, plan.descending, (plan.exactTotal ? 1U : 0U) | (isRefined ? 2U : 0U), plan.pollWord}) put(out, word);
  put_u32(out, plan.fields.size());
  for (const auto& [name, weight] : plan.fields) {
    put(out, weight);
    put_u32(out, name.size());
    put_text(out, name);
  }
  put_u32(out, plan.filters.size());
  for (const auto& [key, values] : plan.filters) {
    put_u32(out, key.size());
    put_text(out, key);
    put_u32(out, values ? values->size() : kPlanAnyValue);
    for (const std::string& value : values.value_or(std::vector<std::string>{})) {
      put_u32(out, value.size());
      put_text(out, value);
    }
  }
  if (isRefined) put_refinement(out, plan);
  put_u32(out, plan.terms.size());
  for (size_t index = 0; index < plan.terms.size(); ++index) {
    const auto& [term, weight] = plan.terms[index];
    put(out, weight);
    put(out, static_cast<uint32_t>(plan.fields_of(index)));
    put(out, static_cast<uint32_t>(plan.fields_of(index) >> 32));
    put_u32(out, term.size());
    put_text(out, term);
  }
  put_tree(out, plan.root);
  return out;
}

Hits read_hits(const Wire& record, size_t termCount) {
  Hits hits{get<uint32_t>(record, 4), get<uint64_t>(record, 16), get<uint32_t>(record, 24), get<uint32_t>(record, 28), {}};
  const auto hitCount = get<uint32_t>(record, 8);
  const auto maskWords = get<uint32_t>(record, 12);
  const size_t hitBytes = (24 + size_t{maskWords} * 4 + 7) / 8 * 8;
  const size_t end = 32 + hitCount * hitBytes;
  std::vector<std::string> expansions;
  size_t at = end + 4;
  for (uint32_t left = get<uint32_t>(record, end); left > 0; --left) {
    const auto bytes = get<uint32_t>(record, at + 8);
    const std::string text(record.begin() + static_cast<ptrdiff_t>(at) + 12, record.begin() + static_cast<ptrdiff_t>(at + 12 + bytes));
    expansions.push_back(std::to_string(get<uint32_t>(record, at)) + " " + std::to_string(get<uint32_t>(record, at + 4)) + " " + text);
    at += 12 + (bytes + 3) / 4 * 4;
  }
  for (at = 32; at < end; at += hitBytes) {
    Hit hit{get<uint32_t>(record, at), get<double>(record, at + 8), get<uint64_t>(record, at + 16), {}};
    for (uint32_t term = 0; term < maskWords * 32; ++term) {
      if ((get<uint32_t>(record, at + 24 + size_t{term / 32} * 4) >> (term % 32) & 1) == 0) continue;
      if (term < termCount) {
        hit.matched.insert(term);
      } else {
        hit.expanded.insert(expansions.at(term - termCount));
      }
    }
    hits.hits.push_back(hit);
  }
  if ((hits.status & 4) == 0) return hits;
  at = record.size() - hitCount * sizeof(double);
  for (Hit& hit : hits.hits) {
    hit.factor = get<double>(record, at);
    at += sizeof(double);
  }
  return hits;
}

}  // namespace mds::test
