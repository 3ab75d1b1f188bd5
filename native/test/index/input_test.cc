// Untrusted input. Malformed input is rejected as a whole and changes nothing. Mutated bytes never cause a
// crash, a hang or a read outside the input (sanitizers check this).
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "index/engine.h"
#include "query/search.h"
#include "support/model.h"
#include "support/seed.h"

namespace mds {
namespace {

using test::Wire;

constexpr uint32_t kMutations = 10000;

// Exactly as many bytes as the input, on the heap: a read past the end is a sanitizer report.
Wire mutated(const Wire& bytes, std::mt19937_64& random) {
  Wire copy = bytes;
  const uint64_t edits = 1 + random() % 3;
  for (uint64_t edit = 0; edit < edits; ++edit) {
    const size_t at = random() % copy.size();
    switch (random() % 4) {
      case 0:
        copy[at] = static_cast<uint8_t>(random());
        break;
      case 1:
        copy[at] ^= static_cast<uint8_t>(1U << (random() % 8));
        break;
      case 2: {
        const uint32_t extremes[] = {0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
        const uint32_t word = extremes[random() % 5];
        const size_t word4 = at / 4 * 4;
        if (word4 + 4 <= copy.size()) std::copy_n(reinterpret_cast<const uint8_t*>(&word), 4, copy.begin() + static_cast<ptrdiff_t>(word4));
        break;
      }
      default:
        copy.resize(std::max<size_t>(1, at));
    }
  }
  copy.shrink_to_fit();
  return copy;
}

Wire sample_batch(test::Generator& generator, uint64_t lsn) {
  std::vector<Wire> ops;
  for (uint32_t docid = 0; docid < 4; ++docid) ops.push_back(test::upsert_op(generator.document(1, docid, lsn + docid)));
  ops.push_back(test::delete_op(1, 2, lsn + 10));
  ops.push_back(test::drop_op(2, lsn + 11));
  return test::batch_of(ops, lsn + 11);
}

TEST(Input, MutatedBatchesAreAppliedOrRefusedAndLeaveAWorkingEngine) {
  std::mt19937_64 random(test::seed());
  test::Generator generator(test::seed());
  auto engine = std::make_unique<Engine>();
  uint32_t refused = 0;
  for (uint32_t round = 0; round < kMutations; ++round) {
    const Wire batch = mutated(sample_batch(generator, round * 20), random);
    const auto before = engine->snapshot();
    if (engine->publish(batch).ok()) {
      if (round % 8 == 0) {
        ASSERT_TRUE(engine->drop_all().ok());
      }
      continue;
    }
    ++refused;
    ASSERT_EQ(engine->snapshot()->lsnLast, before->lsnLast);
  }
  EXPECT_GT(refused, kMutations / 10);
  ASSERT_TRUE(engine->drop_all().ok());
  test::Document document = generator.document(77, 1, 1);
  ASSERT_TRUE(engine->publish(test::batch_of({test::upsert_op(document)}, 1)).ok());
  EXPECT_EQ(engine->stats().documents, 1U);
}

TEST(Input, MutatedPlansAreAnsweredOrRefused) {
  std::mt19937_64 random(test::seed());
  test::Generator generator(test::seed());
  Engine engine;
  ASSERT_TRUE(engine.publish(sample_batch(generator, 1)).ok());
  uint32_t refused = 0;
  for (uint32_t round = 0; round < kMutations; ++round) {
    const Wire plan = mutated(test::plan_bytes(generator.plan(1)), random);
    if (!engine.search(plan, {}).ok()) ++refused;
  }
  EXPECT_GT(refused, kMutations / 10);
}

// Every rejected input must leave the engine unchanged.
class Refusals : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(engine_.publish(test::batch_of({test::upsert_op(document_)}, 5)).ok()); }

  void expect_refused(const Wire& batch) {
    const Status status = engine_.publish(batch);
    EXPECT_EQ(status.code(), StatusCode::kMalformed);
    EXPECT_NE(std::string(status.message()), "");
    EXPECT_EQ(engine_.stats().documents, 1U);
    EXPECT_EQ(engine_.stats().lsnLast, 5U);
  }

  test::Generator generator_{1};
  test::Document document_ = generator_.document(1, 1, 5);
  Engine engine_;
};

TEST_F(Refusals, ABatchWithOneBadOpIsRefusedWithAllItsGoodOps) {
  Wire bad = test::delete_op(1, 1, 9);
  bad[4] = 9;
  expect_refused(test::batch_of({test::upsert_op(generator_.document(1, 2, 6)), test::delete_op(1, 1, 7), bad}, 9));
}

TEST_F(Refusals, BytesAfterTheLastOpAreRefused) {
  Wire batch = test::batch_of({test::delete_op(1, 1, 9)}, 9);
  batch.resize(batch.size() + 4);
  expect_refused(batch);
}

TEST_F(Refusals, EveryShorterBatchIsRefused) {
  const Wire batch = test::batch_of({test::upsert_op(generator_.document(1, 2, 6))}, 9);
  for (size_t size = 0; size < batch.size(); ++size) {
    Wire cut(batch.begin(), batch.begin() + static_cast<ptrdiff_t>(size));
    cut.shrink_to_fit();
    expect_refused(cut);
  }
}

TEST_F(Refusals, ATermThatOccursTwiceInOneRecordIsRefused) {
  test::Document document = document_;
  document.docid = 2;
  document.fields = {{"content", {{"aa", {0}}, {"ab", {1}}}}};
  Wire op = test::upsert_op(document);
  const auto second = std::find_end(op.begin(), op.end(), std::begin("ab"), std::begin("ab") + 2);
  ASSERT_NE(second, op.end());
  *(second + 1) = 'a';
  expect_refused(test::batch_of({op}, 9));
}

TEST_F(Refusals, PositionsOutOfOrderAreRefused) {
  test::Document document = document_;
  document.docid = 2;
  document.fields = {{"content", {{"aa", {3, 3}}}}};
  expect_refused(test::batch_of({test::upsert_op(document)}, 9));
  document.fields = {{"content", {{"aa", {3, 2}}}}};
  expect_refused(test::batch_of({test::upsert_op(document)}, 9));
}

TEST_F(Refusals, PlansBeyondTheirBoundsAreRefused) {
  const auto is_refused = [this](const test::Plan& plan) { return !engine_.search(test::plan_bytes(plan), {}).ok(); };
  test::Plan deep;
  deep.terms = {{"a", 1.0F}};
  test::Tree chain{1, 0, 0, {}, {}};
  for (uint32_t depth = 1; depth < 64; ++depth) chain = test::Tree{2, 0, 0, {}, {chain}};
  deep.root = chain;
  EXPECT_FALSE(is_refused(deep));
  deep.root = test::Tree{2, 0, 0, {}, {chain}};
  EXPECT_TRUE(is_refused(deep));

  test::Plan wide;
  wide.terms = {{"a", 1.0F}};
  wide.root.kind = 3;
  wide.root.children.assign(1024, {1, 0, 0, {}, {}});
  EXPECT_FALSE(is_refused(wide));
  wide.root.children.push_back({1, 0, 0, {}, {}});
  EXPECT_TRUE(is_refused(wide));

  test::Plan term;
  term.terms = {{"a", 1.0F}};
  term.root = {1, 1, 0, {}, {}};
  EXPECT_TRUE(is_refused(term));

  test::Plan weight;
  weight.terms = {{"a", std::numeric_limits<float>::quiet_NaN()}};
  EXPECT_TRUE(is_refused(weight));

  test::Plan fields;
  fields.terms = {{"a", 1.0F}};
  fields.fields = {{"content", 1.0F}, {"meta.title", 1.0F}};
  fields.termFields = {2};
  EXPECT_FALSE(is_refused(fields));
  fields.termFields = {3};
  EXPECT_TRUE(is_refused(fields));
  fields.algorithm = 2;
  EXPECT_FALSE(is_refused(fields));
  fields.termFields = {4};
  EXPECT_TRUE(is_refused(fields));
}

TEST_F(Refusals, APollWordOutsideOfTheControlBufferIsRefused) {
  const std::vector<int32_t> control(4);
  test::Plan plan;
  plan.pollWord = 12;
  EXPECT_TRUE(engine_.search(test::plan_bytes(plan), control).ok());
  for (const uint32_t outside : {16U, 13U, 0xFFFFFFFCU}) {
    plan.pollWord = outside;
    EXPECT_FALSE(engine_.search(test::plan_bytes(plan), control).ok());
  }
}

}  // namespace
}  // namespace mds
