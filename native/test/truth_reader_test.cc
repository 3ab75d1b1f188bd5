// The reader of documents over an env with rows as src/store writes them (test/property/store_model.test.ts
// compares it with src/store itself). Damaged rows are never shown as a document and never cause a read or a
// write outside their bytes (sanitizers check this).
#include <gtest/gtest.h>
#include <lmdb.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "scratch_directory.h"
#include "seed.h"
#include "storage/crc32c.h"
#include "truth/document_reader.h"
#include "truth/snappy.h"

namespace mds {
namespace {

using Buffer = std::vector<uint8_t>;

constexpr uint32_t kCollection = 7;
constexpr uint32_t kDocid = 300;
constexpr uint64_t kBodyLsn = 0x0102030405060708;
constexpr size_t kSpaceBytes = 4096;

void append(Buffer& bytes, std::string_view text) { bytes.insert(bytes.end(), text.begin(), text.end()); }

template <class Number>
void append_little(Buffer& bytes, Number value) {
  for (size_t index = 0; index < sizeof value; ++index) bytes.push_back(static_cast<uint8_t>(value >> (8 * index)));
}

template <class Number>
void append_big(Buffer& bytes, Number value) {
  for (size_t index = sizeof value; index-- > 0;) bytes.push_back(static_cast<uint8_t>(value >> (8 * index)));
}

void seal_record(Buffer& record) {
  record[4] = 1;
  const uint32_t checksum = crc32c(Bytes(record).subspan(4));
  std::copy_n(reinterpret_cast<const uint8_t*>(&checksum), sizeof checksum, record.begin());
}

Buffer head_record() {
  const std::string_view before = R"({"id":"c|Key|en","key":"Key","lang":"en","meta":)";
  const std::string_view meta = R"({"a":["b"]})";
  Buffer record(5, 0);
  record.push_back(4);  // flags
  record.resize(8, 0);
  append_little(record, kDocid);
  append_little(record, uint32_t{3});
  for (const uint64_t lsn : {uint64_t{20}, uint64_t{19}, kBodyLsn}) append_little(record, lsn);
  append_little(record, uint64_t{0});  // sizes of the body
  for (const double time : {9e9, 1.0, 2.0}) append_little(record, std::bit_cast<uint64_t>(time));
  append_little(record, uint64_t{0});  // content hash, metadata triples
  append_little(record, static_cast<uint32_t>(before.size()));
  append_little(record, static_cast<uint32_t>(meta.size()));
  append(record, before);
  append(record, meta);
  append(record, R"(,"addedAt":1,"updatedAt":2)");
  seal_record(record);
  return record;
}

Buffer body_record(BodyCodec codec, std::string_view raw, const Buffer& packed) {
  Buffer record(5, 0);
  record.push_back(static_cast<uint8_t>(codec));
  record.resize(8, 0);
  append_little(record, static_cast<uint32_t>(raw.size()));
  record.insert(record.end(), packed.begin(), packed.end());
  seal_record(record);
  return record;
}

// The row as it is stored: with its trailer.
Buffer stored_row(std::string_view table, bool isRecord, const Buffer& key, Buffer value) {
  const Bytes covered = isRecord ? Bytes(value).first(4) : Bytes(value);
  const uint32_t checksum = crc32c(covered, crc32c(key, table_seed(table)));
  value.push_back(0xFF);
  append_little(value, checksum);
  return value;
}

Buffer big_key(std::initializer_list<uint32_t> numbers) {
  Buffer key;
  for (const uint32_t number : numbers) append_big(key, number);
  return key;
}

struct StoredRow {
  const char* table;
  Buffer key;
  Buffer value;
};

constexpr std::string_view kLowered("key\0en", 6);
constexpr std::string_view kSpelled("Key\0en", 6);

// A truth env with the three tables of documents.
class TruthEnv {
 public:
  TruthEnv() {
    EXPECT_EQ(mdb_env_create(&env_), 0);
    EXPECT_EQ(mdb_env_set_maxdbs(env_, 4), 0);
    EXPECT_EQ(mdb_env_open(env_, directory_.file().c_str(), MDB_NOSUBDIR | MDB_NOTLS | MDB_NOSYNC, 0600), 0);
    for (const char* table : {"identities", "heads", "bodies"}) put(table, Buffer{1}, Buffer{1});
    put("identities", identity_key(), identity_row());
    put("heads", head_key(), stored_row("heads", true, head_key(), head_record()));
  }
  ~TruthEnv() { mdb_env_close(env_); }
  TruthEnv(const TruthEnv&) = delete;
  TruthEnv& operator=(const TruthEnv&) = delete;

  [[nodiscard]] MDB_env* env() const { return env_; }
  [[nodiscard]] static Buffer identity_key() {
    Buffer key = big_key({kCollection});
    append(key, kLowered);
    return key;
  }
  [[nodiscard]] static Buffer identity_row() {
    Buffer row;
    append_little(row, kDocid);
    append(row, kSpelled);
    return stored_row("identities", false, identity_key(), row);
  }
  [[nodiscard]] static Buffer head_key() { return big_key({kCollection, kDocid}); }
  [[nodiscard]] static Buffer body_key() {
    Buffer key = head_key();
    append_big(key, kBodyLsn);
    return key;
  }

  void put_body(const Buffer& record) { put("bodies", body_key(), stored_row("bodies", true, body_key(), record)); }

  void put(const char* table, const Buffer& key, const Buffer& value) {
    MDB_txn* transaction = nullptr;
    MDB_dbi dbi = 0;
    MDB_val wanted{key.size(), const_cast<uint8_t*>(key.data())};
    MDB_val stored{value.size(), const_cast<uint8_t*>(value.data())};
    ASSERT_EQ(mdb_txn_begin(env_, nullptr, 0, &transaction), 0);
    ASSERT_EQ(mdb_dbi_open(transaction, table, MDB_CREATE, &dbi), 0);
    ASSERT_EQ(mdb_put(transaction, dbi, &wanted, &stored, 0), 0);
    ASSERT_EQ(mdb_txn_commit(transaction), 0);
  }

 private:
  test::ScratchDirectory directory_;
  MDB_env* env_ = nullptr;
};

struct Shown {
  DocumentRead read;
  DocumentFacts facts;
  std::string text;
};

Shown show(DocumentReader& reader, std::string_view lowered = {}, std::string_view spelled = {}) {
  Shown shown;
  Buffer space(kSpaceBytes);
  shown.read = lowered.empty() ? reader.read(kCollection, kDocid, std::nullopt, space, shown.facts) : reader.find(kCollection, lowered, spelled, space, shown.facts);
  if (shown.read.kind == DocumentRead::Kind::kWritten) shown.text.assign(space.begin(), space.begin() + static_cast<ptrdiff_t>(shown.read.bytes));
  return shown;
}

constexpr std::string_view kText = R"({"id":"c|Key|en","key":"Key","lang":"en","meta":{"a":["b"]},"addedAt":1,"updatedAt":2,"contentMd":"plain text"})";

Buffer plain_body() {
  Buffer packed;
  append(packed, "plain text");
  return body_record(BodyCodec::kNone, "plain text", packed);
}

TEST(TruthReader, ShowsADocumentByNumberAndBySpelling) {
  TruthEnv truth;
  truth.put_body(plain_body());
  auto reader = DocumentReader::open(truth.env());
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  DocumentReader& documents = *reader.value();
  for (const Shown& shown : {show(documents), show(documents, kLowered, kSpelled)}) {
    EXPECT_EQ(shown.text, kText);
    EXPECT_EQ(shown.facts.docid, kDocid);
    EXPECT_EQ(shown.facts.revision, 3U);
    EXPECT_EQ(shown.facts.lsn, 20U);
    EXPECT_EQ(shown.facts.indexedLsn, 19U);
    EXPECT_EQ(shown.facts.expiresAt, 9e9);
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
  std::mt19937_64 random(test::seed());
  TruthEnv truth;
  truth.put_body(plain_body());
  auto reader = DocumentReader::open(truth.env());
  ASSERT_TRUE(reader.ok());
  const std::vector<StoredRow> rows = {
      {"identities", TruthEnv::identity_key(), TruthEnv::identity_row()},
      {"heads", TruthEnv::head_key(), stored_row("heads", true, TruthEnv::head_key(), head_record())},
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
  std::mt19937_64 random(test::seed());
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
}  // namespace mds
