// See aggregation.h.
#include "query/facets/aggregation.h"

#include <algorithm>
#include <map>

#include "base/json_text.h"
#include "base/limits.h"
#include "query/facets/facet_counter.h"

namespace mds {
namespace {

constexpr uint32_t kAggregationMagic = 0x3141534D;

Status malformed_aggregation(const char* what) { return Status::malformed(std::string("aggregation: ") + what); }

Status parse_facets(ByteReader& reader, AggregationRequest& request) {
  const uint32_t count = reader.count(8);
  if (count > kFacetsMax) return malformed_aggregation("too many facets");
  for (uint32_t index = 0; index < count; ++index) {
    const uint32_t byValue = reader.u32();
    const uint32_t keyBytes = reader.u32();
    const std::string_view key = reader.padded(keyBytes);
    if (byValue > 1) return malformed_aggregation("unknown order of a facet");
    request.facets.push_back({key, byValue != 0});
  }
  return {};
}

Status parse_histograms(ByteReader& reader, AggregationRequest& request) {
  const uint32_t count = reader.count(8);
  if (count > kFacetsMax) return malformed_aggregation("too many histograms");
  for (uint32_t index = 0; index < count; ++index) {
    const uint32_t field = reader.u32();
    const uint32_t interval = reader.u32();
    if (field < 1 || field > 2 || interval > 3) return malformed_aggregation("unknown field or interval");
    request.histograms.push_back({field == 1 ? SlotOrder::kAddedAt : SlotOrder::kUpdatedAt, static_cast<Interval>(interval)});
  }
  return {};
}

using BucketCounts = std::map<int64_t, uint64_t>;

void add_to_bucket(BucketCounts& counts, int64_t from, uint64_t count) {
  counts[from] += count;
  // A bucket that is too old for the result remains too old, so it can be dropped.
  if (counts.size() > kHistogramBucketsMax) counts.erase(counts.begin());
}

// Reads the documents in time order, so that the documents of a bucket are adjacent.
class BucketCounter {
 public:
  BucketCounter(const CountedSegment& counted, const HistogramRequest& histogram)
      : counted_(counted),
        interval_(histogram.interval),
        collection_(*counted.segment.collection),
        count_(collection_.slotEnd - collection_.slotBegin),
        times_(counted.segment.ref->segment->times(histogram.field)),
        order_(counted.segment.ref->segment->ordered_slots(histogram.field, collection_)) {}

  void add_to(BucketCounts& counts, StopSignal& stop) const {
    for (uint32_t index = 0; index < count_ && !stop.stopped();) {
      const TimeBucket bucket = bucket_of(time_at(index), interval_);
      const uint32_t end = bucket_end(index, bucket);
      uint64_t documents = end - index;
      if (counted_.documents) {
        documents = 0;
        for (uint32_t at = index; at < end; ++at) documents += counted_.documents->test(slot_at(at)) ? 1 : 0;
      }
      (void)stop.after(counted_.documents ? end - index : 1);
      if (documents > 0) add_to_bucket(counts, bucket.from, documents);
      index = end;
    }
  }

 private:
  // A damaged permutation may contain any number. A number that is not a slot of the collection is treated as
  // the collection's first slot.
  [[nodiscard]] uint32_t slot_at(uint32_t index) const noexcept { return order_[index] - collection_.slotBegin < count_ ? order_[index] : collection_.slotBegin; }
  [[nodiscard]] int64_t time_at(uint32_t index) const noexcept { return times_[slot_at(index)]; }

  // Returns the first index behind the bucket, by doubling steps, then bisection.
  [[nodiscard]] uint32_t bucket_end(uint32_t index, const TimeBucket& bucket) const noexcept {
    uint32_t inside = index;
    uint32_t step = 1;
    while (step < count_ - inside && bucket.contains(time_at(inside + step))) {
      inside += step;
      step *= 2;
    }
    uint32_t outside = step < count_ - inside ? inside + step : count_;
    while (outside - inside > 1) {
      const uint32_t middle = inside + (outside - inside) / 2;
      (bucket.contains(time_at(middle)) ? inside : outside) = middle;
    }
    return outside;
  }

  const CountedSegment& counted_;
  Interval interval_;
  const CollectionEntry& collection_;
  uint32_t count_;
  const ColumnView<int64_t>& times_;
  ColumnView<uint32_t> order_;
};

std::vector<CountedSegment> counted_segments(const SegmentSet& set, const AggregationRequest& request, StopSignal& stop) {
  std::vector<CountedSegment> segments;
  for (const SegmentRef& ref : set.segments) {
    const CollectionEntry* collection = ref.segment->find_collection(request.collection);
    if (collection == nullptr || stop.poll()) continue;
    CountedSegment& counted = segments.emplace_back(CountedSegment{{&ref, collection, {}, {}}, std::nullopt});
    std::vector<uint32_t> absent;
    for (const uint32_t docid : request.absent) {
      const std::optional<uint32_t> slot = ref.segment->find_docid(*collection, docid);
      if (slot) absent.push_back(*slot);
    }
    if (request.filters.empty() && absent.empty() && ref.live_in(*collection) == collection->slotEnd - collection->slotBegin) continue;
    counted.documents = filter_bits(counted.segment, request.filters, stop);
    for (const uint32_t slot : absent) counted.documents->clear(slot);
  }
  return segments;
}

void append_begin(std::string& json, bool& isFirst) {
  json += isFirst ? "[" : ",[";
  isFirst = false;
}

void append_count(std::string& json, uint64_t count) {
  json += ',';
  json += std::to_string(count);
  json += ']';
}

void append_facets(std::string& json, const std::vector<CountedSegment>& segments, const AggregationRequest& request, uint64_t& distinct, StopSignal& stop) {
  bool isFirst = true;
  for (const FacetRequest& facet : request.facets) {
    const uint64_t left = request.valuesMax - std::min<uint64_t>(distinct, request.valuesMax);
    const FacetCounts counts = count_values(segments, facet.key, facet.byValue, request.facetSizeMax, left, stop);
    distinct += counts.distinct;
    append_begin(json, isFirst);
    bool isFirstValue = true;
    for (const CountedValue& value : counts.values) {
      append_begin(json, isFirstValue);
      append_json_string(json, value.value);
      append_count(json, value.count);
    }
    json += ']';
  }
}

void append_histograms(std::string& json, const std::vector<CountedSegment>& segments, const AggregationRequest& request, StopSignal& stop) {
  bool isFirst = true;
  for (const HistogramRequest& histogram : request.histograms) {
    BucketCounts counts;
    for (const CountedSegment& counted : segments) BucketCounter(counted, histogram).add_to(counts, stop);
    append_begin(json, isFirst);
    bool isFirstBucket = true;
    for (const auto& [from, count] : counts) {
      append_begin(json, isFirstBucket);
      json += std::to_string(from);
      append_count(json, count);
    }
    json += ']';
  }
}

}  // namespace

Result<AggregationRequest> parse_aggregation(Bytes bytes) {
  if (bytes.size() > kPlanBytesMax) return Status::too_large("aggregation: " + std::to_string(bytes.size()) + " bytes");
  ByteReader reader(bytes);
  AggregationRequest request{};
  if (reader.u32() != kAggregationMagic) return malformed_aggregation("no header");
  request.collection = reader.u32();
  request.pollWord = reader.u32();
  request.facetSizeMax = reader.u32();
  request.valuesMax = reader.u32();
  Status status = parse_filters(reader, request.filters);
  if (status.ok()) status = parse_facets(reader, request);
  if (status.ok()) status = parse_histograms(reader, request);
  if (!status.ok()) return status;
  const uint32_t absent = reader.count(4);
  request.absent.reserve(absent);
  for (uint32_t index = 0; index < absent; ++index) request.absent.push_back(reader.u32());
  if (!reader.ok() || reader.remaining() != 0) return malformed_aggregation("length does not match its contents");
  return request;
}

std::string aggregation_json(const SegmentSet& set, const AggregationRequest& request, StopSignal stop) {
  const std::vector<CountedSegment> segments = counted_segments(set, request, stop);
  uint64_t documents = 0;
  for (const CountedSegment& counted : segments) documents += counted.documents ? counted.documents->count() : counted.segment.ref->live_in(*counted.segment.collection);

  std::string lists = R"("facets":[)";
  uint64_t distinct = 0;
  append_facets(lists, segments, request, distinct, stop);
  lists += R"(],"histograms":[)";
  append_histograms(lists, segments, request, stop);
  const auto text = [](bool value) { return value ? "true" : "false"; };
  std::string json = R"({"documents":)";
  json += std::to_string(documents);
  json += R"(,"isStopped":)";
  json += text(stop.poll());
  json += R"(,"isCut":)";
  json += text(distinct > request.valuesMax);
  json += ',';
  json += lists;
  json += "]}";
  return json;
}

}  // namespace mds
