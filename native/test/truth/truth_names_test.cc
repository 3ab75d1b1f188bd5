// A get by names: what is plain, and that a damaged or foreign row is never followed to a document
// (test/unit/store/document_source.test.ts compares it with src/store over random names).
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "support/seed.h"
#include "support/truth_env.h"
#include "truth/document_names.h"
#include "truth/document_reader.h"

namespace mds::test {
namespace {

using Kind = DocumentRead::Kind;

constexpr std::string_view kContent = "plain text";
constexpr std::string_view kText = R"({"id":"Col|Key|en","key":"Key","lang":"en","meta":{"a":["b"]},"addedAt":1,"updatedAt":2,"contentMd":"plain text"})";
constexpr double kNow = kExpiresAt - 1;

// A text that contains zero bytes.
template <size_t kBytes>
std::string_view text_of(const char (&literal)[kBytes]) {
  return {literal, kBytes - 1};
}

class TruthNames : public testing::Test {
 protected:
  TruthNames() {
    Buffer packed;
    append(packed, kContent);
    truth_.put_body(body_record(BodyCodec::kNone, kContent, packed));
    auto reader = DocumentReader::open(truth_.env());
    EXPECT_TRUE(reader.ok()) << reader.status().message();
    reader_ = std::move(reader.value());
  }

  [[nodiscard]] Kind get(std::string_view names = kNames, double now = kNow) {
    Buffer space(4096);
    const DocumentRead read = reader_->get(names, now, false, space, facts_);
    if (read.kind == Kind::kWritten) {
      EXPECT_EQ(std::string(space.begin(), space.begin() + static_cast<ptrdiff_t>(read.bytes)), kText);
    }
    return read.kind;
  }

  TruthEnv truth_;
  std::unique_ptr<DocumentReader> reader_;
  DocumentFacts facts_;
};

TEST_F(TruthNames, ShowsADocumentInOneSpellingOfItsKeyAndAnyOfItsCollection) {
  for (const std::string_view names : {kNames, text_of("col\0Key\0en"), text_of("COL\0Key\0en")}) {
    facts_ = {};
    EXPECT_EQ(get(names), Kind::kWritten);
    EXPECT_EQ(facts_.collection, kCollection);
    EXPECT_EQ(facts_.docid, kDocid);
  }
  for (const std::string_view names : {text_of("Col\0key\0en"), text_of("Col\0Key\0EN"), text_of("Col\0Other\0en"), text_of("Co\0Key\0en"), text_of("Cold\0Key\0en")})
    EXPECT_EQ(get(names), Kind::kNotPlain) << names;
}

TEST_F(TruthNames, LeavesExpiredDocumentsToOthers) {
  EXPECT_EQ(get(kNames, kExpiresAt - 0.5), Kind::kWritten);
  EXPECT_EQ(get(kNames, kExpiresAt), Kind::kNotPlain);
  EXPECT_EQ(get(kNames, kExpiresAt + 1), Kind::kNotPlain);
}

TEST_F(TruthNames, SaysHowManyBytesItNeedsWithoutReadingTheBody) {
  // A body that would be refused as damaged if it were read.
  Buffer packed;
  append(packed, kContent);
  Buffer row = stored_row("bodies", true, TruthEnv::body_key(), body_record(BodyCodec::kNone, kContent, packed));
  row[row.size() - 8] ^= 1U;
  truth_.put("bodies", TruthEnv::body_key(), row);
  Buffer space(kText.size() - 1);
  const DocumentRead read = reader_->get(kNames, kNow, false, space, facts_);
  EXPECT_EQ(read.kind, Kind::kSpaceShort);
  EXPECT_EQ(read.bytes, kText.size());
  EXPECT_EQ(get(), Kind::kNotPlain);
}

TEST_F(TruthNames, FollowsNoRowOfAnotherCollection) {
  truth_.put("collections", TruthEnv::collection_key(), TruthEnv::collection_row("cod"));
  EXPECT_EQ(get(), Kind::kNotPlain) << "a row that names another";
  truth_.put("collections", TruthEnv::collection_key(), TruthEnv::collection_row(""));
  EXPECT_EQ(get(), Kind::kNotPlain) << "a row without a name";
  truth_.put("collections", TruthEnv::collection_key(), TruthEnv::collection_row("COL"));
  EXPECT_EQ(get(), Kind::kWritten);
  const std::string_view ends = R"(,"key":"Key","lang":"en","meta":)";
  for (const std::string_view begin : {R"({"id":"Cod|Key|en")", R"({"id":"Cold|Key|en")", R"({"id":"Co|Key|en")", R"({"id":"Col")", R"({"ID":"Col|Key|en")", ""}) {
    truth_.put("heads", TruthEnv::head_key(), stored_row("heads", true, TruthEnv::head_key(), head_record(std::string(begin) + std::string(ends))));
    EXPECT_EQ(get(), Kind::kNotPlain) << begin;
  }
}

TEST_F(TruthNames, FollowsNoDamagedRow) {
  std::mt19937_64 random(seed());
  Buffer packed;
  append(packed, kContent);
  struct Row {
    const char* table;
    Buffer key;
    Buffer value;
  };
  const std::vector<Row> rows = {{"collections", TruthEnv::collection_key(), TruthEnv::collection_row("Col")},
                                 {"identities", TruthEnv::identity_key(), TruthEnv::identity_row()},
                                 {"heads", TruthEnv::head_key(), TruthEnv::head_row()}};
  for (uint32_t round = 0; round < 400; ++round) {
    const Row& whole = rows[random() % rows.size()];
    Buffer row = whole.value;
    const size_t at = random() % row.size();
    if (random() % 4 == 0) {
      row.resize(at);
    } else {
      row[at] ^= static_cast<uint8_t>(1U << (random() % 8));
    }
    truth_.put(whole.table, whole.key, row);
    EXPECT_EQ(get(), Kind::kNotPlain) << round;
    truth_.put(whole.table, whole.key, whole.value);
  }
  EXPECT_EQ(get(), Kind::kWritten);
}

TEST_F(TruthNames, RefusesTextsThatAreNotThreePlainNames) {
  for (const std::string_view names : {text_of(""), text_of("\0"), text_of("\0\0"), text_of("Col"), text_of("Col\0Key"), text_of("Col\0Key\0"), text_of("Col\0\0en"),
                                       text_of("\0Key\0en"), text_of("Col\0Key\0en\0"), text_of("Col\0Key\0en\0x"), text_of("Col\0K\"y\0en"), text_of("Col\0K\\y\0en"),
                                       text_of("Col\0K\x1Fy\0en"), text_of("Col\0K\x7Fy\0en"), text_of("Col\0K\xC3\xA4\0en")}) {
    DocumentNamesSpace space;
    EXPECT_FALSE(read_names(names, space)) << names;
    EXPECT_EQ(get(names), Kind::kNotPlain);
  }
  const std::string longest(kTruthKeyBytesMax, 'C');
  const std::string zero(1, '\0');
  const std::string rest = zero + "Key" + zero + "en";
  DocumentNamesSpace space;
  EXPECT_TRUE(read_names(longest + rest, space));
  EXPECT_FALSE(read_names(longest + "C" + rest, space));
  EXPECT_EQ(get(longest + rest), Kind::kNotPlain);
  // With the number of the collection, an identity has at most as many bytes as a key of LMDB.
  EXPECT_EQ(get("Col" + zero + std::string(kTruthKeyBytesMax - 7, 'k') + zero + "en"), Kind::kNotPlain);
  EXPECT_EQ(get("Col" + zero + std::string(kTruthKeyBytesMax - 6, 'k') + zero + "en"), Kind::kNotPlain);
  EXPECT_EQ(get(std::string(kDocumentNamesBytesMax + 1, 'x')), Kind::kNotPlain);
}

TEST_F(TruthNames, LowersAsciiLettersAndNothingElse) {
  DocumentNamesSpace space;
  const auto names = read_names(text_of("A[Z`a{z\0@AZ[\0PT-br"), space);
  ASSERT_TRUE(names);
  EXPECT_EQ(names->collection, "a[z`a{z");
  EXPECT_EQ(names->identity, text_of("@az[\0pt-br"));
  EXPECT_EQ(names->spelled, text_of("@AZ[\0PT-br"));
}

}  // namespace
}  // namespace mds::test
