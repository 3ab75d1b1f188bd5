// The results that the reader of documents writes by the hits of a search: those of documents that are what
// was indexed, and nothing at all otherwise. What the hits and the terms say is not trusted: inconsistent
// ones yield nothing and never cause a read or a write outside their bytes (sanitizers check this).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hits_record.h"
#include "base/limits.h"
#include "base/number_text.h"
#include "support/seed.h"
#include "support/truth_env.h"
#include "truth/document_reader.h"

namespace mds::test {
namespace {

constexpr uint64_t kIndexedLsn = 19;
constexpr double kNow = 1e9;
constexpr std::string_view kText = R"({"id":"Col|Key|en","key":"Key","lang":"en","meta":{"a":["b"]},"addedAt":1,"updatedAt":2,"contentMd":"plain text"})";

struct Hit {
  uint32_t docid = kDocid;
  double score = 1.5;
  uint64_t lsn = kIndexedLsn;
  uint32_t mask = 0;
};

Buffer hits_record(const std::vector<Hit>& hits, uint32_t expansions = 0) {
  Buffer record;
  for (const uint32_t word : {kHitsMagic, static_cast<uint32_t>(hits.size()), static_cast<uint32_t>(hits.size()), uint32_t{1}}) append_little(record, word);
  append_little(record, uint64_t{20});
  append_little(record, uint64_t{99});
  for (const Hit& hit : hits) {
    append_little(record, uint64_t{hit.docid});
    append_little(record, std::bit_cast<uint64_t>(hit.score));
    append_little(record, hit.lsn);
    append_little(record, uint64_t{hit.mask});
  }
  append_little(record, expansions);
  return record;
}

// Each term with the first one that is shown as it is.
Buffer shown_terms(const std::vector<std::pair<uint32_t, std::string_view>>& terms) {
  Buffer bytes;
  append_little(bytes, static_cast<uint32_t>(terms.size()));
  uint32_t begin = 0;
  for (const auto& [same, text] : terms) {
    for (const uint32_t word : {same, begin, static_cast<uint32_t>(text.size())}) append_little(bytes, word);
    begin += static_cast<uint32_t>(text.size());
  }
  for (const auto& [same, text] : terms) append(bytes, text);
  return bytes;
}

const Buffer& some_terms() {
  static const Buffer terms = shown_terms({{0, R"("one")"}, {1, ""}, {2, R"("two")"}, {0, R"("one")"}});
  return terms;
}

class ResultPageTest : public testing::Test {
 protected:
  void SetUp() override {
    Buffer packed;
    append(packed, "plain text");
    truth_.put_body(body_record(BodyCodec::kNone, "plain text", packed));
    auto opened = DocumentReader::open(truth_.env());
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    reader_ = std::move(opened.value());
  }

  DocumentRead read(const Buffer& hits, std::span<uint8_t> space, const Buffer& terms = some_terms(), uint32_t limit = 10, double now = kNow) {
    return reader_->read_results({.collection = kCollection, .now = now, .hits = hits, .terms = terms, .limit = limit, .bytesMax = size_t{1} << 20}, space);
  }

  // Empty if nothing was written.
  std::string show(const Buffer& hits, const Buffer& terms = some_terms(), uint32_t limit = 10, double now = kNow) {
    Buffer space(size_t{1} << 16);
    const DocumentRead found = read(hits, space, terms, limit, now);
    return found.kind == DocumentRead::Kind::kWritten ? std::string(space.begin(), space.begin() + static_cast<ptrdiff_t>(found.bytes)) : std::string();
  }

  TruthEnv truth_;
  std::unique_ptr<DocumentReader> reader_;
};

std::string result(std::string_view score, std::string_view terms) {
  return R"({"document":)" + std::string(kText) + R"(,"score":)" + std::string(score) + R"(,"matchedTerms":[)" + std::string(terms) + "]}";
}

TEST_F(ResultPageTest, ShowsDocumentsInTheOrderOfTheHitsWithScoresAndTerms) {
  const Buffer hits = hits_record({{.score = 2.25, .mask = 0b0101}, {.score = 1, .mask = 0b0010}, {.score = 0.5, .mask = 0b1000}});
  EXPECT_EQ(show(hits), result("2.25", R"("one","two")") + "," + result("1", "") + "," + result("0.5", R"("one")"));
  EXPECT_EQ(show(hits, some_terms(), 1), result("2.25", R"("one","two")"));
  EXPECT_EQ(show(hits_record({{.mask = 0b1001}})), result("1.5", R"("one")")) << "the same text once";
}

TEST_F(ResultPageTest, ShowsNothingIfADocumentIsNotWhatWasIndexed) {
  for (const Hit& other : {Hit{.lsn = kIndexedLsn + 1}, Hit{.docid = kDocid + 1}, Hit{.score = std::numeric_limits<double>::infinity()}, Hit{.mask = 1U << 4}})
    EXPECT_EQ(show(hits_record({Hit{}, other})), "");
  EXPECT_EQ(show(hits_record({Hit{}}), some_terms(), 10, kExpiresAt), "") << "expired";
  EXPECT_NE(show(hits_record({Hit{}}), some_terms(), 10, kExpiresAt - 1), "");
  EXPECT_NE(show(hits_record({Hit{}, Hit{.docid = kDocid + 1}}), some_terms(), 1), "") << "a hit behind the page";
}

TEST_F(ResultPageTest, ShowsMoreDocumentsThanAreLookedUpTogether) {
  const std::string shown = show(hits_record(std::vector<Hit>(kPageDocumentsMax + 3)), some_terms(), 100);
  EXPECT_EQ(shown.size(), (kPageDocumentsMax + 3) * (result("1.5", "").size() + 1) - 1);
}

TEST_F(ResultPageTest, SaysHowMuchSpaceItNeeds) {
  const Buffer hits = hits_record(std::vector<Hit>(40, Hit{.mask = 0b0101}));
  const std::string whole = show(hits, some_terms(), 40);
  ASSERT_NE(whole, "");
  for (size_t bytes = 0; bytes < whole.size(); bytes += 97) {
    Buffer space(bytes);
    DocumentRead found = read(hits, space, some_terms(), 40);
    ASSERT_EQ(found.kind, DocumentRead::Kind::kSpaceShort);
    ASSERT_GT(found.bytes, bytes);
    Buffer larger(found.bytes);
    found = read(hits, larger, some_terms(), 40);
    ASSERT_EQ(found.kind, DocumentRead::Kind::kWritten) << "one more attempt is enough where documents are alike";
    EXPECT_EQ(as_text(Bytes(larger).first(found.bytes)), whole);
  }
  Buffer space(whole.size() * 2);
  const DocumentRead capped =
      reader_->read_results({.collection = kCollection, .now = kNow, .hits = hits, .terms = some_terms(), .limit = 40, .bytesMax = whole.size() / 2}, space);
  EXPECT_EQ(capped.kind, DocumentRead::Kind::kNotPlain);
}

TEST_F(ResultPageTest, ShowsNothingForHitsWithExpansions) { EXPECT_EQ(show(hits_record({Hit{}}, 1)), ""); }

TEST_F(ResultPageTest, ShowsNothingForTermsWhoseTextsOverlap) {
  Buffer terms = some_terms();
  // The last one begins where the first one does, and is as long as all.
  const uint32_t all = 15;
  std::copy_n(reinterpret_cast<const uint8_t*>(&all), sizeof all, terms.begin() + 4 + 3 * 12 + 8);
  std::fill_n(terms.begin() + 4 + 3 * 12 + 4, 4, uint8_t{0});
  EXPECT_EQ(show(hits_record({{.mask = 1}}), terms), "");
}

TEST_F(ResultPageTest, NeverLeavesTheBytesOfDamagedHitsAndTerms) {
  std::mt19937_64 random(seed());
  const Buffer hits = hits_record({{.mask = 5}, {.mask = 1}});
  for (int round = 0; round < 20'000; ++round) {
    Buffer damagedHits = hits;
    Buffer damagedTerms = some_terms();
    Buffer& damaged = round % 2 == 0 ? damagedHits : damagedTerms;
    if (random() % 4 == 0)
      damaged.resize(static_cast<size_t>(random() % damaged.size()));
    else
      for (uint64_t change = random() % 3 + 1; change > 0; --change)
        damaged[static_cast<size_t>(random() % damaged.size())] = static_cast<uint8_t>(random() % 3 == 0 ? 0xFF : random());
    (void)show(damagedHits, damagedTerms);
  }
}

TEST(NumberText, IsThatOfJavaScript) {
  const std::array<std::pair<double, std::string_view>, 22> cases{{
      {0, "0"},
      {-0.0, "0"},
      {1, "1"},
      {-1.5, "-1.5"},
      {0.1, "0.1"},
      {1.0 / 3, "0.3333333333333333"},
      {123456789012345680000.0, "123456789012345680000"},
      {999999999999999900000.0, "999999999999999900000"},
      {1e21, "1e+21"},
      {1.25e21, "1.25e+21"},
      {0.000001, "0.000001"},
      {0.00000123, "0.00000123"},
      {0.0000001, "1e-7"},
      {1.5e-7, "1.5e-7"},
      {5e-324, "5e-324"},
      {std::numeric_limits<double>::max(), "1.7976931348623157e+308"},
      {std::numeric_limits<double>::min(), "2.2250738585072014e-308"},
      {9007199254740993.0, "9007199254740992"},
      {100, "100"},
      {12.5, "12.5"},
      {3.0517578125e-5, "0.000030517578125"},
      {-4.35, "-4.35"},
  }};
  for (const auto& [value, text] : cases) {
    std::array<uint8_t, kNumberTextBytesMax> space;
    EXPECT_EQ(std::string(space.data(), append_number(space.data(), value)), text);
  }
}

TEST(NumberText, ReadsBackAsTheSameNumberWithinItsSpace) {
  std::mt19937_64 random(seed());
  for (int round = 0; round < 200'000; ++round) {
    const double value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    std::array<uint8_t, kNumberTextBytesMax> space;
    const std::string text(space.data(), append_number(space.data(), value));
    ASSERT_EQ(std::strtod(text.c_str(), nullptr), value) << text;
  }
}

}  // namespace
}  // namespace mds::test
