// See set_loader.h.
#include "vector/files/set_loader.h"

#include <algorithm>

namespace mds {
namespace {

// Loads one block of slots of the file, starting at slot `begin`.
BlockRef load_block(const VectorFile& file, uint32_t begin) {
  const uint32_t dims = file.name().dims;
  BlockRef block{std::make_shared<CodeBlock>(dims, kBlockSlots), nullptr, std::make_shared<const BlockBits>(BlockBits{}), std::min(kBlockSlots, file.slots() - begin)};
  if (block.count < kBlockSlots) block.full = std::make_shared<FullRows>(dims, kBlockSlots);
  for (uint32_t row = 0; row < block.count; ++row) {
    const StoredGroup& group = file.group_of(begin + row);
    const uint32_t at = begin + row - group.slotBegin;
    block.codes->write(row, group.identities[at], group.coded[at], group.codes + at * code_stride(dims));
    if (block.full != nullptr) std::copy_n(group.full + size_t{at} * dims, dims, block.full->space(row, dims).begin());
  }
  if (block.full == nullptr) block.full = stored_rows(file, begin);
  return block;
}

}  // namespace

std::shared_ptr<FullRows> stored_rows(const VectorFile& file, uint32_t slotBegin) {
  std::vector<const float*> rows(kBlockSlots);
  std::vector<std::shared_ptr<const void>> owners;
  for (uint32_t row = 0; row < kBlockSlots; ++row) {
    const StoredGroup& group = file.group_of(slotBegin + row);
    rows[row] = group.full + size_t{slotBegin + row - group.slotBegin} * file.name().dims;
    if (owners.empty() || owners.back() != group.owner) owners.push_back(group.owner);
  }
  return std::make_shared<FullRows>(std::move(rows), std::move(owners));
}

void load_set(VectorSet& set, const VectorFile& file) {
  SetChange change(set);
  change.view().generation = file.name().generation;
  for (uint32_t begin = 0; begin < file.slots(); begin += kBlockSlots) change.append_block(load_block(file, begin));
  const SetView& view = change.view();
  for (uint32_t slot = 0; slot < view.slots;) {
    const SlotIdentity first = view.identity(slot);
    uint32_t end = slot + 1;
    while (end < view.slots && view.identity(end).docid == first.docid && view.identity(end).lsn == first.lsn && view.identity(end).chunk == end - slot) ++end;
    const DocumentSlots* known = set.find(first.docid);
    const bool isWhole = first.chunk == 0 && end - slot == first.chunks;
    if (isWhole && (known == nullptr || known->lsn < first.lsn)) change.adopt(first.docid, {slot, end - slot, first.lsn});
    slot = end;
  }
  change.publish();
}

}  // namespace mds
