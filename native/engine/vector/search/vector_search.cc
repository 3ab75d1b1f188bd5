// See vector_search.h.
#include "vector/search/vector_search.h"

#include <algorithm>
#include <optional>

#include "vector/graph/vector_graph.h"
#include "vector/scan/code_scan.h"
#include "vector/search/diversity.h"
#include "vector/trained/trained_index.h"

namespace mds {
namespace {

struct Search {
  const SetView& view;
  const VectorQuery& query;
  const SlotFilter& filter;
  uint32_t most;      // number of documents wanted
  uint32_t rescored;  // number of candidates of approximate kinds
  const VectorSearchRequest& request;
  ScanHelpers& helpers;
  StopSignal& stop;
};

// While one vector is read, the next ones are prefetched from memory or from the page cache.
void add_scored(const Search& search, const std::vector<uint32_t>& slots, BestDocuments& best) {
  constexpr size_t kAhead = 2;
  const auto prefetch = [&search](uint32_t slot) {
    const float* row = search.view.full(slot);
    for (size_t at = 0; at < search.view.dims; at += 64 / sizeof(float)) __builtin_prefetch(row + at);
  };
  for (size_t index = 0; index < std::min(kAhead, slots.size()); ++index) prefetch(slots[index]);
  for (size_t index = 0; index < slots.size() && !search.stop.after(8); ++index) {
    if (index + kAhead < slots.size()) prefetch(slots[index + kAhead]);
    const uint32_t slot = slots[index];
    best.add({search.query.score(search.view.full(slot), search.view.coded(slot).norm).score, search.view.identity(slot).docid, slot});
  }
}

// Graphs and inverted lists are ordered by cosine. If all vectors have the same length, every metric has this
// order.
bool is_order_of_cosines(const Search& search) noexcept { return search.query.metric() == VectorMetric::kCosine || search.view.isUnit; }

// Returns whether the graph is faster than a scan of all slots that pass. A graph search computes several
// distances per candidate, and more if few of the visited slots pass.
bool is_graph_worth_it(const Search& search, uint32_t candidates) noexcept {
  const uint64_t passing = search.filter.count();
  if (passing == 0 || candidates > kGraphExpansionMax) return false;
  const uint64_t steps = uint64_t{candidates} * kGraphStepsPerCandidate * search.view.slots / passing;
  return steps < passing;
}

// Returns false if the graph cannot answer the search.
bool search_graph(const Search& search, BestDocuments& best) {
  const VectorGraph* graph = search.view.graph.get();
  if (graph == nullptr || !is_order_of_cosines(search)) return false;
  for (uint32_t candidates = std::max(search.request.expansion, search.rescored); is_graph_worth_it(search, candidates); candidates *= 2) {
    std::vector<GraphCandidate> candidatesFound;
    // If the filter admits documents far from the query, a graph search may take longer than a scan of all
    // slots that pass.
    const uint64_t distancesMax = std::max<uint64_t>(search.filter.count(), kGraphSlotsMin);
    if (!graph->search(search.filter, search.query, candidates, distancesMax, candidatesFound, search.stop)) return false;
    BestDocuments nearest(search.rescored);
    for (const GraphCandidate& candidate : candidatesFound) nearest.add({-double{candidate.distance}, search.view.identity(candidate.slot).docid, candidate.slot});
    // If documents have many chunks, k documents need more candidates.
    if (nearest.cut().size() < search.most && candidatesFound.size() == candidates && !search.stop.poll()) continue;
    std::vector<uint32_t> found;
    for (const VectorCandidate& candidate : nearest.cut()) found.push_back(candidate.slot);
    add_scored(search, found, best);
    scan_exactly(search.view, search.filter, {graph->slots(), search.view.slots}, search.query, search.most, best, search.stop);
    return true;
  }
  return false;
}

std::optional<TrainedKind> trained_kind(VectorAlgorithm algorithm) noexcept {
  switch (algorithm) {
    case VectorAlgorithm::kIvf:
      return TrainedKind::kIvf;
    case VectorAlgorithm::kPq:
      return TrainedKind::kPq;
    case VectorAlgorithm::kOpq:
      return TrainedKind::kOpq;
    case VectorAlgorithm::kSq4:
      return TrainedKind::kSq4;
    case VectorAlgorithm::kBq:
      return TrainedKind::kBq;
    default:
      return std::nullopt;
  }
}

// For kinds with four-bit codes per part: the number of slots that are scored by eight-bit codes.
size_t rough_candidates(const SetView& view, const VectorSearchRequest& request) noexcept {
  const uint32_t perHit = request.algorithm == VectorAlgorithm::kBq ? request.signsRescored : kRoughPerHit;
  const size_t least = request.algorithm == VectorAlgorithm::kBq ? 1 : kRoughMin;
  // Several chunks of one document may be near the query.
  const size_t wanted = std::max(std::max(size_t{request.k} * perHit, size_t{request.candidates}) * (view.hasChunks ? kRoughPerDocument : 1), least);
  return std::min<size_t>(wanted, view.slots);
}

// Minimum number of slots to read from inverted lists. More are read if few slots pass.
size_t slots_read(const Search& search) noexcept {
  const uint64_t wanted = std::max<uint64_t>(kListSlotsReadMin, uint64_t{search.request.candidates} * kListSlotsPerCandidate);
  return wanted * search.view.slots / std::max<uint64_t>(search.filter.count(), 1);
}

// Returns false if the approximate codes cannot answer the search, or not faster.
bool search_codes(const Search& search, VectorAlgorithm algorithm, BestDocuments& best) {
  const uint32_t passing = search.filter.count();
  if (passing <= search.rescored || passing < search.view.slots / kTrainedPassingDivisor) return false;
  std::vector<uint32_t> found;
  uint32_t known = search.view.slots;
  const std::optional<TrainedKind> kind = trained_kind(algorithm);
  if (kind) {
    const TrainedIndex* index = search.view.trained[static_cast<size_t>(*kind)].get();
    if (index == nullptr || (kind == TrainedKind::kIvf && !is_order_of_cosines(search))) return false;
    const CandidateCounts counts{search.rescored, rough_candidates(search.view, search.request), slots_read(search)};
    index->find(search.view, search.filter, search.query, counts, found, search.stop);
    known = index->slots();
  } else {
    scan_codes(search.view, search.filter, {0, known}, search.query, search.rescored, found, search.stop);
  }
  add_scored(search, found, best);
  scan_exactly(search.view, search.filter, {known, search.view.slots}, search.query, search.most, best, search.stop);
  // The lists that were read may contain too few documents.
  return best.cut().size() == search.most;
}

// Scans all slots.
void search_flat(const Search& search, BestDocuments& best) {
  if (search.request.threads > 1 && search.filter.count() >= search.request.helpedSlotsMin) {
    scan_exactly_shared(search.view, search.filter, search.query, search.most, best, search.stop, search.helpers, search.request.threads);
  } else {
    scan_exactly(search.view, search.filter, {0, search.view.slots}, search.query, search.most, best, search.stop);
  }
}

// Returns true if the added documents are exact.
bool run(const Search& search, BestDocuments& best) {
  const VectorAlgorithm algorithm = search.request.algorithm;
  if (algorithm == VectorAlgorithm::kHnsw && search_graph(search, best)) return false;
  if (algorithm != VectorAlgorithm::kHnsw && algorithm != VectorAlgorithm::kFlat && search_codes(search, algorithm, best)) return false;
  search_flat(search, best);
  return true;
}

}  // namespace

VectorHits search_vectors(const SetView& view, const VectorSearchRequest& request, const std::vector<uint32_t>* documents, ScanHelpers& helpers, StopSignal& stop) {
  VectorHits answer;
  const VectorQuery query(request.metric, request.vector);
  const SlotFilter filter(view, documents, stop);
  const uint32_t rescored = std::max({request.candidates, request.k * kRescoredPerHit, kRescoredMin});
  // MMR chooses from more documents than it returns.
  const uint32_t most = request.isDiverse ? std::max(request.k, std::min(request.candidates, kDiversityCandidatesMax)) : request.k;
  BestDocuments best(most);
  answer.isExact = run({view, query, filter, most, rescored, request, helpers, stop}, best);
  answer.hits = best.cut();
  while (!answer.hits.empty() && answer.hits.back().score < request.threshold) answer.hits.pop_back();
  if (request.isDiverse) {
    // The documents after the compared candidates stay in score order.
    const auto compared = answer.hits.begin() + std::min<ptrdiff_t>(answer.hits.end() - answer.hits.begin(), kDiversityCandidatesMax);
    const std::vector<VectorCandidate> others(compared, answer.hits.end());
    answer.hits.erase(compared, answer.hits.end());
    answer.hits = choose_diverse(view, answer.hits, request.k, request.diversity, stop);
    answer.hits.insert(answer.hits.end(), others.begin(), others.end());
  }
  answer.isComplete = !stop.poll();
  answer.wanted = trained_kind(request.algorithm);
  return answer;
}

}  // namespace mds
