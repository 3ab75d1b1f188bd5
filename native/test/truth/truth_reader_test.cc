// The reader of documents over an env with rows as src/store writes them
// (test/property/store/store_model.test.ts compares it with src/store itself). Damaged rows are never shown
// as a document and never cause a read or a write outside their bytes (sanitizers check this).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "support/seed.h"
#include "support/truth_env.h"
#include "truth/document_reader.h"
#include "truth/snappy.h"

namespace mds::test {
namespace {

constexpr size_t kSpaceBytes = 4096;

struct StoredRow {
  const char* table;
  Buffer key;
  Buffer value;
};

struct Shown {
  DocumentRead read;
  DocumentFacts facts;
  std::string text;
};

Shown show(DocumentReader& reader, std::string_view lowered = {}, std::string_view spelled = {}) {
  Shown shown;
  Buffer space(kSpaceBytes);
  const auto read = [&] {
    return lowered.empty() ? reader.read(kCollection, kDocid, std::nullopt, space, shown.facts) : reader.find(kCollection, lowered, spelled, space, shown.facts);
  };
  shown.read = read();
  // The number of bytes may be that of a damaged row.
  if (shown.read.kind == DocumentRead::Kind::kSpaceShort) {
    space.resize(shown.read.bytes);
    shown.read = read();
  }
  if (shown.read.kind == DocumentRead::Kind::kWritten) shown.text.assign(space.begin(), space.begin() + static_cast<ptrdiff_t>(shown.read.bytes));
  return shown;
}

constexpr std::string_view kText = R"({"id":"Col|Key|en","key":"Key","lang":"en","meta":{"a":["b"]},"addedAt":1,"updatedAt":2,"contentMd":"plain text"})";

Buffer plain_body() {
  Buffer packed;
  append(packed, "plain text");
  return body_record(BodyCodec::kNone, "plain text", packed);
}

TEST(TruthReader, DoesNotShowAHeadWithoutContentHash) {
  TruthEnv truth;
  truth.put_body(plain_body());
  Buffer unhashed = head_record();
  unhashed[5] &= static_cast<uint8_t>(~8U);
  seal_record(unhashed);
  truth.put("heads", TruthEnv::head_key(), stored_row("heads", true, TruthEnv::head_key(), unhashed));
  auto reader = DocumentReader::open(truth.env());
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  EXPECT_EQ(show(*reader.value()).read.kind, DocumentRead::Kind::kNotPlain);
}

TEST(TruthReader, DoesNotShowAHeadThatEndsBeforeItsContentHash) {
  TruthEnv truth;
  truth.put_body(plain_body());
  Buffer cut = head_record("");
  cut.resize(88);
  std::fill(cut.begin() + 80, cut.end(), uint8_t{0});
  seal_record(cut);
  truth.put("heads", TruthEnv::head_key(), stored_row("heads", true, TruthEnv::head_key(), cut));
  auto reader = DocumentReader::open(truth.env());
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  EXPECT_NE(show(*reader.value()).read.kind, DocumentRead::Kind::kWritten);
}

TEST(TruthReader, ShowsADocumentByNumberAndBySpelling) {
  TruthEnv truth;
  truth.put_body(plain_body());
  auto reader = DocumentReader::open(truth.env());
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  DocumentReader& documents = *reader.value();
  for (const Shown& shown : {show(documents), show(documents, kLowered, kSpelled)}) {
    EXPECT_EQ(shown.text, kText);
    EXPECT_EQ(shown.facts.collection, kCollection);
    EXPECT_EQ(shown.facts.docid, kDocid);
    EXPECT_EQ(shown.facts.revision, 3U);
    EXPECT_EQ(shown.facts.lsn, 20U);
    EXPECT_EQ(shown.facts.indexedLsn, 19U);
    EXPECT_EQ(shown.facts.expiresAt, kExpiresAt);
  }
  EXPECT_EQ(show(documents, kLowered, std::string_view("KEY\0en", 6)).read.kind, DocumentRead::Kind::kNotPlain);
  DocumentFacts facts;
  Buffer space(kSpaceBytes);
  EXPECT_EQ(documents.read(kCollection, kDocid, 20, space, facts).kind, DocumentRead::Kind::kWritten);
  EXPECT_EQ(documents.read(kCollection, kDocid, 19, space, facts).kind, DocumentRead::Kind::kNotPlain) << "another state";
}

// A page of the documents with these numbers.
std::vector<PageDocument> page_of(std::initializer_list<uint32_t> docids) {
  std::vector<PageDocument> documents(docids.size());
  std::transform(docids.begin(), docids.end(), documents.begin(), [](uint32_t docid) { return PageDocument{.facts = {.docid = docid}, .begin = 0, .bytes = 99}; });
  return documents;
}

TEST(TruthReader, ReadsAPageWithGaps) {
  TruthEnv truth;
  truth.put_body(plain_body());
  auto reader = DocumentReader::open(truth.env());
  ASSERT_TRUE(reader.ok());
  // The head of 302 is that of another document.
  const Buffer other = big_key({kCollection, 302});
  truth.put("heads", other, stored_row("heads", true, other, head_record()));
  std::vector<PageDocument> documents = page_of({301, kDocid, 302, kDocid});
  Buffer space(2 * kText.size());
  ASSERT_EQ(reader.value()->read_page(kCollection, documents, space), 4U);
  EXPECT_EQ(documents[0].bytes, 0U);
  EXPECT_EQ(documents[2].bytes, 0U);
  for (const size_t index : {size_t{1}, size_t{3}}) {
    const PageDocument& document = documents[index];
    EXPECT_EQ(as_text(Bytes(space).subspan(document.begin, document.bytes)), kText);
    EXPECT_EQ(document.facts.docid, kDocid);
    EXPECT_EQ(document.facts.lsn, 20U);
    EXPECT_EQ(document.facts.indexedLsn, 19U);
    EXPECT_EQ(document.facts.expiresAt, 9e9);
  }
  EXPECT_EQ(documents[3].begin, kText.size());
  EXPECT_EQ(reader.value()->read_page(kCollection + 1, documents, space), 4U);
  EXPECT_TRUE(std::all_of(documents.begin(), documents.end(), [](const PageDocument& document) { return document.bytes == 0; })) << "another collection";
}

TEST(TruthReader, EndsAPageBeforeTheDocumentThatDoesNotFit) {
  TruthEnv truth;
  truth.put_body(plain_body());
  auto reader = DocumentReader::open(truth.env());
  ASSERT_TRUE(reader.ok());
  for (const size_t missing : {size_t{0}, size_t{1}}) {
    std::vector<PageDocument> documents = page_of({kDocid, 301, kDocid, kDocid});
    Buffer space(2 * kText.size() - missing);
    // The document between them is not there, and needs no space.
    EXPECT_EQ(reader.value()->read_page(kCollection, documents, space), missing == 0 ? 3U : 2U);
    EXPECT_EQ(documents[0].bytes, kText.size());
    EXPECT_EQ(documents[2].bytes, missing == 0 ? kText.size() : 0U);
    EXPECT_EQ(documents[3].bytes, 0U);
  }
  Buffer none;
  std::vector<PageDocument> documents = page_of({kDocid});
  EXPECT_EQ(reader.value()->read_page(kCollection, documents, none), 0U);
  std::vector<PageDocument> many(kPageDocumentsMax + 1, documents.front());
  Buffer space(many.size() * kText.size());
  EXPECT_EQ(reader.value()->read_page(kCollection, many, space), kPageDocumentsMax);
  EXPECT_EQ(reader.value()->read_page(kCollection, {}, space), 0U);
}

TEST(TruthReader, UnpacksEveryCodec) {
  TruthEnv truth;
  auto reader = DocumentReader::open(truth.env());
  ASSERT_TRUE(reader.ok());
  const std::string_view raw = "plain text";
  Buffer snappy = {static_cast<uint8_t>(raw.size()), static_cast<uint8_t>((raw.size() - 1) << 2)};
  append(snappy, raw);
  // One raw block, which is the last one: RFC 8878, 3.1.1.
  Buffer zstd = {0x28, 0xB5, 0x2F, 0xFD, 0x20, static_cast<uint8_t>(raw.size()), static_cast<uint8_t>(1 | raw.size() << 3), 0, 0};
  append(zstd, raw);
  for (const auto& [codec, packed] : std::vector<std::pair<BodyCodec, Buffer>>{{BodyCodec::kSnappy, snappy}, {BodyCodec::kZstd, zstd}}) {
    truth.put_body(body_record(codec, raw, packed));
    EXPECT_EQ(show(*reader.value()).text, kText) << static_cast<int>(codec);
    Buffer cut = packed;
    cut.pop_back();
    truth.put_body(body_record(codec, raw, cut));
    EXPECT_EQ(show(*reader.value()).read.kind, DocumentRead::Kind::kNotPlain) << static_cast<int>(codec);
  }
}

TEST(TruthReader, SaysHowManyBytesItNeeds) {
  TruthEnv truth;
  truth.put_body(plain_body());
  auto reader = DocumentReader::open(truth.env());
  ASSERT_TRUE(reader.ok());
  DocumentFacts facts;
  Buffer space(kText.size() - 1);
  const DocumentRead read = reader.value()->read(kCollection, kDocid, std::nullopt, space, facts);
  EXPECT_EQ(read.kind, DocumentRead::Kind::kSpaceShort);
  EXPECT_EQ(read.bytes, kText.size());
}

TEST(TruthReader, LeavesOtherCodecsSealedRowsAndLargeBodiesToOthers) {
  TruthEnv truth;
  auto reader = DocumentReader::open(truth.env());
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(show(*reader.value()).read.kind, DocumentRead::Kind::kNotPlain) << "without a body";
  for (const auto& [at, value] : std::vector<std::pair<size_t, uint8_t>>{{5, 3}, {6, 1}, {7, 1}, {11, 0xFF}}) {
    Buffer record = plain_body();
    record[at] = value;
    seal_record(record);
    truth.put_body(record);
    EXPECT_EQ(show(*reader.value()).read.kind, DocumentRead::Kind::kNotPlain) << at;
  }
}

TEST(TruthReader, NeverShowsADamagedRow) {
  std::mt19937_64 random(seed());
  TruthEnv truth;
  truth.put_body(plain_body());
  auto reader = DocumentReader::open(truth.env());
  ASSERT_TRUE(reader.ok());
  const std::vector<StoredRow> rows = {
      {"identities", TruthEnv::identity_key(), TruthEnv::identity_row()},
      {"heads", TruthEnv::head_key(), TruthEnv::head_row()},
      {"bodies", TruthEnv::body_key(), stored_row("bodies", true, TruthEnv::body_key(), plain_body())},
  };
  for (uint32_t round = 0; round < 600; ++round) {
    const StoredRow& whole = rows[random() % rows.size()];
    Buffer row = whole.value;
    const size_t at = random() % row.size();
    if (random() % 4 == 0) {
      row.resize(at);
    } else {
      row[at] ^= static_cast<uint8_t>(1U << (random() % 8));
    }
    truth.put(whole.table, whole.key, row);
    EXPECT_EQ(show(*reader.value(), kLowered, kSpelled).read.kind, DocumentRead::Kind::kNotPlain) << round;
    std::vector<PageDocument> documents = page_of({kDocid});
    Buffer space(kSpaceBytes);
    EXPECT_EQ(reader.value()->read_page(kCollection, documents, space), 1U);
    // A page needs no identity.
    EXPECT_EQ(documents.front().bytes, std::string_view(whole.table) == "identities" ? kText.size() : 0U) << round;
    truth.put(whole.table, whole.key, whole.value);
  }
  EXPECT_EQ(show(*reader.value()).text, kText);
}

// A random block, and the bytes that it stands for.
std::pair<Buffer, Buffer> random_block(std::mt19937_64& random) {
  Buffer elements;
  Buffer raw;
  const uint64_t count = random() % 40;
  for (uint64_t element = 0; element < count; ++element) {
    if (raw.empty() || random() % 2 == 0) {
      const size_t length = 1 + random() % 200;
      if (length <= 60)
        elements.push_back(static_cast<uint8_t>((length - 1) << 2));
      else {
        elements.push_back(60 << 2);
        elements.push_back(static_cast<uint8_t>(length - 1));
      }
      for (size_t index = 0; index < length; ++index) {
        raw.push_back(static_cast<uint8_t>(random()));
        elements.push_back(raw.back());
      }
      continue;
    }
    const size_t offset = 1 + random() % std::min<size_t>(raw.size(), random() % 2 == 0 ? 20 : 2000);
    const size_t length = random() % 2 == 0 ? 4 + random() % 8 : 1 + random() % 64;
    if (length >= 4 && length < 12 && offset < 2048 && random() % 2 == 0) {
      elements.push_back(static_cast<uint8_t>(1 | (length - 4) << 2 | (offset >> 8) << 5));
      elements.push_back(static_cast<uint8_t>(offset));
    } else if (random() % 2 == 0) {
      elements.push_back(static_cast<uint8_t>(2 | (length - 1) << 2));
      append_little(elements, static_cast<uint16_t>(offset));
    } else {
      elements.push_back(static_cast<uint8_t>(3 | (length - 1) << 2));
      append_little(elements, static_cast<uint32_t>(offset));
    }
    for (size_t index = 0; index < length; ++index) raw.push_back(raw[raw.size() - offset]);
  }
  Buffer block;
  for (size_t rest = raw.size();; rest >>= 7) {
    block.push_back(static_cast<uint8_t>((rest & 0x7F) | (rest > 0x7F ? 0x80 : 0)));
    if (rest <= 0x7F) break;
  }
  block.insert(block.end(), elements.begin(), elements.end());
  block.shrink_to_fit();
  return {block, raw};
}

TEST(TruthReader, UnpacksSnappyAndStaysInsideDamagedBlocks) {
  std::mt19937_64 random(seed());
  for (uint32_t round = 0; round < 3000; ++round) {
    auto [block, raw] = random_block(random);
    Buffer out(raw.size());
    ASSERT_TRUE(unpack_snappy(block, out)) << round;
    ASSERT_EQ(out, raw) << round;
    Buffer longer(raw.size() + 1);
    EXPECT_FALSE(unpack_snappy(block, longer));
    block[random() % block.size()] ^= static_cast<uint8_t>(1U << (random() % 8));
    (void)unpack_snappy(block, out);
    block.resize(random() % block.size());
    block.shrink_to_fit();
    (void)unpack_snappy(block, out);
  }
}

}  // namespace
}  // namespace mds::test
