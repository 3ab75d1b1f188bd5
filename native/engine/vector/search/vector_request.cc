// See vector_request.h.
#include "vector/search/vector_request.h"

#include <cmath>
#include <string>

#include "base/limits.h"
#include "vector/vector_limits.h"

namespace mds {
namespace {

constexpr uint32_t kVectorRequestMagic = 0x3351564D;  // "MVQ3"
constexpr uint32_t kFlagDiverse = 1;

Status malformed_request(const char* what) { return Status::malformed(std::string("vector search: ") + what); }

}  // namespace

Result<VectorSearchRequest> parse_vector_request(Bytes bytes) {
  ByteReader reader(bytes);
  if (reader.u32() != kVectorRequestMagic) return malformed_request("no header");
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
  if (!reader.ok()) return malformed_request("cut short");
  if (algorithm > 7 || metric > 2 || flags > kFlagDiverse) return malformed_request("unknown algorithm, metric or flag");
  if (request.k == 0 || request.k > kVectorHitsMax) return malformed_request("k out of range");
  if (request.candidates < request.k || request.candidates > request.k * kOversampleMax) return malformed_request("candidates out of range");
  if (std::isnan(request.threshold) || !(request.diversity >= 0 && request.diversity <= 1)) return malformed_request("threshold or lambda out of range");
  if (request.signsRescored == 0 || request.signsRescored > kSignsRescoredPerHitMax) return malformed_request("candidates of signs out of range");
  if (request.threads == 0 || request.threads > kScanThreadsMax || reserved != 0) return malformed_request("threads out of range");
  if (dims == 0 || dims > kVectorDimsMax) return malformed_request("dimensions out of range");
  request.algorithm = static_cast<VectorAlgorithm>(algorithm);
  request.metric = static_cast<VectorMetric>(metric);
  request.isDiverse = flags == kFlagDiverse;
  request.vector.resize(dims);
  for (float& element : request.vector) element = reader.f32();
  if (!is_usable(request.vector)) return malformed_request("an element is not finite, or too large");
  request.filter = reader.take(filterBytes);
  if (!reader.ok() || reader.remaining() != 0 || filterBytes > kPlanBytesMax) return malformed_request("cut short, or bytes behind it");
  return request;
}

}  // namespace mds
