// The scan of JSON texts: which members are cut out, what is counted, and that untrusted bytes are read
// within their bounds (sanitizers check this). test/property/surfaces/json_scan.test.ts compares it with
// JSON.parse.
#include "base/json_scan.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <string_view>

#include "support/seed.h"

namespace mds {
namespace {

void append_number(std::string& out, uint32_t value) {
  for (int byte = 0; byte < 4; ++byte) out.push_back(static_cast<char>(value >> (8 * byte)));
}

// An object with `d`, a list of objects with `m`. The values of `m` are kept whole.
std::string json_tree() {
  std::string tree;
  for (const uint32_t number : {4U, 1U, 0U, 0U}) append_number(tree, number);
  const auto with_member = [&](char name, uint32_t child) {
    for (const uint32_t number : {1U, kNoJsonNode, 1U, 1U}) append_number(tree, number);
    tree.push_back(name);
    append_number(tree, child);
  };
  with_member('m', 1);
  for (const uint32_t number : {2U, 2U, 0U}) append_number(tree, number);
  with_member('d', 3);
  return tree;
}

Bytes bytes_of(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

constexpr JsonBounds kWide{64, 1000, 1000, 1000};

// Exactly as many bytes as the text, on the heap: a read past the end is a sanitizer report.
JsonVerdict scan(std::string_view text, const JsonBounds& bounds, std::string* left = nullptr, const int32_t* stopWord = nullptr) {
  const std::string tree = json_tree();
  const auto members = JsonMembers::read(bytes_of(tree));
  if (!members) return JsonVerdict::kInvalid;
  const auto copy = std::make_unique<uint8_t[]>(text.size());
  std::copy(text.begin(), text.end(), copy.get());
  const JsonVerdict verdict = scan_json({copy.get(), text.size()}, *members, bounds, StopSignal(stopWord));
  if (left != nullptr) left->assign(reinterpret_cast<const char*>(copy.get()), text.size());
  return verdict;
}

TEST(JsonScan, CutsOutWhatIsNotKnown) {
  std::string left;
  EXPECT_EQ(scan(R"({"x":[1,{"d":2}],"d":[{"y":"}","m":{"a":1},"z":[]},7],"w":null})", kWide, &left), JsonVerdict::kGood);
  EXPECT_EQ(left.substr(0, left.find(' ')), R"({"d":[{"m":{"a":1}},7]})");
  EXPECT_EQ(left.find_first_not_of(' ', left.find(' ')), std::string::npos);
}

TEST(JsonScan, KeepsWhatIsAllKnown) {
  const std::string_view text = R"( {"d" : [ {"m":[1, 2.5e3, true]} ]} )";
  std::string left;
  EXPECT_EQ(scan(text, kWide, &left), JsonVerdict::kGood);
  EXPECT_EQ(left, text);
}

TEST(JsonScan, CountsWhatIsKept) {
  EXPECT_EQ(scan(R"({"d":[[],[],[]]})", {64, 5, 1000, 1000}), JsonVerdict::kGood);
  EXPECT_EQ(scan(R"({"d":[[],[],[],[]]})", {64, 5, 1000, 1000}), JsonVerdict::kTooManyContainers);
  EXPECT_EQ(scan(R"({"d":[1,2,3,4]})", {64, 5, 5, 1000}), JsonVerdict::kTooManyValues);
  EXPECT_EQ(scan(R"({"d":[{"m":{"a":1,"b":2}}]})", {64, 50, 50, 3}), JsonVerdict::kTooManyShapes);
  EXPECT_EQ(scan(R"({"x":[[[]]]})", {3, 50, 50, 50}), JsonVerdict::kTooDeep);
  EXPECT_EQ(scan(R"({"x":[1,2,3,4,5,6,7]})", {3, 1, 1, 1}), JsonVerdict::kGood);
}

TEST(JsonScan, StopsWhereItIsAsked) {
  const int32_t word = 1;
  EXPECT_EQ(scan(std::string(200'000, ' ') + R"({"d":[]})", kWide, nullptr, &word), JsonVerdict::kStopped);
}

TEST(JsonScan, ForeignTreesAreRefused) {
  const std::string tree = json_tree();
  for (size_t length = 0; length < tree.size(); ++length) EXPECT_FALSE(JsonMembers::read(bytes_of(std::string_view(tree).substr(0, length))));
  EXPECT_FALSE(JsonMembers::read(bytes_of(tree + "x")));
  // A node that is its own child.
  std::string circle;
  for (const uint32_t number : {1U, 2U, 1U, 0U}) append_number(circle, number);
  EXPECT_FALSE(JsonMembers::read(bytes_of(circle)));
}

TEST(JsonScan, ForeignTextsNeverEndIt) {
  std::mt19937_64 random(test::seed());
  const std::string good = R"({"x":"\u00e9\\","d":[{"m":{"k\"":[1.5e-3,null,"text that is long enough for words"]},"y":[[]]}]})";
  for (int round = 0; round < 20'000; ++round) {
    std::string text = good;
    for (uint64_t edits = 1 + random() % 4; edits > 0; --edits) {
      const size_t at = random() % text.size();
      constexpr std::string_view kBytes = "{}[]\",:\\u0 -e.\x01\xff";
      if (random() % 4 == 0) text.resize(at + 1);
      text[random() % text.size()] = kBytes[random() % kBytes.size()];
    }
    std::string left;
    if (scan(text, kWide, &left) != JsonVerdict::kGood) continue;
    std::string again;
    EXPECT_EQ(scan(left, kWide, &again), JsonVerdict::kGood);
    EXPECT_EQ(again, left);
  }
}

}  // namespace
}  // namespace mds
