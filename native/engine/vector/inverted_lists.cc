// IVF: the slots of each of some centres of k-means. A search reads the codes of the lists whose centres are nearest to the query.
#include <algorithm>
#include <array>
#include <cmath>

#include "vector/best_documents.h"
#include "vector/code_table.h"
#include "vector/kmeans.h"
#include "vector/trained_index.h"
#include "vector/vector_kernels.h"
#include "vector/vector_limits.h"

namespace mds {
namespace {

class InvertedLists final : public TrainedIndex {
 public:
  InvertedLists(CodeTable table, FloatRows centres, std::vector<uint32_t> begins, std::vector<uint32_t> members) noexcept
      : table_(std::move(table)), centres_(std::move(centres)), begins_(std::move(begins)), members_(std::move(members)) {}

  [[nodiscard]] uint32_t slots() const noexcept override { return static_cast<uint32_t>(members_.size()); }
  [[nodiscard]] uint64_t bytes() const noexcept override { return centres_.values.size() * sizeof(float) + (begins_.size() + members_.size()) * sizeof(uint32_t); }

  void find(const SetView& view, const SlotFilter& filter, const VectorQuery& query, size_t wanted, std::vector<uint32_t>& found, StopSignal& stop) const override {
    BestDocuments best(wanted);
    const VectorKernels& kernels = vector_kernels();
    std::array<const int8_t*, kTogether> rows{};
    std::array<int32_t, kTogether> dots{};
    for (const uint32_t list : nearest_lists(query)) {
      const uint32_t end = begins_[list + 1];
      for (uint32_t begin = begins_[list]; begin < end && !stop.after(kTogether / 4); begin += kTogether) {
        const uint32_t count = std::min(kTogether, end - begin);
        for (uint32_t at = 0; at < count; ++at) rows[at] = table_.codes(members_[begin + at]);
        // While these are read, the next come.
        for (uint32_t at = begin + count; at < std::min(end, begin + 2 * kTogether); ++at) table_.prefetch(members_[at]);
        kernels.dot_i8_list(query.codes(), rows.data(), view.dims, count, dots.data());
        for (uint32_t at = 0; at < count; ++at) {
          const uint32_t slot = members_[begin + at];
          const double rank = query.bounds(dots[at], view.coded(slot)).rank;
          if (rank >= best.bound() && filter.passes(slot)) best.add({rank, view.identity(slot).docid, slot});
        }
      }
    }
    for (const VectorCandidate& candidate : best.cut()) found.push_back(candidate.slot);
  }

 private:
  static constexpr uint32_t kTogether = 16;  // rows

  [[nodiscard]] std::vector<uint32_t> nearest_lists(const VectorQuery& query) const {
    std::vector<std::pair<double, uint32_t>> closeness;
    for (uint32_t list = 0; list < centres_.count(); ++list) {
      closeness.emplace_back(-vector_kernels().dot_f32(query.full().data(), centres_.row(list), centres_.dims), list);
    }
    const size_t probed = std::min(closeness.size(), std::max<size_t>(kListsProbedMin, closeness.size() / kListsProbedDivisor));
    std::partial_sort(closeness.begin(), closeness.begin() + static_cast<std::ptrdiff_t>(probed), closeness.end());
    std::vector<uint32_t> lists;
    for (size_t index = 0; index < probed; ++index) lists.push_back(closeness[index].second);
    return lists;
  }

  CodeTable table_;
  FloatRows centres_;
  std::vector<uint32_t> begins_;   // of each list in members_, and the end
  std::vector<uint32_t> members_;  // slots, list by list
};

}  // namespace

std::shared_ptr<const TrainedIndex> train_inverted_lists(const SetView& view, const std::atomic<bool>& stop) {
  const auto lists = std::clamp(static_cast<uint32_t>(2 * std::sqrt(static_cast<double>(view.slots))), kListsMin, kListsMax);
  FloatRows centres = kmeans(training_sample(view, size_t{lists} * kSamplePerList, view.dims), 0, view.dims, lists, kTrainingIterations, stop);
  const std::vector<float> halves = half_squares(centres);
  std::vector<uint32_t> lists_of(view.slots);
  std::vector<uint32_t> begins(centres.count() + 1);
  std::vector<float> unit(view.dims);
  for (uint32_t slot = 0; slot < view.slots; ++slot) {
    if (stop.load(std::memory_order_relaxed)) return nullptr;
    unit_vector(view, slot, unit.data(), view.dims);
    lists_of[slot] = nearest_centre(centres, halves, unit.data());
    begins[lists_of[slot] + 1] += 1;
  }
  for (size_t list = 1; list < begins.size(); ++list) begins[list] += begins[list - 1];
  std::vector<uint32_t> next = begins;
  std::vector<uint32_t> members(view.slots);
  for (uint32_t slot = 0; slot < view.slots; ++slot) members[next[lists_of[slot]]++] = slot;
  return std::make_shared<const InvertedLists>(CodeTable(view), std::move(centres), std::move(begins), std::move(members));
}

}  // namespace mds
