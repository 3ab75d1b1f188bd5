// Compares aggregations with counts over a map, for segments with dead documents. Also tests truncated and
// mutated requests, and the value orders that ranges use.
#include "query/facets/aggregation.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>

#include "base/limits.h"
#include "index/engine.h"
#include "query/filter/value_order.h"
#include "support/model.h"
#include "support/seed.h"

namespace mds {
namespace {

using test::Document;
using test::Wire;

void put(Wire& out, uint32_t value) {
  for (uint32_t shift = 0; shift < 32; shift += 8) out.push_back(static_cast<uint8_t>(value >> shift));
}

void put_text(Wire& out, const std::string& text) {
  put(out, static_cast<uint32_t>(text.size()));
  out.insert(out.end(), text.begin(), text.end());
  while (out.size() % 4 != 0) out.push_back(0);
}

struct Asked {
  std::vector<std::pair<std::string, std::optional<std::vector<std::string>>>> filters;  // without a list: any value
  std::vector<std::string> facets;
  uint32_t interval = 0;
  std::vector<uint32_t> absent;
};

Wire request_bytes(const Asked& asked) {
  Wire out;
  for (const uint32_t word : {0x3141534DU, 1U, 0xFFFFFFFFU, 100000U, 100000U}) put(out, word);
  put(out, static_cast<uint32_t>(asked.filters.size()));
  for (const auto& [key, values] : asked.filters) {
    put_text(out, key);
    put(out, static_cast<uint32_t>(values ? values->size() : kPlanAnyValue));
    for (const std::string& value : values.value_or(std::vector<std::string>{})) put_text(out, value);
  }
  put(out, static_cast<uint32_t>(asked.facets.size()));
  for (const std::string& key : asked.facets) {
    put(out, 1);
    put_text(out, key);
  }
  for (const uint32_t word : {1U, 1U, asked.interval, static_cast<uint32_t>(asked.absent.size())}) put(out, word);
  for (const uint32_t docid : asked.absent) put(out, docid);
  return out;
}

class Aggregation : public testing::TestWithParam<uint32_t> {
 protected:
  void write(uint32_t batches, uint32_t documents) {
    for (; batches > 0; --batches) {
      std::vector<Wire> ops;
      for (uint32_t count = 0; count < documents; ++count) {
        if (next_ > 10 && generator_.below(8) == 0) {
          const uint32_t docid = generator_.below(next_);
          live_.erase(docid);
          ops.push_back(test::delete_op(1, docid, ++lsn_));
          continue;
        }
        Document document = generator_.document(1, next_++, ++lsn_);
        document.fields.clear();
        document.addedAt = int64_t{generator_.below(400)} * 40000;
        ops.push_back(test::upsert_op(document));
        live_[document.docid] = document;
      }
      ASSERT_TRUE(engine_.publish(test::batch_of(ops, lsn_)).ok());
    }
  }

  [[nodiscard]] bool passes(const Document& document, const Asked& asked) const {
    if (std::find(asked.absent.begin(), asked.absent.end(), document.docid) != asked.absent.end()) return false;
    return std::all_of(asked.filters.begin(), asked.filters.end(), [&document](const auto& filter) {
      return std::any_of(document.meta.begin(), document.meta.end(), [&filter](const auto& pair) {
        return pair.first == filter.first && (!filter.second || std::find(filter.second->begin(), filter.second->end(), pair.second) != filter.second->end());
      });
    });
  }

  [[nodiscard]] std::string expected(const Asked& asked) const {
    uint64_t documents = 0;
    std::vector<std::map<std::string, uint64_t>> facets(asked.facets.size());
    std::map<int64_t, uint64_t> days;
    for (const auto& [docid, document] : live_) {
      if (!passes(document, asked)) continue;
      ++documents;
      ++days[document.addedAt / 86400 * 86400];
      for (const auto& [key, value] : document.meta) {
        for (size_t facet = 0; facet < facets.size(); ++facet) facets[facet][value] += asked.facets[facet] == key ? 1 : 0;
      }
    }
    std::string json = R"({"documents":)" + std::to_string(documents) + R"(,"isStopped":false,"isCut":false,"facets":[)";
    for (size_t facet = 0; facet < facets.size(); ++facet) {
      json += facet == 0 ? "[" : ",[";
      std::string list;
      for (const auto& [value, count] : facets[facet]) {
        if (count > 0) list += std::string(list.empty() ? "" : ",") + "[\"" + value + "\"," + std::to_string(count) + "]";
      }
      json += list + "]";
    }
    std::string list;
    for (const auto& [from, count] : days) list += std::string(list.empty() ? "" : ",") + "[" + std::to_string(from) + "," + std::to_string(count) + "]";
    return json + R"(],"histograms":[[)" + list + "]]}";
  }

  Asked random_request() {
    Asked asked;
    for (uint32_t count = generator_.below(3); count > 0; --count) asked.facets.push_back(generator_.below(3) == 0 ? "price" : "m" + std::to_string(generator_.below(5)));
    if (generator_.below(2) == 0) asked.filters.emplace_back("m" + std::to_string(generator_.below(5)), std::nullopt);
    if (generator_.below(8) == 0) asked.filters.emplace_back("m2", std::vector<std::string>());
    if (generator_.below(3) == 0) asked.filters.emplace_back("m1", std::vector<std::string>{"v1", "v2", "v3", "v" + std::to_string(generator_.below(30))});
    for (uint32_t count = generator_.below(4); count > 1; --count) asked.absent.push_back(generator_.below(next_));
    return asked;
  }

  test::Generator generator_{test::seed() + 8000 + GetParam()};
  Engine engine_;
  std::map<uint32_t, Document> live_;
  uint32_t next_ = 0;
  uint64_t lsn_ = 0;
};

TEST_P(Aggregation, CountsWhatAScanCounts) {
  for (uint32_t phase = 0; phase < 3; ++phase) {
    write(3, 700);
    if (phase == 1) {
      ASSERT_TRUE(engine_.force_merge().ok());
    }
    for (uint32_t round = 0; round < 60; ++round) {
      const Asked asked = random_request();
      ASSERT_EQ(engine_.aggregate(request_bytes(asked), {}).value(), expected(asked));
    }
  }
}

TEST_P(Aggregation, RequestsThatAreCutOrMutatedAreAnsweredOrRefused) {
  write(2, 200);
  const Wire whole = request_bytes({{{"m1", std::vector<std::string>{"v1"}}}, {"m2"}, 2, {1, 2}});
  for (size_t size = 0; size < whole.size(); ++size) {
    Wire cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    cut.shrink_to_fit();
    EXPECT_FALSE(engine_.aggregate(cut, {}).ok());
  }
  std::mt19937_64 random(test::seed());
  for (uint32_t round = 0; round < 2000; ++round) {
    Wire bytes = whole;
    bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    (void)engine_.aggregate(bytes, {});
  }
}

TEST_P(Aggregation, OrdersOfValuesAreKeptWithinTheirBounds) {
  write(2, 900);
  const auto set = engine_.snapshot();
  ValueOrderCache cache;
  StopSignal never(nullptr);
  size_t largest = 0;
  for (const SegmentRef& ref : set->segments) {
    for (const SectionEntry& section : ref.segment->sections(*ref.segment->find_collection(1))) {
      const auto first = cache.get(*ref.segment, section, ValueKind::kScalar, never);
      EXPECT_EQ(cache.get(*ref.segment, section, ValueKind::kScalar, never), first);
      EXPECT_TRUE(std::is_sorted(first->scalars.begin(), first->scalars.end()));
      EXPECT_EQ(first->scalars.size(), first->slots.size());
      const auto texts = cache.get(*ref.segment, section, ValueKind::kText, never);
      EXPECT_NE(texts, first);
      EXPECT_EQ(texts->terms.size(), section.termEnd - section.termBegin);
      EXPECT_EQ(texts->ends.back(), texts->slots.size());
      largest = std::max(largest, first->scalars.size());
    }
  }
  EXPECT_GT(largest, 100U);
  EXPECT_GT(cache.bytes(), 0U);
  EXPECT_LE(cache.bytes(), kValueOrderBytesMax);
  const int32_t stopped = 1;
  StopSignal stop(&stopped);
  const SegmentRef& ref = set->segments.front();
  for (const SectionEntry& section : ref.segment->sections(*ref.segment->find_collection(1))) {
    if (ref.segment->name(section) == "price") {
      EXPECT_TRUE(stop.poll());
      EXPECT_EQ(make_value_order(*ref.segment, section, ValueKind::kScalar, stop), nullptr);
      EXPECT_EQ(make_value_order(*ref.segment, section, ValueKind::kText, stop), nullptr);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Aggregation, testing::Range(0U, 3U));

}  // namespace
}  // namespace mds
