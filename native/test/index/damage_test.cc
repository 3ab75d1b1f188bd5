// Damage to the index file while no process has it open: bit flips, zeroed pages, truncations. Each must be
// harmless, or detected when the index is opened, before a search can read it.
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <random>

#include "query/pruned/score_estimate.h"
#include "storage/env_check.h"
#include "storage/manifest.h"
#include "support/history.h"
#include "support/scratch_directory.h"
#include "support/seed.h"
#include "support/stored_walk.h"

namespace mds {
namespace {

using test::History;
using test::ScratchDirectory;
using test::Wire;

constexpr size_t kPage = 4096;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr uint32_t kMutations = 200;
#else
constexpr uint32_t kMutations = 2000;
#endif

Wire read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return Wire(std::istreambuf_iterator<char>(in), {});
}

void write_file(const std::string& path, const Wire& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

// An index with several stored segments, live bits and free pages, and the expected results of searches.
class Damage : public testing::Test {
 protected:
  Damage() {
    Engine engine;
    EXPECT_TRUE(engine.open(test::request_for(directory.path())).ok());
    engine.flushed_to(UINT64_MAX);
    engine.end_rebuild();
    for (uint32_t batch = 0; batch < 40; ++batch) {
      history.write(40);
      EXPECT_TRUE(engine.publish(history.batch_last()).ok());
      const bool isFlushed = batch % 4 != 3 || engine.flush().ok();
      EXPECT_TRUE(isFlushed);
      const bool isMerged = batch != 20 || engine.force_merge().ok();
      EXPECT_TRUE(isMerged);
    }
    for (uint32_t count = 0; count < 5; ++count) {
      test::Plan plan = history.generator.plan(1 + count % test::kHistoryCollections);
      plan.k = 1000;
      plans.push_back(test::plan_bytes(plan));
      answers.push_back(engine.search(plans.back(), {}).value());
    }
    checkpoint = engine.stats().checkpoint;
  }

  // Opens the directory like a start. Damage must be reported, and the reported documents are added again.
  void expect_detected_or_harmless(const std::string& what) {
    auto engine = std::make_unique<Engine>();
    const Result<OpenedIndex> opened = engine->open(test::request_for(directory.path()));
    ASSERT_TRUE(opened.ok()) << what << ": " << opened.status().message();
    engine->flushed_to(UINT64_MAX);
    const bool isWhole = opened.value().damage.empty() && opened.value().checkpoint == checkpoint;
    if (isWhole) {
      ++harmless;
      // The same segments must return bit-identical results.
      for (size_t index = 0; index < plans.size(); ++index) ASSERT_EQ(engine->search(plans[index], {}).value(), answers[index]) << what;
      return;
    }
    ++detected;
    if (detected % 20 != 1) return;
    history.replay(*engine, opened.value().damage.empty() ? opened.value().checkpoint : 0);
    engine->end_rebuild();
    history.expect_equal(*engine, 2);
    ASSERT_TRUE(engine->flush().ok()) << what;
    // Its threads still write after a flush. A file is checked only while no process has it open.
    engine.reset();
    const Status checked = check_env_file(directory.file());
    ASSERT_TRUE(checked.ok()) << what << ": " << checked.message();
  }

  ScratchDirectory directory;
  History history{test::seed()};
  std::vector<Wire> plans;
  std::vector<Wire> answers;
  uint64_t checkpoint = 0;
  uint32_t harmless = 0;
  uint32_t detected = 0;
};

TEST_F(Damage, OfAnyPageIsFoundOrHarmless) {
  const Wire whole = read_file(directory.file());
  std::mt19937_64 random(test::seed());
  for (uint32_t mutation = 0; mutation < kMutations; ++mutation) {
    Wire bytes = whole;
    std::string what;
    const uint64_t kind = random() % 10;
    if (kind < 6) {
      // Half of the flips hit LMDB's own structures, near the beginning of a page.
      const size_t page = random() % (bytes.size() / kPage);
      const size_t at = page * kPage + (random() % 2 == 0 ? random() % 160 : random() % kPage);
      bytes[at] = static_cast<uint8_t>(bytes[at] ^ 1U << random() % 8);
      what = "flip at " + std::to_string(at);
    } else if (kind < 9) {
      const size_t page = random() % (bytes.size() / kPage);
      std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(page * kPage), kPage, uint8_t{0});
      what = "zeroed page " + std::to_string(page);
    } else {
      bytes.resize(random() % bytes.size());
      what = "cut to " + std::to_string(bytes.size());
    }
    write_file(directory.file(), bytes);
    expect_detected_or_harmless(what);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(detected, kMutations / 10);
  EXPECT_GT(harmless, 0U);
}

TEST_F(Damage, OfOneSegmentSetsOnlyThatOneAside) {
  Wire bytes = read_file(directory.file());
  // A byte in the middle of the longest run of pages: a chunk.
  StoredIndex found;
  uint64_t documents = 0;
  {
    const auto store = SegmentStore::open(directory.path(), {test::kTestMapBytes, {}, {}}, found);
    ASSERT_TRUE(store.ok());
    ASSERT_GT(found.segments.size(), 1U);
    const std::string_view key = found.segments[0].segment->key(0);
    const auto at = std::search(bytes.begin(), bytes.end(), key.begin(), key.end());
    ASSERT_NE(at, bytes.end());
    for (size_t index = 1; index < found.segments.size(); ++index) documents += found.segments[index].live_count();
    // Changes every copy, live or in a free page.
    for (auto next = at; next != bytes.end(); next = std::search(next + 1, bytes.end(), key.begin(), key.end())) *next = static_cast<uint8_t>(*next ^ 0x80);
    found = {};
  }
  write_file(directory.file(), bytes);
  Engine engine;
  const Result<OpenedIndex> opened = engine.open(test::request_for(directory.path()));
  ASSERT_TRUE(opened.ok());
  engine.flushed_to(UINT64_MAX);
  EXPECT_EQ(opened.value().checkpoint, checkpoint);
  EXPECT_GE(opened.value().damage.size(), 1U);
  EXPECT_LE(engine.stats().documents, documents);
  EXPECT_TRUE(engine.stats().rebuilding);
  // The documents added again are stored, and the next start finds a complete index.
  history.replay(engine, 0);
  engine.end_rebuild();
  history.expect_equal(engine, 10);
  ASSERT_TRUE(engine.flush().ok());
  EXPECT_EQ(engine.stats().checkpoint, history.lsn_last());
}

// Simulates a checksum that matches by chance. No byte of a chunk may cause access outside the segment.
TEST(StoredSegment, WithAnyBytesIsRefusedOrReadInsideItsBounds) {
  std::mt19937_64 random(test::seed());
  History history(test::seed());
  Engine memory;
  // Produces lists of several blocks, and bit sets.
  for (uint32_t batch = 0; batch < 60; ++batch) {
    history.write(60);
    ASSERT_TRUE(memory.publish(history.batch_last()).ok());
  }
  ASSERT_TRUE(memory.force_merge().ok());
  const ScratchDirectory directory;
  const auto env = IndexEnv::open(directory.path(), test::kTestMapBytes);
  ASSERT_TRUE(env.ok());
  const auto descriptor = write_stored_segment(*env.value(), 1, memory.snapshot()->segments[0].segment->columns(), false);
  ASSERT_TRUE(descriptor.ok());
  const auto stored = open_stored_chunks(*env.value(), 1, descriptor.value().crc);
  ASSERT_TRUE(stored.ok());
  const auto chunks = env.value()->read_chunks(1, descriptor.value().chunkCount);
  ASSERT_TRUE(chunks.ok());
  test::ChunkBytes whole{stored.value().columnSizes, {}};
  for (const Bytes chunk : chunks.value()) whole.chunks.emplace_back(chunk.begin(), chunk.end());
  ASSERT_GT(test::walk_stored(whole, 1), 1U);
  for (uint32_t mutation = 0; mutation < kMutations / 4; ++mutation) {
    test::ChunkBytes bytes = whole;
    for (uint64_t left = 1 + random() % 30; left > 0; --left) {
      std::vector<uint8_t>& chunk = bytes.chunks[random() % bytes.chunks.size()];
      chunk[random() % chunk.size()] = static_cast<uint8_t>(random());
    }
    (void)test::walk_stored(bytes, mutation);
  }
}

// For UBSan: a frequency of 5e27 cannot be converted to a count.
TEST(ScoreEstimate, BoundOfAnyImpactsIsANumber) {
  std::mt19937_64 random(test::seed());
  for (const Algorithm algorithm : {Algorithm::kTfidf, Algorithm::kBm25, Algorithm::kBm25f}) {
    SearchPlan plan{};
    plan.algorithm = algorithm;
    plan.k1 = 1.2;
    plan.b = 0.75;
    plan.fields.resize(1);
    plan.fields[0].weight = 1;
    const LeafScorer scorer(plan, {100.0}, 2.0, 1.0);
    for (const ScoreEstimate& estimate : {ScoreEstimate::whole(scorer, 0), ScoreEstimate::part(scorer, 0), ScoreEstimate::occurrences()}) {
      for (uint32_t round = 0; round < kMutations; ++round) {
        Impacts impacts;
        for (uint32_t& impact : impacts) impact = static_cast<uint32_t>(random());
        const float bound = estimate.bound(impacts);
        ASSERT_TRUE(bound >= 0 && bound <= 1e36F) << bound;
      }
    }
  }
}

TEST(Manifest, IsReadAsItWasWrittenAndRefusedWithAnyByteChanged) {
  Manifest manifest;
  manifest.epoch = {1, 2, 3};
  manifest.checkpoint = 77;
  manifest.serialNext = 9;
  manifest.segments = {{3, 50, 2, 123, 456}, {8, 77, 0, 5, 0}};
  manifest.droppedCollections = {4, 6};
  const std::vector<uint8_t> bytes = encode_manifest(manifest);
  const Result<Manifest> read = decode_manifest(bytes);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(encode_manifest(read.value()), bytes);
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::vector<uint8_t> changed = bytes;
    changed[at] = static_cast<uint8_t>(changed[at] ^ 1U << at % 8);
    EXPECT_EQ(decode_manifest(changed).status().code(), StatusCode::kCorrupt);
    EXPECT_EQ(decode_manifest(Bytes(bytes).first(at)).status().code(), StatusCode::kCorrupt);
  }
}

}  // namespace
}  // namespace mds
