// See boolean_iterators.h.
#include "query/exhaustive/boolean_iterators.h"

#include <algorithm>

namespace mds {
namespace {

class AndIterator final : public DocIterator {
 public:
  AndIterator(std::vector<DocIteratorPtr> children, StopSignal& stop) : children_(std::move(children)), stop_(stop) {
    for (const DocIteratorPtr& child : children_) byCost_.push_back(child.get());
    std::stable_sort(byCost_.begin(), byCost_.end(), [](const DocIterator* a, const DocIterator* b) { return a->cost() < b->cost(); });
    align(byCost_[0]->doc());
  }
  uint32_t advance(uint32_t target) override {
    if (target > doc_) align(byCost_[0]->advance(target));
    return doc_;
  }
  double score() override {
    double sum = 0;
    for (const DocIteratorPtr& child : children_) sum += child->score();
    return sum;
  }
  uint64_t cost() const noexcept override { return byCost_[0]->cost(); }

 private:
  // Starts at the match of the child with the lowest cost. A child behind the candidate is advanced to it. A
  // child that lands past it sets the next candidate.
  void align(uint32_t candidate) {
    size_t agreed = 1;
    while (candidate != kEndOfList && agreed < byCost_.size()) {
      if (stop_.after(1)) candidate = kEndOfList;
      const uint32_t found = candidate == kEndOfList ? kEndOfList : byCost_[agreed]->advance(candidate);
      if (found == candidate) {
        ++agreed;
      } else {
        candidate = byCost_[0]->advance(found);
        agreed = 1;
      }
    }
    doc_ = candidate;
  }

  std::vector<DocIteratorPtr> children_;
  std::vector<DocIterator*> byCost_;
  StopSignal& stop_;
};

class OrIterator final : public DocIterator {
 public:
  explicit OrIterator(std::vector<DocIteratorPtr> children) : children_(std::move(children)) {
    for (const DocIteratorPtr& child : children_) {
      cost_ += child->cost();
      heap_.push_back(child.get());
    }
    std::make_heap(heap_.begin(), heap_.end(), later);
    doc_ = heap_.front()->doc();
  }
  uint32_t advance(uint32_t target) override {
    while (heap_.front()->doc() < target) {
      std::pop_heap(heap_.begin(), heap_.end(), later);
      heap_.back()->advance(target);
      std::push_heap(heap_.begin(), heap_.end(), later);
    }
    return doc_ = heap_.front()->doc();
  }
  double score() override {
    double sum = 0;
    for (const DocIteratorPtr& child : children_) {
      if (child->doc() == doc_) sum += child->score();
    }
    return sum;
  }
  uint64_t cost() const noexcept override { return cost_; }

 private:
  static bool later(const DocIterator* a, const DocIterator* b) noexcept { return a->doc() > b->doc(); }

  std::vector<DocIteratorPtr> children_;
  std::vector<DocIterator*> heap_;  // ordered by current match
  uint64_t cost_ = 0;
};

class AndNotIterator final : public DocIterator {
 public:
  AndNotIterator(DocIteratorPtr wanted, DocIteratorPtr excluded, StopSignal& stop) : wanted_(std::move(wanted)), excluded_(std::move(excluded)), stop_(stop) { settle(); }
  uint32_t advance(uint32_t target) override {
    if (target > doc_) {
      wanted_->advance(target);
      settle();
    }
    return doc_;
  }
  double score() override { return wanted_->score(); }
  uint64_t cost() const noexcept override { return wanted_->cost(); }

 private:
  void settle() {
    doc_ = wanted_->doc();
    while (doc_ != kEndOfList && excluded_->advance(doc_) == doc_) doc_ = stop_.after(1) ? kEndOfList : wanted_->advance(doc_ + 1);
  }

  DocIteratorPtr wanted_;
  DocIteratorPtr excluded_;
  StopSignal& stop_;
};

}  // namespace

DocIteratorPtr make_and_iterator(std::vector<DocIteratorPtr> children, StopSignal& stop) {
  if (children.size() == 1) return std::move(children[0]);
  return std::make_unique<AndIterator>(std::move(children), stop);
}

DocIteratorPtr make_or_iterator(std::vector<DocIteratorPtr> children) {
  if (children.size() == 1) return std::move(children[0]);
  return std::make_unique<OrIterator>(std::move(children));
}

DocIteratorPtr make_and_not_iterator(DocIteratorPtr wanted, DocIteratorPtr excluded, StopSignal& stop) {
  return std::make_unique<AndNotIterator>(std::move(wanted), std::move(excluded), stop);
}

}  // namespace mds
