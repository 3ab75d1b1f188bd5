// The manifest. It lists the stored segments that form the index, which of their documents are live, and
// which collections are dropped. It also contains the last binlog entry up to which the index is complete.
// One value, replaced in the last transaction of a flush or merge. A fixed, versioned layout with a checksum:
// docs/formats/index-env.md.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "storage/epoch.h"

namespace mds {

struct ManifestSegment {
  uint64_t serial;
  uint64_t lsnLast;        // the highest LSN of the segment's entries
  uint64_t liveVersion;    // of its live-docs record; 0: all documents are live, no record
  uint32_t descriptorCrc;  // of its descriptor record
  uint32_t liveCrc;        // of its live-docs record; 0 without one
};

struct Manifest {
  Epoch epoch{};
  uint32_t analysis = 0;  // analysis version: src/domain/documents/analysis.ts
  // Every entry up to this LSN is in the index. 0: the index is not usable and must be rebuilt.
  uint64_t checkpoint = 0;
  uint64_t serialNext = 1;
  std::vector<ManifestSegment> segments;
  std::vector<uint32_t> droppedCollections;  // ascending
};

[[nodiscard]] std::vector<uint8_t> encode_manifest(const Manifest& manifest);
// Returns kCorrupt if the bytes are not valid output of encode_manifest.
[[nodiscard]] Result<Manifest> decode_manifest(Bytes bytes);

}  // namespace mds
