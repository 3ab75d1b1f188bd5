// One segment as records of the index env: its chunks, and a descriptor with the sizes of the columns and the
// checksum of every chunk. Writes and opens segments. Opening reads and checks every byte once, so searches
// never read damaged bytes. The chunks of a sealed segment are decrypted into separate memory, from which
// searches read. Layout: docs/formats/segment.md, docs/formats/index-env.md.
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
  uint32_t crc;  // of the descriptor's bytes; stored in the manifest
  uint32_t chunkCount;
};

// The key that the chunks of a segment are sealed with.
struct ChunkSeal {
  Aead aead;
  uint8_t keyId;  // not 0
  AeadKey key;
};

// Writes the chunks in transactions of at most kStoreTransactionBytes. The last transaction also writes the
// descriptor. A failed write may leave chunks behind. `seal`: null for a plaintext segment.
[[nodiscard]] Result<StoredDescriptor> write_stored_segment(IndexEnv& env, uint64_t serial, const SegmentColumns& columns, const std::atomic<bool>& stop,
                                                            const ChunkSeal* seal = nullptr);

// Returns the number of chunks of a segment with these columns.
[[nodiscard]] uint32_t chunk_count_of(const SegmentColumns& columns);

struct StoredChunks {
  std::vector<uint64_t> columnSizes;
  std::vector<const uint8_t*> chunks;
  std::vector<std::unique_ptr<uint8_t[]>> opened;  // the decrypted chunks of a sealed segment
  uint64_t bytes = 0;
  uint8_t keyId = 0;  // 0: plaintext
};

// Finds and checks the chunks of a segment whose descriptor has the given checksum. `sealing` provides the
// keys of sealed segments.
[[nodiscard]] Result<StoredChunks> open_stored_chunks(const IndexEnv& env, uint64_t serial, uint32_t descriptorCrc, const IndexSealing* sealing = nullptr);

// Returns views of the columns in the chunks. `stored.chunks` must not move while the views are used.
[[nodiscard]] SegmentViews views_of(const StoredChunks& stored);

}  // namespace mds
