// See vector_request.h.
#include "vector/vector_request.h"

#include <cmath>
#include <string>

#include "base/limits.h"
#include "vector/vector_limits.h"

namespace mds {
namespace {

constexpr uint32_t kMagic = 0x3351564D;  // "MVQ3"
constexpr uint32_t kFlagDiverse = 1;

Status malformed(const char* what) { return Status::malformed(std::string("vector search: ") + what); }

}  // namespace

Result<VectorSearchRequest> parse_vector_request(Bytes bytes) {
  ByteReader reader(bytes);
  if (reader.u32() != kMagic) return malformed("no header");
  VectorSearchRequest request{};
  request.collection = reader.u32();
  const uint32_t algorithm = reader.u32();
  const uint32_t metric = reader.u32();
  request.k = reader.u32();
  request.candidates = reader.u32();
  const uint32_t flags = reader.u32();
  request.pollWord = reader.u32();
  request.threshold = reader.f64();
  request.diversity = reader.f64();
  const uint32_t dims = reader.count(sizeof(float));
  const uint32_t filterBytes = reader.u32();
  request.signsRescored = reader.u32();
  request.threads = reader.u32();
  request.helpedSlotsMin = reader.u32();
  const uint32_t reserved = reader.u32();
  if (!reader.ok()) return malformed("cut short");
  if (algorithm > 7 || metric > 2 || flags > kFlagDiverse) return malformed("unknown algorithm, metric or flag");
  if (request.k == 0 || request.k > kVectorHitsMax) return malformed("k out of range");
  if (request.candidates < request.k || request.candidates > request.k * kOversampleMax) return malformed("candidates out of range");
  if (std::isnan(request.threshold) || !(request.diversity >= 0 && request.diversity <= 1)) return malformed("threshold or lambda out of range");
  if (request.signsRescored == 0 || request.signsRescored > kSignsRescoredPerHitMax) return malformed("candidates of signs out of range");
  if (request.threads == 0 || request.threads > kScanThreadsMax || reserved != 0) return malformed("threads out of range");
  if (dims == 0 || dims > kVectorDimsMax) return malformed("dimensions out of range");
  request.algorithm = static_cast<VectorAlgorithm>(algorithm);
  request.metric = static_cast<VectorMetric>(metric);
  request.isDiverse = flags == kFlagDiverse;
  request.vector.resize(dims);
  for (float& element : request.vector) element = reader.f32();
  if (!is_usable(request.vector)) return malformed("an element is not finite, or too large");
  request.filter = reader.take(filterBytes);
  if (!reader.ok() || reader.remaining() != 0 || filterBytes > kPlanBytesMax) return malformed("cut short, or bytes behind it");
  return request;
}

}  // namespace mds
