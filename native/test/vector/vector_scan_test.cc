// Flat search on several threads, and the number of candidates from sign codes that are rescored.
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <set>

#include "support/vector_wire.h"
#include "vector/scan/scan_helpers.h"

namespace mds::test {
namespace {

constexpr uint32_t kDims = 32;

// Documents of three chunks each. Every tenth pair of documents is identical, so that scores are equal.
void give_documents(VectorEngine& engine, VectorSource& source, uint32_t count) {
  VectorBatchBuilder batch;
  std::vector<float> chunks;
  for (uint32_t docid = 0; docid < count; ++docid) {
    if (docid % 10 != 1) {
      chunks.clear();
      for (int chunk = 0; chunk < 3; ++chunk) {
        const std::vector<float> one = source.next();
        chunks.insert(chunks.end(), one.begin(), one.end());
      }
    }
    batch.set(1, docid, docid + 1, kDims, chunks);
  }
  ASSERT_TRUE(engine.apply(batch.bytes()).ok());
}

TEST(SharedScan, AnswersAreTheSameOnAnyNumberOfThreads) {
  VectorEngine engine;
  VectorSource source(21, kDims);
  give_documents(engine, source, 6000);
  std::vector<uint32_t> documents;
  for (uint32_t docid = 0; docid < 6000; docid += 2) documents.push_back(docid);
  for (int query = 0; query < 20; ++query) {
    VectorSearchRequest request = vector_request(1, source.next(), query % 2 == 0 ? 10 : 500);
    for (const std::vector<uint32_t>* filter : {static_cast<const std::vector<uint32_t>*>(nullptr), static_cast<const std::vector<uint32_t>*>(&documents)}) {
      request.threads = 1;
      const VectorAnswer alone = ask(engine, request, filter);
      for (uint32_t threads = 2; threads <= 4; ++threads) {
        request.threads = threads;
        const VectorAnswer shared = ask(engine, request, filter);
        ASSERT_TRUE(shared.isExact && shared.isComplete);
        ASSERT_EQ(shared.hits.size(), alone.hits.size());
        for (size_t index = 0; index < alone.hits.size(); ++index) {
          EXPECT_EQ(shared.hits[index].docid, alone.hits[index].docid);
          EXPECT_EQ(shared.hits[index].chunk, alone.hits[index].chunk);
          EXPECT_EQ(shared.hits[index].score, alone.hits[index].score);
        }
      }
    }
  }
}

TEST(ScanHelpers, ComeWhereASearchMayUseMoreThreadsThanSearch) {
  ScanHelpers helpers;
  const ScanHelpers::Searching searching(helpers);
  std::mutex mutex;
  std::condition_variable came;
  std::set<uint32_t> workers;
  // Ends only when all three workers have joined.
  helpers.share(3, [&](uint32_t worker) {
    std::unique_lock lock(mutex);
    workers.insert(worker);
    came.notify_all();
    came.wait(lock, [&] { return workers.size() == 3; });
  });
  EXPECT_EQ(workers, (std::set<uint32_t>{0, 1, 2}));
}

TEST(ScanHelpers, AreNotAskedWhileOthersSearch) {
  ScanHelpers helpers;
  const ScanHelpers::Searching one(helpers);
  const ScanHelpers::Searching other(helpers);
  uint32_t calls = 0;
  helpers.share(2, [&](uint32_t worker) { calls += worker + 1; });
  EXPECT_EQ(calls, 1U);
}

TEST(ScanHelpers, WithoutMemoryOfOneTheSearchFails) {
  ScanHelpers helpers;
  const ScanHelpers::Searching searching(helpers);
  std::mutex mutex;
  std::condition_variable came;
  bool hasCome = false;
  EXPECT_THROW(helpers.share(2,
                             [&](uint32_t worker) {
                               std::unique_lock lock(mutex);
                               hasCome = hasCome || worker == 1;
                               came.notify_all();
                               came.wait(lock, [&] { return hasCome; });
                               if (worker == 1) throw std::bad_alloc();
                             }),
               std::bad_alloc);
}

TEST(SignCodes, MoreCandidatesThatAreScoredAgainFindMore) {
  VectorEngine engine;
  VectorSource source(22, kDims);
  give_documents(engine, source, 4000);
  (void)ask(engine, vector_request(1, source.next(), 10, VectorAlgorithm::kBq));
  engine.settle();
  const auto found = [&engine](uint32_t rescored) {
    VectorSource queries(23, kDims);
    size_t count = 0;
    for (int query = 0; query < 50; ++query) {
      VectorSearchRequest request = vector_request(1, queries.next(), 10);
      const std::vector<uint32_t> exact = docids_of(ask(engine, request));
      request.algorithm = VectorAlgorithm::kBq;
      request.signsRescored = rescored;
      const VectorAnswer answer = ask(engine, request);
      EXPECT_FALSE(answer.isExact);
      const std::vector<uint32_t> docids = docids_of(answer);
      for (const uint32_t docid : exact) count += std::find(docids.begin(), docids.end(), docid) != docids.end() ? 1 : 0;
    }
    return count;
  };
  const size_t few = found(1);
  const size_t some = found(10);
  EXPECT_LT(few, 400U);
  EXPECT_GT(some, few);
  EXPECT_GT(found(100), some);
}

}  // namespace
}  // namespace mds::test
