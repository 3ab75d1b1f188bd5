// A block of up to kBlockSlots slots of a vector set. Each column is stored by row. The writer appends rows
// after the rows that views count. Counted rows never change. Memory order: a row is written before the view
// that counts it is published under the set's mutex, which every reader locks.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vector/codes/vector_codes.h"

namespace mds {

struct FreeMemory {
  void operator()(void* memory) const noexcept;
};

// The document and chunk of a slot. Stored in this layout.
struct SlotIdentity {
  uint32_t docid;
  uint16_t chunk;
  uint16_t chunks;  // of the document; detects a document of which only some chunks were stored
  uint64_t lsn;
};
static_assert(sizeof(SlotIdentity) == 16);

class CodeBlock {
 public:
  CodeBlock(uint32_t dims, uint32_t capacity);

  [[nodiscard]] uint32_t capacity() const noexcept { return static_cast<uint32_t>(coded_.size()); }
  [[nodiscard]] const int8_t* codes(uint32_t row) const noexcept { return codes_.get() + row * stride_; }
  // One factor per row. It converts an inner product of codes to an inner product of vectors of length 1.
  [[nodiscard]] const float* weights() const noexcept { return weights_.data(); }
  [[nodiscard]] const CodedVector& coded(uint32_t row) const noexcept { return coded_[row]; }
  [[nodiscard]] const SlotIdentity& identity(uint32_t row) const noexcept { return identities_[row]; }

  void write(uint32_t row, const SlotIdentity& identity, std::span<const float> vector) noexcept {
    identities_[row] = identity;
    coded_[row] = encode_vector(vector, codes_.get() + row * stride_);
    weights_[row] = code_weight(coded_[row]);
  }
  // Writes a row in its stored form. `codes` includes the padding.
  void write(uint32_t row, const SlotIdentity& identity, const CodedVector& coded, const int8_t* codes) noexcept;
  [[nodiscard]] size_t stride() const noexcept { return stride_; }
  void copy_rows(const CodeBlock& from, uint32_t count) noexcept;

 private:
  size_t stride_;
  std::unique_ptr<int8_t[], FreeMemory> codes_;
  std::vector<CodedVector> coded_;
  std::vector<float> weights_;
  std::vector<SlotIdentity> identities_;
};

// The f32 vectors of a block's rows. They are kept in allocated memory until the block is full and stored,
// and in mapped files afterwards. Rows are appended in the same way as codes.
class FullRows {
 public:
  // Allocates memory for `capacity` rows.
  FullRows(uint32_t dims, uint32_t capacity);
  // References rows in memory that `owners` keep alive.
  FullRows(std::vector<const float*> rows, std::vector<std::shared_ptr<const void>> owners) noexcept : rows_(std::move(rows)), owners_(std::move(owners)) {}

  [[nodiscard]] const float* row(uint32_t row) const noexcept { return rows_[row]; }
  [[nodiscard]] bool is_mapped() const noexcept { return memory_ == nullptr; }
  // Writable. Valid only for rows in allocated memory.
  [[nodiscard]] std::span<float> space(uint32_t row, uint32_t dims) noexcept { return {memory_.get() + size_t{row} * dims, dims}; }

 private:
  std::unique_ptr<float[]> memory_;
  std::vector<const float*> rows_;
  std::vector<std::shared_ptr<const void>> owners_;
};

}  // namespace mds
