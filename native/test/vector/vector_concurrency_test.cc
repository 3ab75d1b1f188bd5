// Vector searches concurrent with a writer, the lanes, and a collection that is dropped and created again.
// Every result matches the state at some point in time. Runs under ThreadSanitizer in CI.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "support/scratch_directory.h"
#include "support/vector_wire.h"

namespace mds::test {
namespace {

constexpr uint32_t kDims = 16;
constexpr uint32_t kDocuments = 3000;
constexpr uint64_t kRounds = 6;

TEST(VectorConcurrency, SearchesSeeWholeDocumentsOfSomeMoment) {
  const ScratchDirectory directory;
  VectorEngine engine;
  ASSERT_TRUE(engine.open(directory.path() + "/vectors").ok());
  std::atomic<bool> isDone{false};
  std::atomic<uint64_t> rounds{0};
  const auto search = [&](uint32_t seed) {
    VectorSource source(seed, kDims);
    while (!isDone.load()) {
      const uint64_t before = rounds.load();
      for (const VectorAlgorithm algorithm : {VectorAlgorithm::kHnsw, VectorAlgorithm::kFlat, VectorAlgorithm::kSq}) {
        VectorSearchRequest request = vector_request(1, source.next(), 20, algorithm);
        request.threads = 4;
        const VectorAnswer answer = ask(engine, request);
        EXPECT_TRUE(before == 0 || answer.hits.size() == 20U);
        std::set<uint32_t> docids;
        for (const VectorHit& hit : answer.hits) {
          EXPECT_GE(hit.lsn, before);
          docids.insert(hit.docid);
        }
        EXPECT_EQ(docids.size(), answer.hits.size());
      }
      (void)ask(engine, vector_request(2, source.next(), 3));
      (void)engine.stats();
    }
  };
  std::thread first(search, 11);
  std::thread second(search, 12);
  VectorSource source(13, kDims);
  for (uint64_t round = 1; round <= kRounds; ++round) {
    for (uint32_t begin = 0; begin < kDocuments; begin += 500) {
      VectorBatchBuilder batch;
      for (uint32_t docid = begin; docid < begin + 500; ++docid) batch.set(1, docid, round, kDims, source.next());
      batch.set(2, begin, round * kDocuments + begin, kDims, source.next());
      ASSERT_TRUE(engine.apply(batch.bytes()).ok());
    }
    rounds.store(round);
    if (round % 2 == 0) {
      VectorBatchBuilder drop;
      drop.drop(2);
      ASSERT_TRUE(engine.apply(drop.bytes()).ok());
      ASSERT_TRUE(engine.set_sealed(1, round % 4 == 0).ok());
      engine.settle();
    }
  }
  isDone.store(true);
  first.join();
  second.join();
  EXPECT_EQ(engine.stats().at(0).documents, kDocuments);
}

}  // namespace
}  // namespace mds::test
