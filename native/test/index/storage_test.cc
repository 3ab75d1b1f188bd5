// The index on disk. A start opens what was flushed, regardless of what happens in between. Leftovers are
// deleted, and pointers stay valid.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <thread>

#include "storage/chunk_layout.h"
#include "storage/crc32c.h"
#include "storage/env_check.h"
#include "storage/segment_store.h"
#include "support/history.h"
#include "support/scratch_directory.h"
#include "support/seed.h"

namespace mds {
namespace {

using test::History;
using test::ScratchDirectory;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr uint32_t kRounds = 3;
#else
constexpr uint32_t kRounds = 10;
#endif

std::vector<uint8_t> pattern(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint8_t> bytes(size);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

TEST(Crc32c, EqualsTheValueOfTheStandard) {
  const std::string text = "123456789";
  EXPECT_EQ(crc32c(Bytes(reinterpret_cast<const uint8_t*>(text.data()), text.size())), 0xE3069283U);
  EXPECT_EQ(crc32c({}), 0U);
}

TEST(IndexEnv, AChunkTakesExactlySixteenPagesAndItsPayloadBeginsBehindThePageHeader) {
  const ScratchDirectory directory;
  const auto env = IndexEnv::open(directory.path(), test::kTestMapBytes);
  ASSERT_TRUE(env.ok()) << env.status().message();
  const std::vector<uint8_t> chunk = pattern(kChunkValueBytes, 1);
  std::vector<Record> records;
  for (uint32_t number = 0; number < 8; ++number) records.push_back({{RecordKind::kChunk, 1, number}, chunk});
  ASSERT_TRUE(env.value()->write(records, {}).ok());
  constexpr uint64_t kPage = 4096;
  EXPECT_EQ(env.value()->size().liveBytes, (8 * 16 + 1) * kPage);  // plus one leaf of the tree
  const auto chunks = env.value()->read_chunks(1, 8);
  ASSERT_TRUE(chunks.ok());
  for (const Bytes bytes : chunks.value()) EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes.data()) % kPage, 24U);
}

TEST(IndexEnv, PointersStayWhileAHundredThousandOtherValuesAreWrittenAndDeleted) {
  const ScratchDirectory directory;
  const auto env = IndexEnv::open(directory.path(), test::kTestMapBytes);
  ASSERT_TRUE(env.ok());
  const std::vector<uint8_t> chunk = pattern(kChunkValueBytes, 1);
  const std::vector<uint8_t> small = pattern(chunk_value_bytes(100), 2);
  const std::vector<Record> records = {{{RecordKind::kChunk, 1, 0}, chunk}, {{RecordKind::kChunk, 1, 1}, small}};
  ASSERT_TRUE(env.value()->write(records, {}).ok());
  const auto before = env.value()->read_chunks(1, 2);
  ASSERT_TRUE(before.ok());
  std::mt19937_64 random(test::seed());
  const std::vector<uint8_t> noise = pattern(3 * 4096, 3);
  constexpr uint32_t kTransactions = 250;
  constexpr uint32_t kWrites = 400;
  for (uint32_t round = 0; round < kTransactions; ++round) {
    std::vector<Record> others;
    std::vector<RecordKey> gone;
    for (uint32_t write = 0; write < kWrites; ++write) {
      const RecordKey key{RecordKind::kLiveDocs, 2 + random() % 3000, 0};
      if (random() % 3 == 0) {
        gone.push_back(key);
      } else {
        others.push_back({key, Bytes(noise).first(random() % noise.size())});
      }
    }
    ASSERT_TRUE(env.value()->write(others, gone).ok());
  }
  const auto after = env.value()->read_chunks(1, 2);
  ASSERT_TRUE(after.ok());
  for (uint32_t number = 0; number < 2; ++number) EXPECT_EQ(after.value()[number].data(), before.value()[number].data());
  EXPECT_TRUE(std::equal(chunk.begin(), chunk.end(), before.value()[0].begin()));
  EXPECT_TRUE(std::equal(small.begin(), small.end(), before.value()[1].begin()));
  EXPECT_TRUE(check_env_file(directory.file()).ok()) << check_env_file(directory.file()).message();
}

// Engine and binlog with a directory that outlives both.
class Stored : public testing::TestWithParam<uint32_t> {
 protected:
  std::unique_ptr<Engine> open(OpenedIndex& opened, OpenRequest request) {
    auto engine = std::make_unique<Engine>();
    const Result<OpenedIndex> result = engine->open(std::move(request));
    EXPECT_TRUE(result.ok()) << result.status().message();
    if (result.ok()) opened = result.value();
    engine->flushed_to(UINT64_MAX);
    return engine;
  }
  std::unique_ptr<Engine> open(OpenedIndex& opened) { return open(opened, test::request_for(directory.path())); }

  ScratchDirectory directory;
  History history{test::seed() + GetParam()};
};

TEST_P(Stored, WhatWasFlushedIsThereAfterAStartAndTheRestIsReplayed) {
  for (uint32_t round = 0; round < kRounds; ++round) {
    OpenedIndex opened;
    const std::unique_ptr<Engine> engine = open(opened);
    EXPECT_TRUE(opened.damage.empty());
    EXPECT_EQ(opened.checkpoint == 0, round == 0);
    history.replay(*engine, opened.checkpoint);
    if (opened.checkpoint == 0) engine->end_rebuild();
    history.expect_equal(*engine, 20);
    for (uint32_t batch = 0; batch < 20; ++batch) {
      history.write(20);
      ASSERT_TRUE(engine->publish(history.batch_last()).ok());
      const bool isFlushed = batch % 7 != 3 || engine->flush().ok();
      ASSERT_TRUE(isFlushed);
    }
    const bool isMerged = round % 3 != 1 || engine->force_merge().ok();
    ASSERT_TRUE(isMerged);
    ASSERT_TRUE(engine->flush().ok());
    EXPECT_EQ(engine->stats().checkpoint, history.lsn_last());
    EXPECT_EQ(engine->stats().storedSegments, engine->stats().segments);
    history.expect_equal(*engine, 20);
    // Not flushed: in memory only. Lost with the engine unless the flush thread was faster.
    for (uint32_t batch = 0; batch < 3; ++batch) {
      history.write(5);
      ASSERT_TRUE(engine->publish(history.batch_last()).ok());
    }
    if (HasFatalFailure()) return;
  }
  EXPECT_TRUE(check_env_file(directory.file()).ok());
}

TEST_P(Stored, ScoresAndPagesOfAStoredSegmentEqualThoseInMemory) {
  OpenedIndex opened;
  const std::unique_ptr<Engine> stored = open(opened);
  Engine memory;
  for (uint32_t batch = 0; batch < 60; ++batch) {
    history.write(40);
    ASSERT_TRUE(stored->publish(history.batch_last()).ok());
    ASSERT_TRUE(memory.publish(history.batch_last()).ok());
  }
  ASSERT_TRUE(stored->force_merge().ok());
  ASSERT_TRUE(memory.force_merge().ok());
  ASSERT_EQ(stored->stats().storedSegments, 1U);
  for (uint32_t round = 0; round < 100; ++round) {
    test::Plan plan = history.generator.plan(1 + history.generator.below(test::kHistoryCollections));
    plan.sort = history.generator.below(5);
    plan.descending = history.generator.below(2);
    const test::Wire bytes = test::plan_bytes(plan);
    EXPECT_EQ(stored->search(bytes, {}).value(), memory.search(bytes, {}).value());
  }
}

TEST_P(Stored, ManifestsWaitForTheStoresFlush) {
  OpenedIndex opened;
  Engine engine;
  ASSERT_TRUE(engine.open(test::request_for(directory.path())).ok());
  engine.end_rebuild();
  // A batch that only deletes creates no segment.
  do {
    history.write(20);
    ASSERT_TRUE(engine.publish(history.batch_last()).ok());
  } while (history.model.size() == 0);
  std::atomic<bool> isFlushed{false};
  std::thread flusher([&] {
    EXPECT_TRUE(engine.flush().ok());
    isFlushed.store(true);
  });
  engine.flushed_to(history.lsn_last() - 1);
  while (engine.stats().storedSegments == 0) std::this_thread::yield();
  EXPECT_FALSE(isFlushed.load());
  EXPECT_EQ(engine.stats().checkpoint, 0U);
  engine.flushed_to(history.lsn_last());
  flusher.join();
  EXPECT_EQ(engine.stats().checkpoint, history.lsn_last());
}

TEST_P(Stored, ACrashAtAnyPointOfAFlushLosesNothingThatReplayDoesNotBringBack) {
  for (uint32_t crashAt = 0; crashAt < 3 * kRounds; ++crashAt) {
    for (uint32_t batch = 0; batch < 6; ++batch) history.write(10);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      std::atomic<uint32_t> point{0};  // reached by merges as well as by the flush
      OpenRequest request = test::request_for(directory.path());
      request.onPoint = [&point, crashAt](const char*) {
        if (point.fetch_add(1) == crashAt % 11) _exit(7);
      };
      OpenedIndex opened;
      const std::unique_ptr<Engine> engine = open(opened, std::move(request));
      history.replay(*engine, opened.checkpoint);
      if (opened.checkpoint == 0) engine->end_rebuild();
      (void)engine->flush();
      (void)engine->force_merge();
      (void)engine->flush();
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    ASSERT_TRUE(check_env_file(directory.file()).ok()) << check_env_file(directory.file()).message();
    OpenedIndex opened;
    const std::unique_ptr<Engine> engine = open(opened);
    EXPECT_TRUE(opened.damage.empty());
    history.replay(*engine, opened.checkpoint);
    if (opened.checkpoint == 0) engine->end_rebuild();
    history.expect_equal(*engine, 5);
    if (HasFatalFailure()) return;
  }
}

TEST_P(Stored, LeftoversOfAnInterruptedWriteAreSweptAtTheNextStart) {
  {
    StoredIndex found;
    const auto store = SegmentStore::open(directory.path(), {test::kTestMapBytes, {}, {}}, found);
    ASSERT_TRUE(store.ok());
    Engine memory;
    // A batch that only deletes creates no segment.
    while (memory.snapshot()->segments.empty()) {
      history.write(50);
      ASSERT_TRUE(memory.publish(history.batch_last()).ok());
    }
    const auto segment = store.value()->write_segment(*memory.snapshot()->segments[0].segment, false);
    ASSERT_TRUE(segment.ok()) << segment.status().message();
  }
  const auto keys = [this] { return IndexEnv::open(directory.path(), test::kTestMapBytes).value()->keys().value().size(); };
  EXPECT_GT(keys(), 0U);
  StoredIndex found;
  ASSERT_TRUE(SegmentStore::open(directory.path(), {test::kTestMapBytes, {}, {}}, found).ok());
  EXPECT_EQ(keys(), 0U);
}

TEST_P(Stored, ChunksOfMergedSegmentsAreDeletedOnceTheyHaveNoReader) {
  OpenedIndex opened;
  const std::unique_ptr<Engine> engine = open(opened);
  engine->end_rebuild();
  std::shared_ptr<const SegmentSet> reader;
  for (uint32_t round = 0; round < 10; ++round) {
    for (uint32_t batch = 0; batch < 10; ++batch) {
      history.write(20);
      ASSERT_TRUE(engine->publish(history.batch_last()).ok());
    }
    ASSERT_TRUE(engine->flush().ok());
    if (round == 5) reader = engine->snapshot();
  }
  ASSERT_TRUE(engine->force_merge().ok());
  // The reader's segments still have their pages. All their keys are still readable.
  for (const SegmentRef& ref : reader->segments) {
    for (uint32_t slot = 0; slot < ref.segment->slot_count(); ++slot) EXPECT_FALSE(ref.segment->key(slot).empty());
  }
  reader.reset();
  const auto isSwept = [&] {
    if (!engine->flush().ok()) return false;
    const EngineStats stats = engine->stats();
    return stats.indexLiveBytes <= stats.storedBytes + 8 * 4096;
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!isSwept() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_TRUE(isSwept()) << engine->stats().indexLiveBytes << " bytes live, " << engine->stats().storedBytes << " stored";
  history.expect_equal(*engine, 10);
}

TEST_P(Stored, AtRestFewSegmentsRemainAndNothingIsLost) {
  OpenedIndex opened;
  const std::unique_ptr<Engine> engine = open(opened);
  engine->end_rebuild();
  for (uint32_t round = 0; round < 4; ++round) {
    for (uint32_t batch = 0; batch < 8; ++batch) {
      history.write(20);
      ASSERT_TRUE(engine->publish(history.batch_last()).ok());
    }
    ASSERT_TRUE(engine->flush().ok());
  }
  ASSERT_GT(engine->snapshot()->segments.size(), 1U);
  engine->rest();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (engine->snapshot()->segments.size() > 1 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_EQ(engine->snapshot()->segments.size(), 1U);
  // Their pages are freed without another write.
  const auto isSwept = [&] { return engine->stats().indexLiveBytes <= engine->stats().storedBytes + 8 * 4096; };
  while (!isSwept() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_TRUE(isSwept()) << engine->stats().indexLiveBytes << " bytes live, " << engine->stats().storedBytes << " stored";
  history.expect_equal(*engine, 10);
}

TEST_P(Stored, AnIndexOfAnotherHistoryIsThrownAway) {
  const auto write_some = [this](Engine& engine) {
    history.write(20);
    EXPECT_TRUE(engine.publish(history.batch_last()).ok());
    EXPECT_TRUE(engine.flush().ok());
  };
  OpenedIndex opened;
  {
    const std::unique_ptr<Engine> engine = open(opened);
    engine->end_rebuild();
    write_some(*engine);
  }
  const uint64_t checkpoint = history.lsn_last();
  OpenRequest ended = test::request_for(directory.path());
  ended.history = {{Epoch{1}, checkpoint}, {Epoch{2}, checkpoint + 5}};
  { EXPECT_EQ(open(opened, ended)->stats().documents, history.model.size()); }
  EXPECT_EQ(opened.checkpoint, checkpoint);
  // The store lost the last entry of the first epoch and assigned its LSN again in the second epoch.
  ended.history[0].lsnLast = checkpoint - 1;
  { EXPECT_EQ(open(opened, ended)->stats().documents, 0U); }
  EXPECT_EQ(opened.checkpoint, 0U);
  EXPECT_EQ(opened.damage.size(), 1U);
}

TEST_P(Stored, DroppedCollectionsStayDropped) {
  OpenedIndex opened;
  {
    const std::unique_ptr<Engine> engine = open(opened);
    engine->end_rebuild();
    history.write(50);
    ASSERT_TRUE(engine->publish(history.batch_last()).ok());
    ASSERT_TRUE(engine->publish(test::batch_of({test::drop_op(1, history.lsn_last() + 1)}, history.lsn_last() + 1)).ok());
    ASSERT_TRUE(engine->flush().ok());
  }
  const std::unique_ptr<Engine> engine = open(opened);
  history.model.drop(1);
  history.expect_equal(*engine, 10);
  test::Document late;
  late.docid = 999999;
  late.lsn = history.lsn_last() + 2;
  ASSERT_TRUE(engine->publish(test::batch_of({test::upsert_op(late)}, late.lsn)).ok());
  EXPECT_EQ(engine->stats().documents, history.model.size());
}

TEST_P(Stored, TheFileStaysBelowTwiceItsLivePagesAfterTenRewrites) {
  OpenedIndex opened;
  const std::unique_ptr<Engine> engine = open(opened);
  engine->end_rebuild();
  uint64_t lsn = 0;
  test::Generator generator(test::seed());
  for (uint32_t rewrite = 0; rewrite < 10; ++rewrite) {
    for (uint32_t batch = 0; batch < 40; ++batch) {
      std::vector<test::Wire> ops;
      for (uint32_t docid = batch * 100; docid < batch * 100 + 100; ++docid) ops.push_back(test::upsert_op(generator.document(1, docid, ++lsn)));
      ASSERT_TRUE(engine->publish(test::batch_of(ops, lsn)).ok());
    }
    ASSERT_TRUE(engine->flush().ok());
  }
  ASSERT_TRUE(engine->force_merge().ok());
  const EngineStats stats = engine->stats();
  // A merge needs its sources and its result at the same time, and pages freed by one transaction are reused
  // two transactions later. With so little content this is most of the file.
  EXPECT_LE(stats.indexFileBytes, 2 * stats.indexLiveBytes + (4 << 20)) << stats.indexLiveBytes << " bytes live";
}

TEST_P(Stored, ReadersWritersFlushesAndMergesRunBesideEachOther) {
  OpenedIndex opened;
  const std::unique_ptr<Engine> engine = open(opened);
  engine->end_rebuild();
  std::atomic<bool> isDone{false};
  const auto read = [&] {
    test::Generator generator(test::seed());
    while (!isDone.load()) {
      ASSERT_TRUE(engine->search(test::plan_bytes(generator.plan(1)), {}).ok());
      ASSERT_TRUE(engine->meta_keys(2).ok());
      (void)engine->stats();
      (void)engine->holds(1, 5, 5);
    }
  };
  std::thread readerA(read);
  std::thread readerB(read);
  std::thread merger([&] {
    while (!isDone.load()) ASSERT_TRUE(engine->force_merge().ok());
  });
  std::thread flusher([&] {
    while (!isDone.load()) ASSERT_TRUE(engine->flush().ok());
  });
  for (uint32_t batch = 0; batch < 30 * kRounds; ++batch) {
    history.write(10);
    ASSERT_TRUE(engine->publish(history.batch_last()).ok());
  }
  isDone.store(true);
  for (std::thread* thread : {&readerA, &readerB, &merger, &flusher}) thread->join();
  ASSERT_TRUE(engine->flush().ok());
  history.expect_equal(*engine, 20);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Stored, testing::Range(0U, 3U));

}  // namespace
}  // namespace mds
