// Counts over the live documents of a collection that pass filters: how many have each value of metadata
// keys, and how many were written in each day, week, month or year. Without filters and dead documents the
// counts come from the dictionary; else from bits and postings. Runs on the caller's thread. The request:
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
  bool byValue;  // else by count, most first
};

struct HistogramRequest {
  SlotOrder field;  // kAddedAt or kUpdatedAt
  Interval interval;
};

// Views into its bytes.
struct AggregationRequest {
  uint32_t collection;
  uint32_t pollWord;
  uint32_t facetSizeMax;  // values returned for one facet
  uint32_t valuesMax;     // values counted over all facets
  std::vector<MetaFilter> filters;
  std::vector<FacetRequest> facets;
  std::vector<HistogramRequest> histograms;
  std::vector<uint32_t> absent;  // docids that are not counted
};

[[nodiscard]] Result<AggregationRequest> parse_aggregation(Bytes bytes);

// JSON: {"documents", "isStopped", "isCut", "facets": [[[value, count]]], "histograms": [[[from, count]]]},
// lists in the order of the request. A histogram has its newest kHistogramBucketsMax buckets that are not
// empty, oldest first. `isCut`: there are more values than may be counted.
[[nodiscard]] std::string aggregation_json(const SegmentSet& set, const AggregationRequest& request, StopSignal stop);

}  // namespace mds
