// Vectors while writes of their files fail. Searches stay correct, all leftovers are removed, and everything
// is stored once there is space.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <thread>

#include "support/file_size_limit.h"
#include "support/scratch_directory.h"
#include "support/vector_wire.h"

namespace mds::test {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kDims = 32;
// Enough for a graph.
constexpr uint32_t kDocuments = 2500;
constexpr uint32_t kDocumentsMore = 100;

// Waits for the end of an automatic retry. During a retry the condition may be false.
void expect_soon(const std::function<bool()>& isSo, const char* what) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!isSo() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_TRUE(isSo()) << what;
}

// Swaps both paths atomically, so that no reader finds one of them missing.
void swap_paths(const std::string& one, const std::string& other) { ASSERT_EQ(renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE), 0); }

class RefusedVectors : public testing::Test {
 protected:
  void give(VectorEngine& engine, uint32_t count, uint64_t lsn) {
    VectorBatchBuilder batch;
    for (uint32_t added = 0; added < count; ++added) {
      const auto docid = static_cast<uint32_t>(vectors_.size());
      vectors_[docid] = {lsn, source_.next()};
      batch.set(1, docid, lsn, kDims, vectors_[docid].second);
    }
    ASSERT_TRUE(engine.apply(batch.bytes()).ok());
  }
  // Each vector of a sample must be its own nearest neighbour.
  void expect_found(VectorEngine& engine) {
    for (uint32_t docid = 0; docid < vectors_.size(); docid += 50) {
      EXPECT_EQ(docids_of(ask(engine, vector_request(1, vectors_.at(docid).second, 1))), std::vector<uint32_t>{docid});
    }
  }
  // Returns the number of documents that a start finds on disk.
  [[nodiscard]] uint32_t stored(std::span<const EpochSpan> history = {}) const {
    VectorEngine engine;
    EXPECT_TRUE(engine.open(path(), history).ok());
    return engine.stats().empty() ? 0 : engine.stats()[0].documents;
  }
  [[nodiscard]] std::string path() const { return directory_.path() + "/vectors"; }
  [[nodiscard]] std::string file(const char* name) const { return path() + "/" + name; }

  ScratchDirectory directory_;
  VectorSource source_{6, kDims};
  std::map<uint32_t, std::pair<uint64_t, std::vector<float>>> vectors_;
};

TEST_F(RefusedVectors, AreFoundInMemoryAndStoredOnceThereIsSpace) {
  {
    VectorEngine engine;
    ASSERT_TRUE(engine.open(path()).ok());
    {
      const FileSizeLimit limit(4096);
      give(engine, kDocuments, 1);
      engine.settle();
      EXPECT_GT(engine.storage_failures(), 0U);
      expect_soon([this] { return fs::is_empty(path()); }, "what was refused stays behind");
      expect_found(engine);
    }
    engine.settle();
    expect_found(engine);
  }
  EXPECT_EQ(stored(), kDocuments);
}

TEST_F(RefusedVectors, OfASetThatGrowsStayAsTheyWereAndTheRestFollowsOnceThereIsSpace) {
  {
    VectorEngine engine;
    ASSERT_TRUE(engine.open(path()).ok());
    give(engine, kDocuments, 1);
    engine.settle();
    const uint64_t before = fs::file_size(file("1-32-0.rows"));
    {
      const FileSizeLimit limit(before + 4096);
      give(engine, kDocumentsMore, 2);
      engine.settle();
      EXPECT_GT(engine.storage_failures(), 0U);
      expect_soon([this, before] { return fs::file_size(file("1-32-0.rows")) == before; }, "what was refused stays behind");
      expect_found(engine);
    }
    engine.settle();
    expect_found(engine);
  }
  EXPECT_EQ(stored(), kDocuments + kDocumentsMore);
}

TEST_F(RefusedVectors, AGraphThatTheDiskRefusesLeavesNothingBehindAndIsWrittenAgain) {
  VectorEngine engine;
  ASSERT_TRUE(engine.open(path()).ok());
  // Every write to it fails with ENOSPC while the link exists.
  fs::create_symlink("/dev/full", file("1-32-0.graph.tmp"));
  give(engine, kDocuments, 1);
  engine.settle();
  engine.settle();
  EXPECT_GT(engine.storage_failures(), 0U);
  EXPECT_FALSE(fs::is_symlink(fs::symlink_status(file("1-32-0.graph.tmp")))) << "what was refused stays behind";
  EXPECT_TRUE(fs::is_regular_file(file("1-32-0.graph")));
}

TEST_F(RefusedVectors, FilesThatCouldNotBeRemovedAreRemovedLater) {
  VectorEngine engine;
  ASSERT_TRUE(engine.open(path()).ok());
  give(engine, kDocuments, 1);
  engine.settle();
  // unlink does not remove a directory.
  const std::string other = directory_.path() + "/other";
  fs::create_directory(other);
  swap_paths(other, file("1-32-0.rows"));
  ASSERT_TRUE(engine.set_sealed(1, true).ok());
  engine.settle();
  EXPECT_GT(engine.storage_failures(), 0U);
  swap_paths(other, file("1-32-0.rows"));
  engine.settle();
  EXPECT_TRUE(fs::is_empty(path())) << "a sealed collection lies on disk";
  expect_found(engine);
}

TEST_F(RefusedVectors, AFolderThatCouldNotBeOpenedIsCreatedAgainLater) {
  const std::vector<EpochSpan> history = {{Epoch{1}, 10}};
  {
    VectorEngine engine;
    std::ofstream(path()).close();
    EXPECT_FALSE(engine.open(path(), history).ok());
    EXPECT_TRUE(engine.is_store_refused());
    give(engine, kDocuments, 1);
    engine.settle();
    EXPECT_TRUE(engine.is_store_refused());
    expect_found(engine);
    const std::string other = directory_.path() + "/other";
    fs::create_directory(other);
    std::ofstream(other + "/9-32-0.rows") << "of no use";
    swap_paths(other, path());
    engine.settle();
    EXPECT_FALSE(engine.is_store_refused());
    EXPECT_FALSE(fs::exists(file("9-32-0.rows")));
    expect_found(engine);
  }
  EXPECT_EQ(stored(history), kDocuments);
}

TEST_F(RefusedVectors, AreStoredUnderANewEpochOnceThereIsSpaceForItsMark) {
  const std::vector<EpochSpan> before = {{Epoch{1}, 10}};
  const std::vector<EpochSpan> after = {{Epoch{1}, 10}, {Epoch{2}, UINT64_MAX}};
  {
    VectorEngine engine;
    ASSERT_TRUE(engine.open(path(), before).ok());
    give(engine, kDocuments, 1);
    engine.settle();
  }
  {
    VectorEngine engine;
    std::optional<FileSizeLimit> limit(0);
    const auto opened = engine.open(path(), after);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    expect_found(engine);
    give(engine, kDocumentsMore, 11);
    engine.settle();
    EXPECT_GT(engine.storage_failures(), 0U);
    expect_found(engine);
    limit.reset();
    engine.settle();
  }
  EXPECT_EQ(stored(after), kDocuments + kDocumentsMore);
}

// Otherwise the next start would treat LSNs of the new epoch as those of the previous one.
TEST_F(RefusedVectors, AreNotStoredUnderAnEpochWithoutItsMark) {
  const std::vector<EpochSpan> before = {{Epoch{1}, UINT64_MAX}};
  {
    VectorEngine engine;
    ASSERT_TRUE(engine.open(path(), before).ok());
    give(engine, kDocuments, 1);
    engine.settle();
  }
  {
    VectorEngine engine;
    // The mark cannot be written; everything else can.
    fs::create_directories(file("EPOCH.tmp/x"));
    ASSERT_TRUE(engine.open(path(), std::vector<EpochSpan>{{Epoch{1}, 10}, {Epoch{2}, UINT64_MAX}}).ok());
    give(engine, kDocumentsMore, 11);
    engine.settle();
    EXPECT_GT(engine.storage_failures(), 0U);
  }
  EXPECT_EQ(stored(before), kDocuments);
}

}  // namespace
}  // namespace mds::test
