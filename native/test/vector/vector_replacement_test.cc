// The engine that a restore opens next to the current one. It is invisible before it is adopted. Running
// calls keep the engine that they started with. A dropped engine leaves only its files behind. Vectors newer
// than the history of the store are discarded.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/replaceable.h"
#include "support/scratch_directory.h"
#include "support/vector_wire.h"

namespace mds::test {
namespace {

constexpr uint32_t kDims = 8;
constexpr uint32_t kDocuments = 100;
constexpr Epoch kFirst{1};
constexpr Epoch kSecond{2};

std::vector<float> axis(uint32_t at) {
  std::vector<float> vector(kDims, 0.1F);
  vector[at % kDims] = 1;
  return vector;
}

void give(VectorEngine& engine, uint32_t count, uint64_t lsn, uint32_t turn = 0) {
  VectorBatchBuilder batch;
  for (uint32_t docid = 0; docid < count; ++docid) batch.set(1, docid, lsn + docid, kDims, axis(docid + turn));
  ASSERT_TRUE(engine.apply(batch.bytes()).ok());
}

uint32_t documents_of(const VectorEngine& engine) {
  const std::vector<VectorSetStats> stats = engine.stats();
  return stats.empty() ? 0 : stats.front().documents;
}

class VectorReplacement : public testing::Test {
 protected:
  VectorReplacement() { give(*engines_.current(), 3, 1); }

  [[nodiscard]] std::shared_ptr<VectorEngine> open_next() {
    auto next = std::make_shared<VectorEngine>();
    EXPECT_TRUE(next->open(path()).ok());
    engines_.set_next(next);
    return next;
  }
  [[nodiscard]] std::string path() const { return directory_.path() + "/vectors"; }

  ScratchDirectory directory_;
  Replaceable<VectorEngine> engines_;
};

TEST_F(VectorReplacement, TheNextEngineIsUsedFromItsAdoptionOn) {
  ASSERT_FALSE(engines_.adopt_next());
  give(*open_next(), kDocuments, 1);
  EXPECT_EQ(documents_of(*engines_.current()), 3U);
  EXPECT_EQ(documents_of(*engines_.next()), kDocuments);
  ASSERT_TRUE(engines_.adopt_next());
  EXPECT_EQ(documents_of(*engines_.current()), kDocuments);
  EXPECT_EQ(engines_.next(), nullptr);
  EXPECT_FALSE(engines_.adopt_next());
}

TEST_F(VectorReplacement, ACallKeepsTheEngineThatItBeganWith) {
  const std::shared_ptr<VectorEngine> before = engines_.current();
  give(*open_next(), kDocuments, 1);
  ASSERT_TRUE(engines_.adopt_next());
  EXPECT_EQ(docids_of(ask(*before, vector_request(1, axis(1), 1))), std::vector<uint32_t>{1});
  EXPECT_EQ(documents_of(*before), 3U);
}

TEST_F(VectorReplacement, ADroppedEngineIsNeverUsedAndItsDirectoryMayBeOpenedAgain) {
  {
    const std::shared_ptr<VectorEngine> next = open_next();
    give(*next, kDocuments, 1);
    next->settle();
  }
  engines_.set_next(nullptr);
  EXPECT_EQ(engines_.next(), nullptr);
  EXPECT_EQ(documents_of(*engines_.current()), 3U);
  EXPECT_EQ(documents_of(*open_next()), kDocuments);
  ASSERT_TRUE(engines_.adopt_next());
  EXPECT_EQ(docids_of(ask(*engines_.current(), vector_request(1, axis(5), 1))), std::vector<uint32_t>{5});
}

TEST_F(VectorReplacement, ALaterNextEngineReplacesOneThatWasNotAdopted) {
  give(*open_next(), kDocuments, 1);
  auto other = std::make_shared<VectorEngine>();
  give(*other, 7, 1);
  engines_.set_next(other);
  ASSERT_TRUE(engines_.adopt_next());
  EXPECT_EQ(documents_of(*engines_.current()), 7U);
}

class VectorHistory : public testing::Test {
 protected:
  // Opens under a history, adds documents with LSNs starting at `lsn`, and stores them. Returns the number of
  // documents found and the number of lines reported.
  std::pair<uint32_t, size_t> life(const std::vector<EpochSpan>& history, uint32_t count = 0, uint64_t lsn = 0) {
    VectorEngine engine;
    const auto opened = engine.open(path(), history);
    EXPECT_TRUE(opened.ok());
    const uint32_t found = documents_of(engine);
    give(engine, count, lsn);
    engine.settle();
    return {found, opened.ok() ? opened.value().size() : 0};
  }
  [[nodiscard]] std::string path() const { return directory_.path() + "/vectors"; }

  ScratchDirectory directory_;
};

using Outcome = std::pair<uint32_t, size_t>;

TEST_F(VectorHistory, VectorsStoredInTheSameEpochAreLoaded) {
  EXPECT_EQ(life({{kFirst, 0}}, kDocuments, 1), Outcome(0, 0));
  EXPECT_EQ(life({{kFirst, 100}}), Outcome(kDocuments, 0));
}

TEST_F(VectorHistory, VectorsNewerThanTheEndOfTheirEpochAreDiscarded) {
  (void)life({{kFirst, 0}}, kDocuments, 1);
  (void)life({{kFirst, 100}}, kDocuments, 101);
  // The store has lost LSN 150 and the following ones; they are assigned again in the second epoch. A group
  // that contains a newer LSN is discarded as a whole.
  EXPECT_EQ(life({{kFirst, 149}, {kSecond, 149}}).first, kDocuments);
  EXPECT_EQ(life({{kFirst, 149}, {kSecond, 500}}), Outcome(kDocuments, 0));
}

TEST_F(VectorHistory, FilesOfAnotherHistoryAreIgnored) {
  (void)life({{kFirst, 0}}, kDocuments, 1);
  const Outcome outcome = life({{kSecond, 1000}});
  EXPECT_EQ(outcome.first, 0U);
  EXPECT_GT(outcome.second, 0U);
}

TEST_F(VectorHistory, FilesWithoutAValidMarkAreIgnored) {
  for (const char* mark : {"", "MVE1", "MVE1................1234"}) {
    (void)life({{kFirst, 0}}, kDocuments, 1);
    std::ofstream(path() + "/EPOCH", std::ios::trunc) << mark;
    EXPECT_EQ(life({{kFirst, 1000}}).first, 0U);
  }
}

}  // namespace
}  // namespace mds::test
