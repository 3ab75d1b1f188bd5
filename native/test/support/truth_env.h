// A truth env with rows as src/store writes them, for tests of its readers.
#pragma once

#include <gtest/gtest.h>
#include <lmdb.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "storage/crc32c.h"
#include "support/scratch_directory.h"
#include "truth/truth_rows.h"

namespace mds::test {

using Buffer = std::vector<uint8_t>;

inline constexpr uint32_t kCollection = 7;
inline constexpr uint32_t kDocid = 300;
inline constexpr uint64_t kBodyLsn = 0x0102030405060708;
inline constexpr double kExpiresAt = 9e9;

inline void append(Buffer& bytes, std::string_view text) { bytes.insert(bytes.end(), text.begin(), text.end()); }

template <class Number>
void append_little(Buffer& bytes, Number value) {
  for (size_t index = 0; index < sizeof value; ++index) bytes.push_back(static_cast<uint8_t>(value >> (8 * index)));
}

template <class Number>
void append_big(Buffer& bytes, Number value) {
  for (size_t index = sizeof value; index-- > 0;) bytes.push_back(static_cast<uint8_t>(value >> (8 * index)));
}

inline void seal_record(Buffer& record) {
  record[4] = 1;
  const uint32_t checksum = crc32c(Bytes(record).subspan(4));
  std::copy_n(reinterpret_cast<const uint8_t*>(&checksum), sizeof checksum, record.begin());
}

inline Buffer head_record(std::string_view before = R"({"id":"Col|Key|en","key":"Key","lang":"en","meta":)") {
  constexpr uint64_t kHash = 0x8899AABBCCDDEEFF;
  const std::string_view meta = R"({"a":["b"]})";
  Buffer record(5, 0);
  record.push_back(12);  // flags
  record.resize(8, 0);
  append_little(record, kDocid);
  append_little(record, uint32_t{3});
  for (const uint64_t lsn : {uint64_t{20}, uint64_t{19}, kBodyLsn}) append_little(record, lsn);
  append_little(record, uint64_t{0});  // sizes of the body
  for (const double time : {kExpiresAt, 1.0, 2.0}) append_little(record, std::bit_cast<uint64_t>(time));
  append_little(record, static_cast<uint32_t>(kHash));
  append_little(record, uint32_t{0});  // metadata triples
  append_little(record, static_cast<uint32_t>(before.size()));
  append_little(record, static_cast<uint32_t>(meta.size()));
  append_little(record, static_cast<uint32_t>(kHash >> 32));
  append(record, before);
  append(record, meta);
  append(record, R"(,"addedAt":1,"updatedAt":2)");
  seal_record(record);
  return record;
}

inline Buffer body_record(BodyCodec codec, std::string_view raw, const Buffer& packed) {
  Buffer record(5, 0);
  record.push_back(static_cast<uint8_t>(codec));
  record.resize(8, 0);
  append_little(record, static_cast<uint32_t>(raw.size()));
  record.insert(record.end(), packed.begin(), packed.end());
  seal_record(record);
  return record;
}

// The row as it is stored: with its trailer.
inline Buffer stored_row(std::string_view table, bool isRecord, const Buffer& key, Buffer value) {
  const Bytes covered = isRecord ? Bytes(value).first(4) : Bytes(value);
  const uint32_t checksum = crc32c(covered, crc32c(key, table_seed(table)));
  value.push_back(0xFF);
  append_little(value, checksum);
  return value;
}

inline Buffer big_key(std::initializer_list<uint32_t> numbers) {
  Buffer key;
  for (const uint32_t number : numbers) append_big(key, number);
  return key;
}

inline constexpr std::string_view kLowered("key\0en", 6);
inline constexpr std::string_view kSpelled("Key\0en", 6);

// The names of the only document. Its collection was first written as "Col".
inline constexpr std::string_view kNames("Col\0Key\0en", 10);

inline constexpr std::array kTables = {"collections", "identities", "heads", "bodies"};

// A truth env with the tables of documents, and one document without a body.
class TruthEnv {
 public:
  TruthEnv() {
    open(true);
    put("collections", collection_key(), collection_row("Col"));
    put("identities", identity_key(), identity_row());
    put("heads", head_key(), head_row());
  }
  ~TruthEnv() { close(); }
  TruthEnv(const TruthEnv&) = delete;
  TruthEnv& operator=(const TruthEnv&) = delete;

  // Opens the env with its tables, whose handles readers find, as the npm package does.
  void open(bool isNew = false) {
    EXPECT_EQ(mdb_env_create(&env_), 0);
    EXPECT_EQ(mdb_env_set_maxdbs(env_, 5), 0);
    EXPECT_EQ(mdb_env_set_mapsize(env_, size_t{1} << 26), 0);
    EXPECT_EQ(mdb_env_open(env_, file().c_str(), MDB_NOSUBDIR | MDB_NOTLS | MDB_NOSYNC | MDB_NORDAHEAD, 0600), 0);
    MDB_txn* transaction = nullptr;
    MDB_dbi dbi = 0;
    ASSERT_EQ(mdb_txn_begin(env_, nullptr, isNew ? 0 : MDB_RDONLY, &transaction), 0);
    for (const char* table : kTables) ASSERT_EQ(mdb_dbi_open(transaction, table, isNew ? MDB_CREATE : 0, &dbi), 0);
    ASSERT_EQ(mdb_txn_commit(transaction), 0);
  }

  // Nothing may use the env then, until it is opened again.
  void close() {
    if (env_ != nullptr) mdb_env_close(env_);
    env_ = nullptr;
  }

  // Other rows in every table, in front of those of the document and behind them.
  void fill(uint32_t count) {
    for (const char* table : kTables) {
      MDB_txn* transaction = nullptr;
      MDB_dbi dbi = 0;
      ASSERT_EQ(mdb_txn_begin(env_, nullptr, 0, &transaction), 0);
      ASSERT_EQ(mdb_dbi_open(transaction, table, 0, &dbi), 0);
      for (uint32_t number = 0; number < count; ++number) {
        Buffer key = big_key({number % 2 == 0 ? number : ~number});
        Buffer row(500, 'r');
        MDB_val wanted{key.size(), key.data()};
        MDB_val stored{row.size(), row.data()};
        ASSERT_EQ(mdb_put(transaction, dbi, &wanted, &stored, 0), 0);
      }
      ASSERT_EQ(mdb_txn_commit(transaction), 0);
    }
  }

  [[nodiscard]] MDB_env* env() const { return env_; }
  [[nodiscard]] std::string file() const { return directory_.file(); }
  [[nodiscard]] static Buffer collection_key() { return {'c', 'o', 'l'}; }
  [[nodiscard]] static Buffer collection_row(std::string_view name) {
    Buffer row;
    append_little(row, kCollection);
    append(row, name);
    return stored_row("collections", false, collection_key(), row);
  }
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

  [[nodiscard]] static Buffer head_row() { return stored_row("heads", true, head_key(), head_record()); }

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
  ScratchDirectory directory_;
  MDB_env* env_ = nullptr;
};

}  // namespace mds::test
