// The stamps of all vector records in the source of truth: rows of u32 collection, u32 docid, u64 lsn, u32
// dims, ascending by collection and docid. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"

namespace mds {

struct Stamp {
  uint32_t collection;
  uint32_t docid;
  uint64_t lsn;
  uint32_t dims;
};

class StampRows {
 public:
  [[nodiscard]] static Result<StampRows> parse(Bytes bytes) {
    constexpr size_t kRowBytes = 20;
    if (bytes.size() % kRowBytes != 0) return Status::malformed("vector stamps: not whole rows");
    StampRows stamps;
    stamps.rows_.reserve(bytes.size() / kRowBytes);
    for (ByteReader reader(bytes); reader.remaining() > 0;) {
      const Stamp stamp{reader.u32(), reader.u32(), reader.u64(), reader.u32()};
      if (!stamps.rows_.empty() && key(stamps.rows_.back()) >= key(stamp)) return Status::malformed("vector stamps: not ascending");
      stamps.rows_.push_back(stamp);
    }
    return stamps;
  }

  [[nodiscard]] std::span<const Stamp> rows() const noexcept { return rows_; }

  [[nodiscard]] const Stamp* find(uint32_t collection, uint32_t docid) const noexcept {
    const std::pair<uint32_t, uint32_t> wanted(collection, docid);
    const auto at = std::lower_bound(rows_.begin(), rows_.end(), wanted, [](const Stamp& stamp, const auto& than) { return key(stamp) < than; });
    return at == rows_.end() || key(*at) != wanted ? nullptr : &*at;
  }

 private:
  [[nodiscard]] static std::pair<uint32_t, uint32_t> key(const Stamp& stamp) noexcept { return {stamp.collection, stamp.docid}; }

  std::vector<Stamp> rows_;
};

}  // namespace mds
