// Bit packing, segment writer and posting cursor: data that was written is read back unchanged.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>

#include "base/bit_packing.h"
#include "base/unpack_kernels.h"
#include "segment/postings/posting_cursor.h"
#include "segment/segment_writer.h"
#include "support/seed.h"

namespace mds {
namespace {

TEST(BitPacking, EveryWidthAndCountReadsBackAsWritten) {
  std::mt19937_64 random(test::seed());
  for (uint32_t width = 0; width <= 32; ++width) {
    for (uint32_t count = 1; count <= kBlockPostings; ++count) {
      std::vector<uint32_t> values(count);
      for (uint32_t& value : values) value = static_cast<uint32_t>(random() & ((uint64_t{1} << width) - 1));
      values[random() % count] = static_cast<uint32_t>((uint64_t{1} << width) - 1);
      std::vector<uint8_t> packed;
      pack(values, width, packed);
      ASSERT_EQ(packed.size(), packed_bytes(count, width));
      packed.resize(packed.size() + kPackedPadding);
      std::vector<uint32_t> read(count);
      unpack(packed.data(), count, width, read.data());
      ASSERT_EQ(read, values) << "width " << width << " count " << count;
    }
  }
}

TEST(BitPacking, AscendingValuesAreTheRunningSumsOfTheirDeltas) {
  std::mt19937_64 random(test::seed());
  for (uint32_t width = 0; width <= 32; ++width) {
    for (uint32_t count = 1; count <= kBlockPostings; ++count) {
      std::vector<uint32_t> deltas(count);
      for (uint32_t& delta : deltas) delta = static_cast<uint32_t>(random() & ((uint64_t{1} << width) - 1));
      std::vector<uint8_t> packed;
      pack(deltas, width, packed);
      packed.resize(packed.size() + kPackedPadding);
      auto value = static_cast<uint32_t>(random());
      const uint32_t before = value;
      std::vector<uint32_t> expected;
      for (const uint32_t delta : deltas) expected.push_back(value += delta + 1);
      std::vector<uint32_t> read(count);
      unpack_ascending(packed.data(), count, width, before, read.data());
      ASSERT_EQ(read, expected) << "width " << width << " count " << count;
    }
  }
}

TEST(UnpackKernels, AllInstructionSetsGiveEqualResults) {
  std::mt19937_64 random(test::seed());
  const UnpackKernels scalar = scalar_unpack_kernels();
  std::vector<UnpackKernels> others = {vector_unpack_kernels(), best_unpack_kernels()};
  for (uint32_t width = 0; width < kUnpackWidths; ++width) {
    // Exactly as many bytes as the block has. The sanitizer detects a read past them.
    std::vector<uint8_t> packed(packed_bytes(kBlockPostings, width));
    for (uint8_t& byte : packed) byte = static_cast<uint8_t>(random());
    const auto before = static_cast<uint32_t>(random());
    std::array<uint32_t, kBlockPostings> expected;
    std::array<uint32_t, kBlockPostings> read;
    for (const UnpackKernels& kernels : others) {
      scalar.unpack[width](packed.data(), expected.data());
      kernels.unpack[width](packed.data(), read.data());
      ASSERT_EQ(read, expected) << kernels.isa << " width " << width;
      scalar.ascending[width](packed.data(), before, expected.data());
      kernels.ascending[width](packed.data(), before, read.data());
      ASSERT_EQ(read, expected) << kernels.isa << " width " << width;
    }
  }
}

// Frequencies and lengths over the whole range. Any function that increases with the frequency and decreases
// with the length is bounded by some pair.
TEST(Impacts, EveryPostingIsCoveredByAPair) {
  std::mt19937_64 random(test::seed());
  for (uint32_t round = 0; round < 2000; ++round) {
    std::vector<uint32_t> tfs(1 + random() % kBlockPostings);
    std::vector<uint32_t> lengths(tfs.size());
    const auto draw = [&random] { return static_cast<uint32_t>(1 + (random() >> 34 >> random() % 30)); };
    for (size_t index = 0; index < tfs.size(); ++index) {
      tfs[index] = draw();
      lengths[index] = std::max(tfs[index], draw());
    }
    const Impacts impacts = make_impacts(tfs, lengths, 500);
    for (size_t index = 0; index < tfs.size(); ++index) {
      const auto covers = [&](uint32_t impact) { return double{impact_tf(impact)} >= tfs[index] && double{impact_length(impact)} <= lengths[index]; };
      ASSERT_TRUE(std::any_of(impacts.begin(), impacts.end(), covers)) << tfs[index] << " in " << lengths[index];
    }
    EXPECT_LE(double{impact_tf(impacts[0])}, *std::max_element(tfs.begin(), tfs.end()) * 1.01);
  }
}

struct Posting {
  std::vector<uint32_t> positions;
};

class Lists : public testing::TestWithParam<uint32_t> {
 protected:
  // A collection before the tested one, so that slots do not begin at 0.
  void build(uint32_t documents, uint32_t share, std::mt19937_64& random) {
    SegmentWriter writer;
    for (uint32_t docid = 0; docid < 5; ++docid) writer.add_document({1, docid, 1, 0, 0, "k", "en"});
    std::vector<SlotLength> lengths;
    for (uint32_t docid = 0; docid < documents; ++docid) {
      const uint32_t slot = writer.add_document({2, docid * 3, 1, 0, 0, "k", "en"});
      // At least one posting. With 3 000 documents and a share of one in 1 000, every twentieth list would be
      // empty and leave no section.
      if (random() % share != 0 && docid > 0) continue;
      uint32_t position = 0;
      for (uint64_t tf = 1 + random() % (random() % 20 == 0 ? 200 : 4); tf > 0; --tf) {
        position += static_cast<uint32_t>(random() % 50);
        postings_[slot].positions.push_back(position++);
      }
      lengths.emplace_back(slot, static_cast<uint32_t>(postings_[slot].positions.size()));
    }
    writer.begin_section(2, SectionKind::kText, "content", lengths);
    writer.begin_term("term");
    for (const auto& [slot, posting] : postings_) {
      writer.add_posting(slot, static_cast<uint32_t>(posting.positions.size()));
      for (const uint32_t position : posting.positions) writer.add_position(position);
    }
    writer.end_term();
    writer.end_section();
    segment_ = writer.finish(1);
  }

  [[nodiscard]] PostingCursor open() const { return {*segment_, *section(), 0}; }
  [[nodiscard]] const SectionEntry* section() const { return segment_->find_section(*segment_->find_collection(2), SectionKind::kText, "content"); }

  std::map<uint32_t, Posting> postings_;
  std::shared_ptr<const Segment> segment_;
};

TEST_P(Lists, WalkingYieldsEveryPostingWithItsPositions) {
  std::mt19937_64 random(test::seed() + GetParam());
  build(3000, GetParam(), random);
  PostingCursor cursor = open();
  std::vector<uint32_t> positions;
  for (const auto& [slot, posting] : postings_) {
    ASSERT_EQ(cursor.doc(), slot);
    ASSERT_EQ(cursor.tf(), posting.positions.size());
    ASSERT_EQ(segment_->lengths(*section()).at(slot), posting.positions.size());
    if (random() % 2 == 0) {
      cursor.positions(positions);
      ASSERT_EQ(positions, posting.positions);
    }
    cursor.next();
  }
  ASSERT_EQ(cursor.doc(), kEndOfList);
}

TEST_P(Lists, AdvanceLandsOnTheFirstPostingNotBelowItsTarget) {
  std::mt19937_64 random(test::seed() + GetParam());
  build(3000, GetParam(), random);
  for (uint32_t round = 0; round < 200; ++round) {
    PostingCursor cursor = open();
    uint32_t target = 0;
    std::vector<uint32_t> positions;
    for (;;) {
      target += static_cast<uint32_t>(random() % 700);
      const auto expected = postings_.lower_bound(std::max(target, cursor.doc()));
      cursor.advance(target);
      if (expected == postings_.end()) {
        ASSERT_EQ(cursor.doc(), kEndOfList);
        break;
      }
      ASSERT_EQ(cursor.doc(), expected->first);
      cursor.positions(positions);
      ASSERT_EQ(positions, expected->second.positions);
      if (random() % 3 == 0) cursor.next();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(DenseToSparse, Lists, testing::Values(1, 2, 20, 24, 1000));

TEST(SegmentWriter, ATermOrSectionWithoutPostingsLeavesNoTrace) {
  SegmentWriter writer;
  const uint32_t slot = writer.add_document({7, 1, 1, 0, 0, "k", "en"});
  writer.begin_section(7, SectionKind::kText, "content", {});
  writer.begin_term("gone");
  writer.end_term();
  writer.end_section();
  writer.begin_section(7, SectionKind::kMeta, "tag", {});
  writer.begin_term("a");
  writer.end_term();
  writer.begin_term("b");
  writer.add_posting(slot, 1);
  writer.end_term();
  writer.end_section();
  const auto segment = writer.finish(1);
  const CollectionEntry& collection = *segment->find_collection(7);
  ASSERT_EQ(segment->sections(collection).size(), 1U);
  EXPECT_EQ(segment->find_section(collection, SectionKind::kText, "content"), nullptr);
  const SectionEntry& tags = *segment->find_section(collection, SectionKind::kMeta, "tag");
  EXPECT_EQ(segment->find_term(tags, "a"), std::nullopt);
  EXPECT_EQ(segment->find_term(tags, "b"), tags.termBegin);
}

}  // namespace
}  // namespace mds
