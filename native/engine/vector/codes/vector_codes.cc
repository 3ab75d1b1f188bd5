// See vector_codes.h.
#include "vector/codes/vector_codes.h"

#include <algorithm>
#include <cmath>

namespace mds {
namespace {

// The largest allowed element. Its square multiplied by kVectorDimsMax is a finite float.
constexpr float kElementMax = 1e15F;
// Upper bound of the loss by rounding to float of a length that was summed in doubles.
constexpr double kRoundingUp = 1.0 + 1e-6;

}  // namespace

CodedVector encode_vector(std::span<const float> vector, int8_t* codes) noexcept {
  float largest = 0;
  double squares = 0;
  for (const float element : vector) {
    largest = std::max(largest, std::fabs(element));
    squares += double{element} * double{element};
  }
  const float scale = largest / 127.0F;
  // If the scale is so small that its reciprocal overflows, all codes are zero and the residual is the whole
  // vector.
  const float perUnit = scale > 0 && std::isfinite(1.0F / scale) ? 1.0F / scale : 0;
  double lost = 0;
  for (size_t index = 0; index < vector.size(); ++index) {
    const float code = std::clamp(std::nearbyint(vector[index] * perUnit), -127.0F, 127.0F);
    codes[index] = static_cast<int8_t>(code);
    const double off = double{vector[index]} - double{scale} * double{code};
    lost += off * off;
  }
  return {scale, static_cast<float>(std::sqrt(lost) * kRoundingUp), static_cast<float>(std::sqrt(squares))};
}

bool is_usable(std::span<const float> vector) noexcept {
  return std::all_of(vector.begin(), vector.end(), [](float element) { return std::fabs(element) <= kElementMax; });
}

}  // namespace mds
