// IVF: the slots of each k-means centre, encoded as four bits per part (table_codes.h) and stored list by
// list. A search reads the lists whose centres are nearest to the query.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "vector/trained/kmeans.h"
#include "vector/trained/rough_candidates.h"
#include "vector/trained/trained_index.h"
#include "vector/vector_limits.h"

namespace mds {
namespace {

constexpr uint32_t kNoSlot = ~uint32_t{0};

class InvertedLists final : public TrainedIndex {
 public:
  // `lists`: the slots of each centre. Each list begins at a new group.
  InvertedLists(CentreTable centres, PartBooks books, const std::vector<std::vector<uint32_t>>& lists, uint32_t slots)
      : centres_(std::move(centres)),
        groupBegins_(group_begins(lists)),
        members_(groupBegins_.back() * kGroupRows, kNoSlot),
        codes_(std::move(books), members_.size()),
        slots_(slots) {
    for (size_t list = 0; list < lists.size(); ++list) {
      sizes_.push_back(static_cast<uint32_t>(lists[list].size()));
      std::copy(lists[list].begin(), lists[list].end(), members_.begin() + static_cast<std::ptrdiff_t>(groupBegins_[list] * kGroupRows));
    }
  }

  void encode(const SetView& view, size_t group) {
    const auto begin = members_.begin() + static_cast<std::ptrdiff_t>(group * kGroupRows);
    const auto count = static_cast<size_t>(std::find(begin, begin + kGroupRows, kNoSlot) - begin);
    FloatRows units{codes_.dims(), std::vector<float>(count * codes_.dims())};
    for (size_t row = 0; row < count; ++row) unit_vector(view, begin[static_cast<std::ptrdiff_t>(row)], units.row(row), units.dims);
    codes_.encode(group, units, count);
  }
  [[nodiscard]] size_t groups() const noexcept { return codes_.groups(); }
  [[nodiscard]] uint32_t slots() const noexcept override { return slots_; }
  [[nodiscard]] uint64_t bytes() const noexcept override {
    return centres_.bytes() + codes_.bytes() + groupBegins_.size() * sizeof(size_t) + sizes_.size() * sizeof(uint32_t) + members_.size() * sizeof(uint32_t);
  }

  void find(const SetView& view, const SlotFilter& filter, const VectorQuery& query, const CandidateCounts& counts, std::vector<uint32_t>& found,
            StopSignal& stop) const override {
    const FloatRows unit = unit_query(query);
    RoughCandidates candidates(view, query, codes_, unit, counts.rough);
    for (const uint32_t list : nearest_lists(unit.row(0), counts.read)) {
      for (size_t group = groupBegins_[list]; group < groupBegins_[list + 1] && !stop.after(kGroupRows / 16); ++group) {
        const uint32_t* slots = members_.data() + group * kGroupRows;
        candidates.add_group(
            group, ~uint64_t{0}, [slots](uint32_t row) { return slots[row]; }, [&filter](uint32_t slot) { return slot != kNoSlot && filter.passes(slot); });
      }
    }
    candidates.narrow(counts.rescored, found, stop);
  }

 private:
  static std::vector<size_t> group_begins(const std::vector<std::vector<uint32_t>>& lists) {
    std::vector<size_t> begins{0};
    for (const std::vector<uint32_t>& list : lists) begins.push_back(begins.back() + (list.size() + kGroupRows - 1) / kGroupRows);
    return begins;
  }

  // Nearest list first, so that the bound of the candidates rises early.
  [[nodiscard]] std::vector<uint32_t> nearest_lists(const float* unit, size_t slotsRead) const {
    std::vector<float> closeness;
    centres_.closeness(unit, closeness);
    std::vector<uint32_t> lists(centres_.count());
    for (uint32_t list = 0; list < lists.size(); ++list) lists[list] = list;
    const auto nearer = [&closeness](uint32_t a, uint32_t b) { return closeness[a] != closeness[b] ? closeness[a] > closeness[b] : a < b; };
    size_t probed = std::min(lists.size(), std::max<size_t>(kListsProbedMin, lists.size() / kListsProbedDivisor));
    const auto rest = lists.begin() + static_cast<std::ptrdiff_t>(probed);
    std::partial_sort(lists.begin(), rest, lists.end(), nearer);
    size_t slots = std::accumulate(lists.begin(), rest, size_t{0}, [this](size_t sum, uint32_t list) { return sum + sizes_[list]; });
    if (slots < slotsRead) std::sort(rest, lists.end(), nearer);
    for (; probed < lists.size() && slots < slotsRead; ++probed) slots += sizes_[lists[probed]];
    lists.resize(probed);
    return lists;
  }

  CentreTable centres_;
  std::vector<size_t> groupBegins_;  // of each list, and the end of the last one
  std::vector<uint32_t> sizes_;      // number of slots of each list
  std::vector<uint32_t> members_;    // the slot of each row
  TableCodes codes_;
  uint32_t slots_;
};

}  // namespace

std::shared_ptr<const TrainedIndex> train_inverted_lists(const SetView& view, const std::atomic<bool>& stop) {
  const auto count = std::clamp(static_cast<uint32_t>(kListsPerRoot * std::sqrt(static_cast<double>(view.slots))), kListsMin, kListsMax);
  const size_t dims = padded_dims(view.dims);
  const CentreTable centres(kmeans(training_sample(view, size_t{count} * kSamplePerList, dims), 0, dims, count, kTrainingIterations, stop));
  PartBooks books = PartBooks::train(training_sample(view, kProductSample, dims), kListColumns, stop);
  std::vector<std::vector<uint32_t>> lists(centres.count());
  FloatRows units{dims, std::vector<float>(kGroupRows * dims)};
  for (uint32_t begin = 0; begin < view.slots; begin += kGroupRows) {
    if (stop.load(std::memory_order_relaxed)) return nullptr;
    const uint32_t rows = std::min(static_cast<uint32_t>(kGroupRows), view.slots - begin);
    for (uint32_t row = 0; row < rows; ++row) unit_vector(view, begin + row, units.row(row), dims);
    std::array<uint32_t, kGroupRows> nearest{};
    centres.nearest({units.values.data(), dims}, rows, nearest.data());
    for (uint32_t row = 0; row < rows; ++row) lists[nearest[row]].push_back(begin + row);
  }
  auto made = std::make_shared<InvertedLists>(centres, std::move(books), lists, view.slots);
  for (size_t group = 0; group < made->groups(); ++group) {
    if (stop.load(std::memory_order_relaxed)) return nullptr;
    made->encode(view, group);
  }
  return made;
}

}  // namespace mds
