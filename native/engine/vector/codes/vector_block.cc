// See vector_block.h.
#include "vector/codes/vector_block.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace mds {
namespace {

int8_t* allocate_codes(size_t bytes) {
  void* memory = std::aligned_alloc(64, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  // The padding after a vector is zero, because kernels read it.
  std::memset(memory, 0, bytes);
  return static_cast<int8_t*>(memory);
}

}  // namespace

void FreeMemory::operator()(void* memory) const noexcept { std::free(memory); }

CodeBlock::CodeBlock(uint32_t dims, uint32_t capacity)
    : stride_(code_stride(dims)), codes_(allocate_codes(stride_ * capacity)), coded_(capacity), weights_(capacity), identities_(capacity) {}

void CodeBlock::write(uint32_t row, const SlotIdentity& identity, const CodedVector& coded, const int8_t* codes) noexcept {
  identities_[row] = identity;
  coded_[row] = coded;
  weights_[row] = code_weight(coded);
  std::copy_n(codes, stride_, codes_.get() + row * stride_);
}

void CodeBlock::copy_rows(const CodeBlock& from, uint32_t count) noexcept {
  std::copy_n(from.identities_.begin(), count, identities_.begin());
  std::copy_n(from.coded_.begin(), count, coded_.begin());
  std::copy_n(from.weights_.begin(), count, weights_.begin());
  std::copy_n(from.codes_.get(), count * stride_, codes_.get());
}

FullRows::FullRows(uint32_t dims, uint32_t capacity) : memory_(std::make_unique_for_overwrite<float[]>(size_t{dims} * capacity)), rows_(capacity) {
  for (uint32_t row = 0; row < capacity; ++row) rows_[row] = memory_.get() + size_t{row} * dims;
}

}  // namespace mds
