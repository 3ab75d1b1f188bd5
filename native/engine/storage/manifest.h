// The manifest: which stored segments form the index, which of their documents are alive, which collections
// are dropped, and up to which entry of the binlog that is complete. One value, replaced in the last
// transaction of a flush or merge. A fixed, versioned layout behind a checksum: docs/formats/index-env.md.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "storage/epoch.h"

namespace mds {

struct ManifestSegment {
  uint64_t serial;
  uint64_t lsnLast;        // no entry of the segment comes from a later one
  uint64_t liveVersion;    // of its live-docs record; 0: all alive, no record
  uint32_t descriptorCrc;  // of its descriptor record
  uint32_t liveCrc;        // of its live-docs record, 0 without one
};

struct Manifest {
  Epoch epoch{};
  uint32_t analysis = 0;  // version of the analysis: src/domain/documents/analysis_version.ts
  // Every entry up to it is reflected. 0: the index is not usable and must be rebuilt.
  uint64_t checkpoint = 0;
  uint64_t serialNext = 1;
  std::vector<ManifestSegment> segments;
  std::vector<uint32_t> droppedCollections;  // ascending
};

[[nodiscard]] std::vector<uint8_t> encode_manifest(const Manifest& manifest);
// Corrupt where the bytes are not what encode_manifest wrote.
[[nodiscard]] Result<Manifest> decode_manifest(Bytes bytes);

}  // namespace mds
