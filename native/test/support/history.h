// A binlog for the storage tests: random writes as batches with their LSNs, applied to a model and replayed
// into an engine from any checkpoint. Compares an engine with the model.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "index/engine.h"
#include "support/model.h"

namespace mds::test {

inline constexpr uint64_t kTestMapBytes = uint64_t{1} << 30;
inline constexpr uint32_t kHistoryCollections = 3;

inline OpenRequest request_for(const std::string& directory, uint64_t lsnLast = UINT64_MAX) {
  OpenRequest request;
  request.directory = directory;
  request.history = {{Epoch{1}, lsnLast}};
  request.mapBytes = kTestMapBytes;
  return request;
}

class History {
 public:
  explicit History(uint64_t seed) : generator(seed) {}

  // Appends one batch of up to `opsMax` writes to the binlog.
  void write(uint32_t opsMax) {
    std::vector<Wire> ops;
    for (uint32_t left = 1 + generator.below(opsMax); left > 0; --left) ops.push_back(write_op());
    entries_.emplace_back(lsn_, batch_of(ops, lsn_));
  }

  // Publishes the entries above `checkpoint`.
  void replay(Engine& engine, uint64_t checkpoint) const {
    for (const auto& [lsnLast, batch] : entries_) {
      if (lsnLast <= checkpoint) continue;
      const Status status = engine.publish(batch);
      ASSERT_TRUE(status.ok()) << status.message();
    }
  }

  [[nodiscard]] uint64_t lsn_last() const { return lsn_; }
  [[nodiscard]] const Wire& batch_last() const { return entries_.back().second; }

  // Expects the same matches, with LSN and matched terms, for random plans over all collections.
  void expect_equal(const Engine& engine, uint32_t plans) {
    ASSERT_EQ(engine.stats().documents, model.size());
    for (; plans > 0; --plans) {
      Plan plan = generator.plan(1 + generator.below(kHistoryCollections));
      plan.k = 10000;
      plan.skip = 0;
      const Result<Wire> record = engine.search(plan_bytes(plan), {});
      ASSERT_TRUE(record.ok()) << record.status().message();
      const Hits hits = read_hits(record.value(), plan.terms.size());
      const std::map<uint32_t, Hit> expected = model.matches(plan);
      ASSERT_EQ(hits.total, expected.size());
      for (const Hit& hit : hits.hits) {
        const auto found = expected.find(hit.docid);
        ASSERT_NE(found, expected.end());
        ASSERT_EQ(hit.lsn, found->second.lsn);
        ASSERT_EQ(hit.matched, found->second.matched);
      }
    }
    for (uint32_t collection = 1; collection <= kHistoryCollections; ++collection) ASSERT_EQ(engine.meta_keys(collection).value(), model.meta_keys(collection));
  }

  Generator generator;
  Model model;

 private:
  Wire write_op() {
    const uint32_t collection = 1 + generator.below(kHistoryCollections);
    const uint64_t lsn = ++lsn_;
    const bool isKnown = docidNext_ > 0 && generator.below(3) == 0;
    const uint32_t docid = isKnown ? generator.below(docidNext_) : docidNext_++;
    if (isKnown && generator.below(2) == 0) {
      model.remove(collection, docid, lsn);
      deleted_.insert({collection, docid});
      return delete_op(collection, docid, lsn);
    }
    Document document = generator.document(collection, docid, lsn);
    while (deleted_.contains({document.collection, document.docid})) document.docid = docidNext_++;
    model.upsert(document);
    return upsert_op(document);
  }

  uint64_t lsn_ = 0;
  uint32_t docidNext_ = 1;
  std::set<std::pair<uint32_t, uint32_t>> deleted_;
  std::vector<std::pair<uint64_t, Wire>> entries_;
};

}  // namespace mds::test
