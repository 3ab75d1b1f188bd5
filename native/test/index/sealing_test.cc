// Sealed collections. Their flushed data is not readable in the file, is stored in separate segments, follows
// changes of setting and key, and opens only with its key.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>

#include "support/history.h"
#include "support/scratch_directory.h"
#include "support/seed.h"

namespace mds {
namespace {

using test::History;
using test::ScratchDirectory;

// Not encryption, but it has all properties that the engine requires: different output bytes, and a tag over
// key, nonce, associated data and text.
uint64_t mix(uint64_t state, Bytes bytes) {
  for (const uint8_t byte : bytes) state = (state ^ byte) * 0x100000001b3ULL;
  return state;
}

void toy_tag(const uint8_t* key, const uint8_t* nonce, Bytes associated, Bytes text, uint8_t* tag) {
  const uint64_t sum = mix(mix(mix(mix(1, {key, kAeadKeyBytes}), {nonce, kAeadNonceBytes}), associated), text);
  std::memset(tag, 0, kAeadTagBytes);
  std::memcpy(tag, &sum, sizeof sum);
}

void toy_stream(const uint8_t* key, const uint8_t* nonce, Bytes in, uint8_t* out) {
  uint64_t state = mix(mix(2, {key, kAeadKeyBytes}), {nonce, kAeadNonceBytes});
  for (size_t at = 0; at < in.size(); ++at) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    out[at] = static_cast<uint8_t>(in[at] ^ (state >> 56U));
  }
}

bool toy_seal(const uint8_t* key, const uint8_t* nonce, Bytes associated, Bytes text, uint8_t* sealed, uint8_t* tag) {
  toy_tag(key, nonce, associated, text, tag);
  toy_stream(key, nonce, text, sealed);
  return true;
}

bool toy_open(const uint8_t* key, const uint8_t* nonce, Bytes associated, Bytes sealed, const uint8_t* tag, uint8_t* text) {
  toy_stream(key, nonce, sealed, text);
  uint8_t expected[kAeadTagBytes];
  toy_tag(key, nonce, associated, {text, sealed.size()}, expected);
  return std::equal(expected, expected + kAeadTagBytes, tag);
}

constexpr Aead kToy{toy_seal, toy_open};

AeadKey key_of(uint8_t id) {
  AeadKey key{};
  key.fill(id);
  return key;
}

class Sealed : public testing::Test {
 protected:
  // Collection 2 is sealed unless `isSealed` is false. Keys 1 and 2 are known.
  std::unique_ptr<Engine> open(OpenedIndex& opened, uint8_t primary, bool isSealed = true) {
    auto engine = std::make_unique<Engine>();
    engine->set_seal_keys(kToy, primary, {{1, key_of(1)}, {2, key_of(2)}});
    if (isSealed) {
      EXPECT_TRUE(engine->set_sealed(2, true).ok());
    }
    const Result<OpenedIndex> result = engine->open(test::request_for(directory.path()));
    EXPECT_TRUE(result.ok()) << result.status().message();
    if (result.ok()) opened = result.value();
    engine->flushed_to(UINT64_MAX);
    return engine;
  }

  // Expects that no segment contains documents of collection 2 together with those of another collection.
  static void expect_apart(const Engine& engine) {
    for (const SegmentRef& ref : engine.snapshot()->segments) {
      if (ref.segment->find_collection(2) != nullptr) {
        EXPECT_EQ(ref.segment->collections().size(), 1U);
      }
    }
  }

  [[nodiscard]] bool can_read(const std::string& text) const {
    std::ifstream file(directory.file(), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    return bytes.find(text) != std::string::npos;
  }

  // One document of a collection, with the given key.
  static test::Wire document(uint32_t collection, uint32_t docid, uint64_t lsn, const std::string& key) {
    test::Document one;
    one.collection = collection;
    one.docid = docid;
    one.lsn = lsn;
    one.key = key;
    one.lang = "en";
    return test::batch_of({test::upsert_op(one)}, lsn);
  }

  ScratchDirectory directory;
  History history{test::seed()};
};

TEST_F(Sealed, WhatWasFlushedIsOpenedAgainWithEveryKeyThatIsKnownAndAfterEveryChangeOfTheSetting) {
  for (uint32_t round = 0; round < 6; ++round) {
    OpenedIndex opened;
    const std::unique_ptr<Engine> engine = open(opened, round % 2 == 0 ? 1 : 2, round != 3);
    ASSERT_TRUE(opened.damage.empty()) << opened.damage[0];
    history.replay(*engine, opened.checkpoint);
    if (engine->stats().rebuilding) engine->end_rebuild();
    history.write(40);
    ASSERT_TRUE(engine->publish(history.batch_last()).ok());
    history.expect_equal(*engine, 20);
    ASSERT_TRUE(engine->flush().ok());
    history.write(40);
    ASSERT_TRUE(engine->publish(history.batch_last()).ok());
    if (round == 1) {
      ASSERT_TRUE(engine->force_merge().ok());
    }
    ASSERT_TRUE(engine->flush().ok());
    history.expect_equal(*engine, 20);
    if (round < 3) expect_apart(*engine);
  }
}

TEST_F(Sealed, NothingOfASealedCollectionCanBeReadInTheFile) {
  OpenedIndex opened;
  const std::unique_ptr<Engine> engine = open(opened, 1);
  engine->end_rebuild();
  ASSERT_TRUE(engine->publish(document(1, 1, 1, "kingfisher")).ok());
  ASSERT_TRUE(engine->publish(document(2, 1, 2, "oystercatcher")).ok());
  ASSERT_TRUE(engine->flush().ok());
  EXPECT_EQ(engine->stats().storedSegments, 2U);
  EXPECT_TRUE(can_read("kingfisher"));
  EXPECT_FALSE(can_read("oystercatcher"));
}

TEST_F(Sealed, WithoutItsKeyASegmentIsSetAsideAndTheOthersStay) {
  {
    OpenedIndex opened;
    const std::unique_ptr<Engine> engine = open(opened, 1);
    engine->end_rebuild();
    ASSERT_TRUE(engine->publish(document(1, 1, 1, "kingfisher")).ok());
    ASSERT_TRUE(engine->publish(document(2, 1, 2, "oystercatcher")).ok());
    ASSERT_TRUE(engine->flush().ok());
  }
  for (const bool isOther : {false, true}) {
    Engine engine;
    if (isOther) engine.set_seal_keys(kToy, 1, {{1, key_of(9)}});
    const Result<OpenedIndex> opened = engine.open(test::request_for(directory.path()));
    ASSERT_TRUE(opened.ok());
    ASSERT_EQ(opened.value().damage.size(), 1U);
    EXPECT_NE(opened.value().damage[0].find(isOther ? "seal of chunk 0" : "key id 1, which is not known"), std::string::npos) << opened.value().damage[0];
    EXPECT_TRUE(engine.holds(1, 1, 1));
    EXPECT_FALSE(engine.holds(2, 1, 2));
    engine.flushed_to(UINT64_MAX);
  }
}

TEST_F(Sealed, ACollectionCantBeSealedWithoutAKey) {
  Engine engine;
  EXPECT_FALSE(engine.set_sealed(2, true).ok());
}

}  // namespace
}  // namespace mds
