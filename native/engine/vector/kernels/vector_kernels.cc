// See vector_kernels.h. NumKong is used as a header library. The functions used here compile in seconds. The
// whole library has thousands of functions and compiles in minutes. CMake detects the instruction sets that
// the compiler supports with NumKong's own probes (NK_TARGET_*). NumKong detects those of the processor when
// the engine is loaded.
#include "vector/kernels/vector_kernels.h"

#include <numkong/capabilities.h>
#include <numkong/dot.h>

#include "vector/kernels/table_lookup.h"

namespace mds {
namespace {

// The wrappers have the same target attribute as the kernel, so that the compiler inlines it.
// NOLINTBEGIN(bugprone-macro-parentheses): an attribute and parts of names are no expressions
#define MDS_VECTOR_KERNELS(isa, i8, f32, u4, tables, target)                                                                                   \
  target int32_t dot_i8_##isa(const int8_t* a, const int8_t* b, size_t dims) noexcept {                                                        \
    nk_i32_t dot = 0;                                                                                                                          \
    nk_dot_i8_##i8(a, b, dims, &dot);                                                                                                          \
    return dot;                                                                                                                                \
  }                                                                                                                                            \
  target void dot_i8_rows_##isa(const int8_t* query, const int8_t* rows, size_t stride, size_t dims, uint32_t count, int32_t* dots) noexcept { \
    for (uint32_t row = 0; row < count; ++row) nk_dot_i8_##i8(query, rows + row * stride, dims, dots + row);                                   \
  }                                                                                                                                            \
  target void dot_i8_list_##isa(const int8_t* query, const int8_t* const* rows, size_t dims, uint32_t count, int32_t* dots) noexcept {         \
    for (uint32_t row = 0; row < count; ++row) nk_dot_i8_##i8(query, rows[row], dims, dots + row);                                             \
  }                                                                                                                                            \
  target double dot_f32_##isa(const float* a, const float* b, size_t dims) noexcept {                                                          \
    nk_f64_t dot = 0;                                                                                                                          \
    nk_dot_f32_##f32(a, b, dims, &dot);                                                                                                        \
    return dot;                                                                                                                                \
  }                                                                                                                                            \
  target void multiply_##isa(MatrixRows left, size_t rows, size_t inner, MatrixRows right, size_t columns, float* out) noexcept {              \
    matrix::multiply(left, rows, inner, right, columns, out);                                                                                  \
  }                                                                                                                                            \
  constexpr VectorKernels k_##isa{#isa,          dot_i8_##isa,   dot_i8_rows_##isa,          dot_i8_list_##isa, lookup::dot_u4_##u4,           \
                                  dot_f32_##isa, multiply_##isa, lookup::sum_tables_##tables};
// NOLINTEND(bugprone-macro-parentheses)

MDS_VECTOR_KERNELS(serial, serial, serial, serial, serial, )
#if NK_TARGET_HASWELL
MDS_VECTOR_KERNELS(haswell, haswell, haswell, avx2, avx2, __attribute__((target("avx2,f16c,fma,bmi,bmi2,popcnt"))))
#endif
#if NK_TARGET_HASWELL && NK_TARGET_SKYLAKE && NK_TARGET_ICELAKE
MDS_VECTOR_KERNELS(icelake, icelake, skylake, avx512, avx512,
                   __attribute__((target("avx2,f16c,fma,bmi,bmi2,popcnt,avx512f,avx512vl,avx512bw,avx512dq,avx512vnni,avx512vbmi,avx512vpopcntdq"))))
#endif
#if NK_TARGET_NEON && NK_TARGET_NEONSDOT
MDS_VECTOR_KERNELS(neonsdot, neonsdot, neon, serial, serial, __attribute__((target("arch=armv8.2-a+dotprod"))))
#endif
#undef MDS_VECTOR_KERNELS

const VectorKernels& best_kernels() noexcept {
  [[maybe_unused]] const nk_capability_t has = nk_capabilities_();
#if NK_TARGET_HASWELL && NK_TARGET_SKYLAKE && NK_TARGET_ICELAKE
  if ((has & nk_cap_icelake_k) != 0 && (has & nk_cap_skylake_k) != 0) return k_icelake;
#endif
#if NK_TARGET_HASWELL
  if ((has & nk_cap_haswell_k) != 0) return k_haswell;
#endif
#if NK_TARGET_NEON && NK_TARGET_NEONSDOT
  if ((has & nk_cap_neonsdot_k) != 0) return k_neonsdot;
#endif
  return k_serial;
}

}  // namespace

const VectorKernels& vector_kernels() noexcept {
  static const VectorKernels& best = best_kernels();
  return best;
}

const VectorKernels& serial_vector_kernels() noexcept { return k_serial; }

}  // namespace mds
