// One segment as records of the index env: its chunks, and a descriptor with the sizes of the columns and the checksum of every chunk. Writing and opening. Opening reads
// every byte once and checks it, so that no search can meet damaged ones. The chunks of a sealed segment are opened into memory of their own, which is what searches
// read. Layout: docs/formats/segment.md, docs/formats/index-env.md.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/aead.h"
#include "base/status.h"
#include "segment/segment.h"
#include "storage/index_env.h"
#include "storage/index_sealing.h"

namespace mds {

struct StoredDescriptor {
  uint32_t crc;  // of the descriptor's bytes: the manifest names it
  uint32_t chunkCount;
};

// What the chunks of a segment are sealed with.
struct ChunkSeal {
  Aead aead;
  uint8_t keyId;  // not 0
  AeadKey key;
};

// Writes the chunks in transactions of at most kStoreTransactionBytes, the descriptor in the last one. A write that fails may leave some of them behind.
// `seal`: null for a segment in clear.
[[nodiscard]] Result<StoredDescriptor> write_stored_segment(IndexEnv& env, uint64_t serial, const SegmentColumns& columns, const std::atomic<bool>& stop,
                                                            const ChunkSeal* seal = nullptr);

// How many chunks a segment of these columns has.
[[nodiscard]] uint32_t chunk_count_of(const SegmentColumns& columns);

struct StoredChunks {
  std::vector<uint64_t> columnSizes;
  std::vector<const uint8_t*> chunks;
  std::vector<std::unique_ptr<uint8_t[]>> opened;  // where the chunks of a sealed segment lie
  uint64_t bytes = 0;
  uint8_t keyId = 0;  // 0: in clear
};

// Finds and checks the chunks of a segment whose descriptor has this checksum. `sealing` has the keys of sealed ones.
[[nodiscard]] Result<StoredChunks> open_stored_chunks(const IndexEnv& env, uint64_t serial, uint32_t descriptorCrc, const IndexSealing* sealing = nullptr);

// Views of the columns in the chunks; `stored.chunks` must stay where it is as long as they are used.
[[nodiscard]] SegmentViews views_of(const StoredChunks& stored);

}  // namespace mds
