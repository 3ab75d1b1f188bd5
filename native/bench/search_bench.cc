// Runs prepared search plans on prepared index batches and measures the time: the cost of the engine without
// Node. Single-threaded. It reads commands from standard input and answers each with one JSON line; all peers
// use this protocol (bench/peers/peer_process.ts). Both files are produced by the service's own analyzer and
// planner (bench/peers/engine_input.ts). They are trusted, but read with bounds checks.
//   mds_search_bench BATCHES PLANS
// BATCHES: repeated { u32 bytes, batch }. PLANS: repeated { u32 bytes, name, u32 count, count x { u32 bytes,
// plan } }. Little-endian.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "index/engine.h"

namespace {

using Clock = std::chrono::steady_clock;
using Record = std::vector<uint8_t>;

constexpr size_t kHitsTotalAt = 4;
constexpr size_t kHitsCountAt = 8;
constexpr size_t kHitsMaskWordsAt = 12;
constexpr size_t kHitsHeaderBytes = 32;
constexpr size_t kHitBytes = 24;
// A batch has 500 documents. A plan is far smaller.
constexpr uint32_t kRecordBytesMax = 256U << 20;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

[[noreturn]] void fail(const std::string& problem) {
  (void)std::fprintf(stderr, "mds_search_bench: %s\n", problem.c_str());
  std::exit(1);
}

std::optional<uint32_t> read_count(std::istream& in) {
  uint32_t value = 0;
  if (!in.read(reinterpret_cast<char*>(&value), sizeof value)) return std::nullopt;
  return value;
}

// Returns nullopt at the end of the file.
std::optional<Record> read_record(std::istream& in) {
  const std::optional<uint32_t> size = read_count(in);
  if (!size) return std::nullopt;
  if (*size > kRecordBytesMax) fail("a record of " + std::to_string(*size) + " bytes");
  Record record(*size);
  if (!in.read(reinterpret_cast<char*>(record.data()), *size)) fail("a record is cut short");
  return record;
}

std::map<std::string, std::vector<Record>> read_plans(const char* path) {
  std::ifstream in(path, std::ios::binary);
  std::map<std::string, std::vector<Record>> classes;
  for (std::optional<Record> name; (name = read_record(in));) {
    std::vector<Record>& plans = classes[std::string(name->begin(), name->end())];
    const uint32_t count = read_count(in).value_or(0);
    for (uint32_t index = 0; index < count; ++index) {
      std::optional<Record> plan = read_record(in);
      if (!plan) fail("a plan is missing");
      plans.push_back(std::move(*plan));
    }
  }
  return classes;
}

uint32_t word_at(const Record& record, size_t at) {
  uint32_t value = 0;
  std::memcpy(&value, record.data() + at, sizeof value);
  return value;
}

Record search(const mds::Engine& engine, const Record& plan) {
  mds::Result<Record> hits = engine.search(plan, {});
  if (!hits.ok()) fail(hits.status().message());
  return std::move(hits.value());
}

// Only publishing is timed, not reading the file. The index is then merged into one segment, as in the peers.
void index(mds::Engine& engine, const char* path) {
  std::ifstream in(path, std::ios::binary);
  double seconds = 0;
  for (std::optional<Record> batch; (batch = read_record(in));) {
    const auto begin = Clock::now();
    const mds::Status status = engine.publish(*batch);
    if (!status.ok()) fail(status.message());
    seconds += seconds_since(begin);
  }
  const auto begin = Clock::now();
  const mds::Status status = engine.force_merge();
  if (!status.ok()) fail(status.message());
  const mds::EngineStats stats = engine.stats();
  std::printf("{\"documents\":%llu,\"seconds\":%.3f,\"mergeSeconds\":%.3f,\"bytes\":%llu}\n", static_cast<unsigned long long>(stats.documents), seconds,
              seconds_since(begin), static_cast<unsigned long long>(stats.memoryBytes));
}

struct Answers {
  uint64_t hits = 0;
  uint64_t matches = 0;
  uint64_t checksum = 14695981039346656037U;  // FNV-1a over the docids, in order
};

Answers answers_of(const mds::Engine& engine, const std::vector<Record>& plans) {
  Answers answers;
  for (const Record& plan : plans) {
    const Record hits = search(engine, plan);
    const uint32_t count = word_at(hits, kHitsCountAt);
    const size_t stride = kHitBytes + ((size_t{word_at(hits, kHitsMaskWordsAt)} * 4 + 7) & ~size_t{7});
    answers.hits += count;
    answers.matches += word_at(hits, kHitsTotalAt);
    for (size_t hit = 0; hit < count; ++hit) answers.checksum = (answers.checksum ^ word_at(hits, kHitsHeaderBytes + hit * stride)) * 1099511628211U;
  }
  return answers;
}

// Runs complete passes over the class until the time has elapsed, so that every query has the same weight.
void measure(const mds::Engine& engine, const std::vector<Record>& plans, double seconds) {
  const Answers answers = answers_of(engine, plans);
  std::vector<double> micros;
  const auto begin = Clock::now();
  do {
    for (const Record& plan : plans) {
      const auto asked = Clock::now();
      (void)search(engine, plan);
      micros.push_back(seconds_since(asked) * 1e6);
    }
  } while (seconds_since(begin) < seconds);
  const double rate = static_cast<double>(micros.size()) / seconds_since(begin);
  std::sort(micros.begin(), micros.end());
  const auto queries = static_cast<double>(plans.size());
  std::printf("{\"queries\":%zu,\"perSecond\":%.1f,\"p50Us\":%.1f,\"p99Us\":%.1f,\"hits\":%.2f,\"matches\":%.1f,\"checksum\":\"%016llx\"}\n", plans.size(), rate,
              micros[micros.size() / 2], micros[micros.size() * 99 / 100], static_cast<double>(answers.hits) / queries, static_cast<double>(answers.matches) / queries,
              static_cast<unsigned long long>(answers.checksum));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) fail("usage: mds_search_bench BATCHES PLANS");
  const auto classes = read_plans(argv[2]);
  mds::Engine engine;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command;
    std::string kind;
    std::string totals;
    double seconds = 0;
    words >> command;
    if (command == "index") {
      index(engine, argv[1]);
    } else if (command == "measure" && words >> kind >> totals >> seconds) {
      kind.append("/").append(totals);
      const auto found = classes.find(kind);
      if (found == classes.end() || found->second.empty()) fail("no plans for " + kind);
      measure(engine, found->second, seconds);
    } else {
      fail("unknown command: " + line);
    }
    (void)std::fflush(stdout);
  }
}
