// See manifest.h.
#include "storage/manifest.h"

#include <algorithm>
#include <cstring>

#include "segment/segment_columns.h"
#include "storage/crc32c.h"

namespace mds {
namespace {

constexpr uint32_t kManifestMagic = 0x314E414D;  // "MAN1"

struct ManifestHeader {
  uint32_t crc;  // of all following fields and data
  uint32_t magic;
  uint32_t segmentVersion;
  uint32_t segmentCount;
  Epoch epoch;
  uint64_t checkpoint;
  uint64_t serialNext;
  uint32_t droppedCount;
  uint32_t analysis;
};

static_assert(sizeof(ManifestHeader) == 56 && sizeof(ManifestSegment) == 32);

}  // namespace

std::vector<uint8_t> encode_manifest(const Manifest& manifest) {
  const ManifestHeader header{0,
                              kManifestMagic,
                              kSegmentVersion,
                              static_cast<uint32_t>(manifest.segments.size()),
                              manifest.epoch,
                              manifest.checkpoint,
                              manifest.serialNext,
                              static_cast<uint32_t>(manifest.droppedCollections.size()),
                              manifest.analysis};
  const size_t segmentBytes = manifest.segments.size() * sizeof(ManifestSegment);
  const size_t droppedBytes = manifest.droppedCollections.size() * sizeof(uint32_t);
  std::vector<uint8_t> bytes(sizeof header + segmentBytes + droppedBytes);
  std::memcpy(bytes.data(), &header, sizeof header);
  if (segmentBytes > 0) std::memcpy(bytes.data() + sizeof header, manifest.segments.data(), segmentBytes);
  if (droppedBytes > 0) std::memcpy(bytes.data() + sizeof header + segmentBytes, manifest.droppedCollections.data(), droppedBytes);
  const uint32_t crc = crc32c(Bytes(bytes).subspan(sizeof crc));
  std::memcpy(bytes.data(), &crc, sizeof crc);
  return bytes;
}

Result<Manifest> decode_manifest(Bytes bytes) {
  ManifestHeader header{};
  if (bytes.size() < sizeof header) return Status::corrupt("manifest: shorter than its header");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (crc32c(bytes.subspan(sizeof header.crc)) != header.crc || header.magic != kManifestMagic) return Status::corrupt("manifest: checksum or magic");
  if (header.segmentVersion != kSegmentVersion) return Status::corrupt("manifest: segments of version " + std::to_string(header.segmentVersion));
  const uint64_t expected = sizeof header + uint64_t{header.segmentCount} * sizeof(ManifestSegment) + uint64_t{header.droppedCount} * sizeof(uint32_t);
  if (bytes.size() != expected) return Status::corrupt("manifest: " + std::to_string(bytes.size()) + " bytes, " + std::to_string(expected) + " expected");
  Manifest manifest{
      header.epoch, header.analysis, header.checkpoint, header.serialNext, std::vector<ManifestSegment>(header.segmentCount), std::vector<uint32_t>(header.droppedCount)};
  const uint8_t* at = bytes.data() + sizeof header;
  if (header.segmentCount > 0) std::memcpy(manifest.segments.data(), at, header.segmentCount * sizeof(ManifestSegment));
  at += header.segmentCount * sizeof(ManifestSegment);
  if (header.droppedCount > 0) std::memcpy(manifest.droppedCollections.data(), at, header.droppedCount * sizeof(uint32_t));
  for (const ManifestSegment& segment : manifest.segments) {
    if (segment.serial >= manifest.serialNext) return Status::corrupt("manifest: segment " + std::to_string(segment.serial) + " is not below the next serial");
  }
  if (!std::is_sorted(manifest.droppedCollections.begin(), manifest.droppedCollections.end())) return Status::corrupt("manifest: dropped collections are out of order");
  return manifest;
}

}  // namespace mds
