// All vectors of one collection with the same number of dimensions: the current view and the state of its
// writer. A writer must hold the engine's writer mutex. `view` may be called from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/bytes.h"
#include "vector/set/set_view.h"

namespace mds {

// The slots of a document: the consecutive slots of all its chunks.
struct DocumentSlots {
  uint32_t slotBegin;
  uint32_t chunks;
  uint64_t lsn;
};

class VectorSet {
 public:
  VectorSet(uint32_t collection, uint32_t dims);

  [[nodiscard]] uint32_t collection() const noexcept { return collection_; }
  [[nodiscard]] uint32_t dims() const noexcept { return dims_; }
  [[nodiscard]] std::shared_ptr<const SetView> view() const noexcept;
  void publish(std::shared_ptr<const SetView> view) noexcept;

  // Records that a search has requested the kind. The set is trained for it from now on. Returns true on the
  // first request. Callable from any thread.
  bool want(TrainedKind kind) noexcept {
    const uint32_t bit = 1U << static_cast<uint32_t>(kind);
    return (wanted_.fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
  }
  [[nodiscard]] bool wants(TrainedKind kind) const noexcept { return (wanted_.load(std::memory_order_relaxed) >> static_cast<uint32_t>(kind) & 1) != 0; }

  // By docid, as of the newest view. A running SetChange maintains it.
  [[nodiscard]] std::unordered_map<uint32_t, DocumentSlots>& documents() noexcept { return documents_; }
  [[nodiscard]] const DocumentSlots* find(uint32_t docid) const noexcept;

 private:
  uint32_t collection_;
  uint32_t dims_;
  mutable std::mutex mutex_;
  std::shared_ptr<const SetView> view_;
  std::unordered_map<uint32_t, DocumentSlots> documents_;
  std::atomic<uint32_t> wanted_{0};
};

// The next view of a set under construction. All changes become visible together when `publish` is called. If
// memory is exhausted during a change, the changes made so far must be published, too. The document in
// progress is then absent.
class SetChange {
 public:
  explicit SetChange(VectorSet& set);

  // Replaces the vectors of the document in the set. Returns false if the set is full.
  [[nodiscard]] bool put(uint32_t docid, uint64_t lsn, uint32_t chunks, Bytes vectors);
  // Appends a block. All other blocks must be full. None of its slots is live.
  void append_block(BlockRef block);
  // Assigns slots of the newest rows to a document. Replaces the document's previous slots.
  void adopt(uint32_t docid, const DocumentSlots& slots);
  // Does nothing if the set does not contain the document.
  void remove(uint32_t docid);
  [[nodiscard]] SetView& view() noexcept { return *next_; }
  void publish() noexcept;
  // Returns the next view, to be published by another set.
  [[nodiscard]] std::shared_ptr<const SetView> finish() noexcept { return std::move(next_); }

 private:
  [[nodiscard]] BlockRef& block_for_row();
  [[nodiscard]] BlockBits& edit_live(uint32_t block);
  void count_row(const CodedVector& coded) noexcept;

  VectorSet& set_;
  std::shared_ptr<SetView> next_;
  std::unordered_map<uint32_t, std::shared_ptr<BlockBits>> edited_;
};

}  // namespace mds
