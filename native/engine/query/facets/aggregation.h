// Counts the live documents of a collection that pass filters: per value of metadata keys, and per day, week,
// month or year of their times. Without filters and dead documents the counts come from the dictionary;
// otherwise from bits and postings. Runs on the caller's thread. For the request see
// docs/formats/search-plan.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "base/stop_signal.h"
#include "query/facets/time_buckets.h"
#include "query/plan/search_plan.h"
#include "segment/segment_set.h"

namespace mds {

struct FacetRequest {
  std::string_view key;
  bool byValue;  // sorted by value; else by count, descending
};

struct HistogramRequest {
  SlotOrder field;  // kAddedAt or kUpdatedAt
  Interval interval;
};

// The strings are views into the request's bytes.
struct AggregationRequest {
  uint32_t collection;
  uint32_t pollWord;
  uint32_t facetSizeMax;  // maximum number of values returned for one facet
  uint32_t valuesMax;     // maximum number of values counted over all facets
  std::vector<MetaFilter> filters;
  std::vector<FacetRequest> facets;
  std::vector<HistogramRequest> histograms;
  std::vector<uint32_t> absent;  // docids excluded from the counts
};

[[nodiscard]] Result<AggregationRequest> parse_aggregation(Bytes bytes);

// Returns JSON: {"documents", "isStopped", "isCut", "facets": [[[value, count]]], "histograms": [[[from,
// count]]]}, with lists in the order of the request. A histogram contains its newest kHistogramBucketsMax
// non-empty buckets, oldest first. `isCut`: there are more values than may be counted.
[[nodiscard]] std::string aggregation_json(const SegmentSet& set, const AggregationRequest& request, StopSignal stop);

}  // namespace mds
