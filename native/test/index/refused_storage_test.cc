// The index on disk when disk writes fail. Leftovers are always deleted, and nothing undamaged is discarded.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <optional>
#include <thread>

#include "storage/chunk_layout.h"
#include "storage/segment_store.h"
#include "support/file_size_limit.h"
#include "support/history.h"
#include "support/scratch_directory.h"
#include "support/seed.h"

namespace mds {
namespace {

using test::FileSizeLimit;
using test::History;
using test::ScratchDirectory;

constexpr uint64_t kPage = 4096;
// Capacity for the meta pages only. Every transaction fails before it writes them.
constexpr uint64_t kNoSpace = 2 * kPage;

class RefusedStorage : public testing::Test {
 protected:
  // A segment with some documents. `noise`: number of bytes that make the segment larger.
  static std::shared_ptr<const Segment> memory_segment(uint64_t serial, size_t noise = 0) {
    Engine memory;
    History history(test::seed());
    // A batch that only deletes creates no segment.
    while (memory.snapshot()->segments.empty()) {
      history.write(50);
      EXPECT_TRUE(memory.publish(history.batch_last()).ok());
    }
    SegmentColumns columns = memory.snapshot()->segments[0].segment->columns();
    columns.positions.resize(columns.positions.size() + noise, 1);
    return std::make_shared<const Segment>(serial, std::move(columns));
  }
  Result<std::unique_ptr<SegmentStore>> open() {
    found = {};
    return SegmentStore::open(directory.path(), {test::kTestMapBytes, {}, {}}, found);
  }
  // Writes the segment to the store and commits it as the only segment of the index.
  static SegmentRef keep(SegmentStore& store, uint64_t serial) {
    const auto written = store.write_segment(*memory_segment(serial), false);
    EXPECT_TRUE(written.ok());
    const SegmentRef ref{written.value(), nullptr, 0};
    Manifest manifest;
    manifest.serialNext = serial + 1;
    EXPECT_TRUE(store.commit(manifest, {ref}).ok());
    return ref;
  }
  // The size of an index file that contains only the first group of chunks of the segment.
  static uint64_t bytes_with_first_group(const Segment& segment) {
    std::vector<uint64_t> sizes;
    zip_columns(segment.columns(), segment.columns(), [&sizes](const auto& column, const auto&, ColumnStart) { sizes.push_back(column.size()); });
    const std::vector<uint8_t> bytes(kChunkValueBytes);
    std::vector<Record> group;
    for (const size_t valueBytes : layout_of(sizes).chunkValueBytes) {
      if (group.size() * kChunkValueBytes >= kStoreTransactionBytes) break;
      group.push_back({{RecordKind::kChunk, 1, static_cast<uint32_t>(group.size())}, Bytes(bytes).first(valueBytes)});
    }
    const ScratchDirectory other;
    const auto env = IndexEnv::open(other.path(), test::kTestMapBytes);
    EXPECT_TRUE(env.ok() && env.value()->write(group, {}).ok());
    return env.value()->size().fileBytes;
  }
  [[nodiscard]] uint64_t file_bytes() const { return std::filesystem::file_size(directory.file()); }

  ScratchDirectory directory;
  StoredIndex found;
};

TEST_F(RefusedStorage, ASegmentWhoseDeletionWasRefusedIsDeletedByTheNextSweep) {
  const auto store = open();
  ASSERT_TRUE(store.ok());
  SegmentRef segment = keep(*store.value(), 1);
  ASSERT_TRUE(store.value()->commit({}, {}).ok());
  segment = {};
  {
    const FileSizeLimit limit(kNoSpace);
    EXPECT_FALSE(store.value()->sweep().ok());
  }
  EXPECT_GT(store.value()->size().liveBytes, kPage);
  ASSERT_TRUE(store.value()->sweep().ok());
  EXPECT_EQ(store.value()->size().liveBytes, kPage) << "the leaf that the manifest lies in";
}

TEST_F(RefusedStorage, ASegmentThatIsRefusedHalfWayLeavesNothingBehind) {
  const auto store = open();
  ASSERT_TRUE(store.ok());
  const std::shared_ptr<const Segment> large = memory_segment(1, 3 * kStoreTransactionBytes);
  // The disk has space for the first group of chunks, but not for the second.
  const FileSizeLimit limit(kStoreTransactionBytes + kStoreTransactionBytes / 2);
  EXPECT_FALSE(store.value()->write_segment(*large, false).ok());
  EXPECT_EQ(store.value()->size().liveBytes, 0U);
}

TEST_F(RefusedStorage, WhatARefusedSegmentLeavesBehindIsDeletedByTheNextSweepWhereItCanNotBeTakenBackAtOnce) {
  const auto store = open();
  ASSERT_TRUE(store.ok());
  const std::shared_ptr<const Segment> large = memory_segment(1, 2 * kStoreTransactionBytes);
  {
    // No page is left to write their leaf without them.
    const FileSizeLimit limit(bytes_with_first_group(*large));
    EXPECT_FALSE(store.value()->write_segment(*large, false).ok());
    EXPECT_GT(store.value()->size().liveBytes, kStoreTransactionBytes / 2) << "the first group is there and can't be taken back";
  }
  ASSERT_TRUE(store.value()->sweep().ok());
  EXPECT_EQ(store.value()->size().liveBytes, 0U);
}

TEST_F(RefusedStorage, AStartThatCanNotDeleteLeftoversKeepsTheIndexAndDeletesThemLater) {
  {
    const auto store = open();
    ASSERT_TRUE(store.ok());
    (void)keep(*store.value(), 1);
    ASSERT_TRUE(store.value()->write_segment(*memory_segment(2), false).ok());
  }
  std::optional<FileSizeLimit> limit(kNoSpace);
  const auto store = open();
  limit.reset();
  ASSERT_TRUE(store.ok()) << store.status().message();
  ASSERT_EQ(found.segments.size(), 1U);
  const uint64_t liveBytes = store.value()->size().liveBytes;
  ASSERT_TRUE(store.value()->sweep().ok());
  EXPECT_LT(store.value()->size().liveBytes, liveBytes);
}

TEST_F(RefusedStorage, ADamagedSegmentIsDeletedAfterTheManifestWithoutIt) {
  {
    const auto store = open();
    ASSERT_TRUE(store.ok());
    (void)keep(*store.value(), 1);
  }
  {
    const auto env = IndexEnv::open(directory.path(), test::kTestMapBytes);
    ASSERT_TRUE(env.ok());
    ASSERT_TRUE(env.value()->write(std::vector<Record>{{{RecordKind::kDescriptor, 1, 0}, Bytes()}}, {}).ok());
  }
  const auto store = open();
  ASSERT_TRUE(store.ok());
  ASSERT_EQ(found.damaged.size(), 1U);
  ASSERT_TRUE(store.value()->sweep().ok());
  EXPECT_GT(store.value()->size().liveBytes, kPage) << "the manifest on disk still names it";
  ASSERT_TRUE(store.value()->commit({}, {}).ok());
  ASSERT_TRUE(store.value()->sweep().ok());
  EXPECT_EQ(store.value()->size().liveBytes, kPage);
}

TEST_F(RefusedStorage, WhatARefusedTransactionHasWrittenBehindTheLastPageIsCutOff) {
  const auto env = IndexEnv::open(directory.path(), test::kTestMapBytes);
  ASSERT_TRUE(env.ok());
  const std::vector<uint8_t> chunk(kChunkValueBytes, 7);
  std::vector<Record> records;
  for (uint32_t number = 0; number < 32; ++number) records.push_back({{RecordKind::kChunk, 2, number}, chunk});
  ASSERT_TRUE(env.value()->write(std::vector<Record>{{{RecordKind::kChunk, 1, 0}, chunk}}, {}).ok());
  const uint64_t before = file_bytes();
  {
    const FileSizeLimit limit(before + 8 * kChunkBytes);
    ASSERT_FALSE(env.value()->write(records, {}).ok());
    EXPECT_EQ(file_bytes(), before);
  }
  ASSERT_TRUE(env.value()->write(records, {}).ok());
  const auto chunks = env.value()->read_chunks(2, 32);
  ASSERT_TRUE(chunks.ok());
  for (const Bytes bytes : chunks.value()) EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), chunk.begin(), chunk.end()));
  EXPECT_TRUE(env.value()->read_chunks(1, 1).ok());
}

TEST_F(RefusedStorage, AStartCutsOffWhatAProcessThatEndedInATransactionHasWrittenAndAReaderLeavesIt) {
  {
    const auto store = open();
    ASSERT_TRUE(store.ok());
    (void)keep(*store.value(), 1);
  }
  const uint64_t before = file_bytes();
  const uint64_t longer = before + 100 * kPage + 17;
  std::filesystem::resize_file(directory.file(), longer);
  ASSERT_TRUE(IndexEnv::open(directory.path(), test::kTestMapBytes, true).ok());
  EXPECT_EQ(file_bytes(), longer);
  ASSERT_TRUE(open().ok());
  EXPECT_EQ(file_bytes(), before);
  EXPECT_EQ(found.segments.size(), 1U);
}

TEST_F(RefusedStorage, AfterAMergeWhoseManifestWasRefusedItsSourcesAreDeletedWithoutAnotherWrite) {
  std::atomic<bool> isRefusing{false};
  std::optional<FileSizeLimit> limit;
  Engine engine;
  OpenRequest request = test::request_for(directory.path());
  request.onPoint = [&](const char* point) {
    if (std::string_view(point) == "before manifest" && isRefusing.exchange(false)) limit.emplace(kNoSpace);
  };
  ASSERT_TRUE(engine.open(std::move(request)).ok());
  engine.flushed_to(UINT64_MAX);
  engine.end_rebuild();
  ASSERT_TRUE(engine.flush().ok());
  History history(test::seed());
  for (uint32_t round = 0; round < 3; ++round) {
    for (uint32_t batch = 0; batch < 8; ++batch) {
      history.write(20);
      ASSERT_TRUE(engine.publish(history.batch_last()).ok());
    }
    ASSERT_TRUE(engine.flush().ok());
  }
  isRefusing.store(true);
  ASSERT_FALSE(engine.force_merge().ok());
  ASSERT_TRUE(limit.has_value());
  limit.reset();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  const auto isSwept = [&] { return engine.stats().indexLiveBytes <= engine.stats().storedBytes + 8 * kPage; };
  while (!isSwept() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_TRUE(isSwept()) << engine.stats().indexLiveBytes << " bytes live, " << engine.stats().storedBytes << " stored";
  history.expect_equal(engine, 10);
}

TEST_F(RefusedStorage, ReadersOfSegmentStatisticsDoNotWaitForACommit) {
  SegmentRef segment;
  SegmentStore* asked = nullptr;
  bool isAnswered = false;
  std::future<uint64_t> answer;
  const auto ask = [&] { return asked->is_sealed_otherwise(*segment.segment) ? 0 : asked->size().fileBytes; };
  SegmentStore::Options options{test::kTestMapBytes, {}, std::make_shared<IndexSealing>()};
  options.onPoint = [&](const char* point) {
    if (asked == nullptr || std::string_view(point) != "before manifest") return;
    // Runs on another thread. A search that had to wait would return after the commit.
    answer = std::async(std::launch::async, ask);
    isAnswered = answer.wait_for(std::chrono::seconds(10)) == std::future_status::ready;
  };
  const auto store = SegmentStore::open(directory.path(), std::move(options), found);
  ASSERT_TRUE(store.ok());
  segment = keep(*store.value(), 1);
  asked = store.value().get();
  ASSERT_TRUE(asked->commit({}, {segment}).ok());
  EXPECT_TRUE(isAnswered);
  EXPECT_GT(answer.get(), 0U);
}

}  // namespace
}  // namespace mds
