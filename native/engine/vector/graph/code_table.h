// The eight-bit codes of a view's slots, located with one load. Keeps the blocks that it reads alive. Usable
// by any number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "vector/kernels/vector_kernels.h"
#include "vector/set/set_view.h"

namespace mds {

class CodeTable {
 public:
  CodeTable() = default;
  explicit CodeTable(const SetView& view) : stride_(code_stride(view.dims)), dims_(view.dims) {
    blocks_.reserve(view.blocks.size());
    owners_.reserve(view.blocks.size());
    for (const BlockRef& block : view.blocks) {
      blocks_.push_back({block.codes->codes(0), block.codes->weights()});
      owners_.push_back(block.codes);
    }
  }

  [[nodiscard]] size_t dims() const noexcept { return dims_; }
  [[nodiscard]] const int8_t* codes(size_t slot) const noexcept { return blocks_[slot / kBlockSlots].codes + slot % kBlockSlots * stride_; }
  [[nodiscard]] float weight(size_t slot) const noexcept { return blocks_[slot / kBlockSlots].weights[slot % kBlockSlots]; }
  // Returns 1 - cosine between a slot and the vector with the given codes and weight.
  [[nodiscard]] float distance(const int8_t* probe, float probeWeight, size_t slot) const noexcept {
    return 1.0F - static_cast<float>(kernels_->dot_i8(probe, codes(slot), dims_)) * probeWeight * weight(slot);
  }
  void prefetch(size_t slot) const noexcept {
    const int8_t* row = codes(slot);
    const size_t bytes = std::min(stride_, kPrefetchedBytes);
    for (size_t at = 0; at < bytes; at += 64) __builtin_prefetch(row + at);
  }

 private:
  // The hardware prefetches the rest of a longer row.
  static constexpr size_t kPrefetchedBytes = 512;

  struct Block {
    const int8_t* codes;
    const float* weights;
  };
  std::vector<Block> blocks_;
  std::vector<std::shared_ptr<const CodeBlock>> owners_;
  size_t stride_ = 0;
  size_t dims_ = 0;
  const VectorKernels* kernels_ = &vector_kernels();
};

}  // namespace mds
