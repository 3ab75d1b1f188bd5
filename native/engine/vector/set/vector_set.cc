// See vector_set.h.
#include "vector/set/vector_set.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace mds {
namespace {

constexpr float kUnitTolerance = 1e-3F;

}  // namespace

VectorSet::VectorSet(uint32_t collection, uint32_t dims) : collection_(collection), dims_(dims) {
  auto view = std::make_shared<SetView>();
  view->dims = dims;
  view_ = std::move(view);
}

std::shared_ptr<const SetView> VectorSet::view() const noexcept {
  const std::lock_guard lock(mutex_);
  return view_;
}

void VectorSet::publish(std::shared_ptr<const SetView> view) noexcept {
  // The previous view is released after the lock is released, because its destructor may free blocks.
  const std::lock_guard lock(mutex_);
  view_.swap(view);
}

const DocumentSlots* VectorSet::find(uint32_t docid) const noexcept {
  const auto found = documents_.find(docid);
  return found == documents_.end() ? nullptr : &found->second;
}

SetChange::SetChange(VectorSet& set) : set_(set), next_(std::make_shared<SetView>(*set.view())) {}

bool SetChange::put(uint32_t docid, uint64_t lsn, uint32_t chunks, Bytes vectors) {
  if (chunks > kVectorSlotsMax - next_->slots) return false;
  remove(docid);
  const uint32_t slotBegin = next_->slots;
  const size_t rowBytes = next_->dims * sizeof(float);
  for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
    const BlockRef& block = block_for_row();
    const std::span<float> row = block.full->space(block.count, next_->dims);
    std::memcpy(row.data(), vectors.data() + chunk * rowBytes, rowBytes);
    block.codes->write(block.count, {docid, static_cast<uint16_t>(chunk), static_cast<uint16_t>(chunks), lsn}, row);
    count_row(block.codes->coded(block.count));
  }
  adopt(docid, {slotBegin, chunks, lsn});
  return true;
}

void SetChange::append_block(BlockRef block) {
  next_->blocks.push_back(std::move(block));
  BlockRef& last = next_->blocks.back();
  const uint32_t rows = std::exchange(last.count, 0);
  for (uint32_t row = 0; row < rows; ++row) count_row(last.codes->coded(row));
}

void SetChange::adopt(uint32_t docid, const DocumentSlots& slots) {
  remove(docid);
  // Everything that may fail is done first.
  const uint32_t slotLast = slots.slotBegin + slots.chunks - 1;
  for (uint32_t block = slots.slotBegin / kBlockSlots; block <= slotLast / kBlockSlots; ++block) (void)edit_live(block);
  set_.documents().emplace(docid, slots);
  for (uint32_t slot = slots.slotBegin; slot <= slotLast; ++slot) set_row(edit_live(slot / kBlockSlots), slot % kBlockSlots);
  next_->docidEnd = std::max(next_->docidEnd, docid + 1);
  next_->liveSlots += slots.chunks;
  next_->documents += 1;
  next_->hasChunks = next_->hasChunks || slots.chunks > 1;
}

void SetChange::remove(uint32_t docid) {
  const auto found = set_.documents().find(docid);
  if (found == set_.documents().end()) return;
  const DocumentSlots slots = found->second;
  const uint32_t slotLast = slots.slotBegin + slots.chunks - 1;
  for (uint32_t block = slots.slotBegin / kBlockSlots; block <= slotLast / kBlockSlots; ++block) (void)edit_live(block);
  for (uint32_t slot = slots.slotBegin; slot <= slotLast; ++slot) clear_row(edit_live(slot / kBlockSlots), slot % kBlockSlots);
  set_.documents().erase(found);
  next_->liveSlots -= slots.chunks;
  next_->documents -= 1;
}

void SetChange::publish() noexcept { set_.publish(next_); }

BlockRef& SetChange::block_for_row() {
  if (next_->blocks.empty() || next_->blocks.back().count == kBlockSlots) {
    const uint32_t capacity = next_->blocks.empty() ? kFirstBlockSlots : kBlockSlots;
    next_->blocks.push_back(
        {std::make_shared<CodeBlock>(next_->dims, capacity), std::make_shared<FullRows>(next_->dims, capacity), std::make_shared<const BlockBits>(BlockBits{}), 0});
    return next_->blocks.back();
  }
  BlockRef& last = next_->blocks.back();
  if (last.count < last.codes->capacity()) return last;
  // A full small block is copied to a larger one. Existing views keep the old block.
  const uint32_t capacity = std::min(last.codes->capacity() * 4, kBlockSlots);
  auto codes = std::make_shared<CodeBlock>(next_->dims, capacity);
  auto full = std::make_shared<FullRows>(next_->dims, capacity);
  codes->copy_rows(*last.codes, last.count);
  for (uint32_t row = 0; row < last.count; ++row) std::copy_n(last.full->row(row), next_->dims, full->space(row, next_->dims).begin());
  last.codes = std::move(codes);
  last.full = std::move(full);
  return last;
}

BlockBits& SetChange::edit_live(uint32_t block) {
  std::shared_ptr<BlockBits>& bits = edited_[block];
  if (bits == nullptr) {
    bits = std::make_shared<BlockBits>(*next_->blocks[block].live);
    next_->blocks[block].live = bits;
  }
  return *bits;
}

void SetChange::count_row(const CodedVector& coded) noexcept {
  next_->blocks.back().count += 1;
  next_->slots += 1;
  next_->isUnit = next_->isUnit && std::fabs(coded.norm - 1.0F) <= kUnitTolerance;
}

}  // namespace mds
