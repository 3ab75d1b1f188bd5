// Measures the cost of the engine: publishing rate, latency of TERM, OR, AND, phrase and filtered queries,
// and bytes per posting. Uses synthetic documents: 800 tokens, Zipf-distributed over 60 000 words (seed 1),
// one metadata pair. Run: build/native/test/mds_bench [documents]. Latest results: native/README.md.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "index/engine.h"
#include "support/wire.h"

namespace {

using mds::test::Plan;
using mds::test::Tree;
using mds::test::Wire;
using Clock = std::chrono::steady_clock;

constexpr uint32_t kTokens = 800;
constexpr uint32_t kVocabulary = 60000;
constexpr uint32_t kBatchDocuments = 64;

double us_since(Clock::time_point begin) { return std::chrono::duration<double, std::micro>(Clock::now() - begin).count(); }

// CPU time of this thread: the cost of a publish, independent of the load of the machine.
double cpu_us() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

class Corpus {
 public:
  mds::test::Document document(uint32_t docid) {
    mds::test::Document document;
    document.docid = docid;
    document.lsn = docid + 1;
    document.key = "document/" + std::to_string(docid);
    document.meta = {{"tag", "t" + std::to_string(docid % 10)}};
    std::vector<std::string> words;
    for (uint32_t index = 0; index < kTokens; ++index) {
      // Rank = V^u with uniform u, so the density decreases as 1/rank.
      const double uniform = std::uniform_real_distribution<>(0, 1)(random_);
      words.push_back("term" + std::to_string(static_cast<uint32_t>(std::pow(kVocabulary, uniform))));
    }
    document.fields["content"] = mds::test::text_of(words);
    tokens += kTokens;
    postings += document.fields["content"].size();
    return document;
  }

  uint64_t tokens = 0;
  uint64_t postings = 0;  // sum of the distinct terms of each document

 private:
  std::mt19937_64 random_{1};
};

struct Latency {
  double medianUs;
  double p99Us;
  uint32_t total;
};

Latency measure(const mds::Engine& engine, const Plan& plan) {
  const Wire bytes = mds::test::plan_bytes(plan);
  std::vector<double> micros;
  uint32_t total = 0;
  for (uint32_t round = 0; round < 200; ++round) {
    const auto begin = Clock::now();
    const auto record = engine.search(bytes, {});
    micros.push_back(us_since(begin));
    if (!record.ok()) std::abort();
    total = mds::test::read_hits(record.value()).total;
  }
  std::sort(micros.begin(), micros.end());
  return {micros[100], micros[198], total};
}

void bench_query(const mds::Engine& engine, const char* name, Plan plan) {
  const Latency exact = measure(engine, plan);
  plan.exactTotal = false;
  const Latency top = measure(engine, plan);
  std::printf("  %-34s exact total %8.1f us median %8.1f us p99   best ten only %8.1f us median %8.1f us p99   %u matches\n", name, exact.medianUs, exact.p99Us,
              top.medianUs, top.p99Us, exact.total);
}

Tree term(uint32_t index) { return {1, index, 0, {}, {}}; }

void bench_expansions(const mds::Engine& engine) {
  Plan plan;
  plan.terms = {{"tern2035", 1}, {"term12*", 1}, {"*m?9*1", 1}};
  for (uint32_t edits = 0; edits <= 2; ++edits) {
    plan.root = {8, 0, 0, {}, {}, edits};
    bench_query(engine, ("FUZZY " + std::to_string(edits)).c_str(), plan);
  }
  plan.root = {9, 1, 0, {}, {}};
  bench_query(engine, "WILDCARD prefix", plan);
  plan.root = {9, 2, 0, {}, {}};
  bench_query(engine, "WILDCARD, whole dictionary", plan);
  std::vector<double> micros;
  for (uint32_t round = 0; round < 200; ++round) {
    const auto begin = Clock::now();
    if (!engine.completions({1, {}, "term1", 10}).ok()) std::abort();
    micros.push_back(us_since(begin));
  }
  std::sort(micros.begin(), micros.end());
  std::printf("  %-34s %8.1f us median %8.1f us p99\n", "completions of a prefix", micros[100], micros[198]);
}

void bench_queries(const mds::Engine& engine) {
  Plan plan;
  plan.terms = {{"term3", 1}, {"term200", 1}, {"term50", 1}, {"term9000", 1}, {"term1", 1}};
  plan.root = term(0);
  bench_query(engine, "TERM common", plan);
  plan.root = term(1);
  bench_query(engine, "TERM medium", plan);
  plan.root = term(3);
  bench_query(engine, "TERM rare", plan);
  plan.root = {3, 0, 0, {}, {term(1), term(2), term(3)}};
  bench_query(engine, "OR of 3", plan);
  plan.root = {3, 0, 0, {}, {term(0), term(1), term(2), term(3), term(4)}};
  bench_query(engine, "OR of 5, two common", plan);
  plan.root = {2, 0, 0, {}, {term(1), term(2)}};
  bench_query(engine, "AND of 2", plan);
  plan.root = {5, 0, 0, {{0, 0}, {4, 1}}, {}};
  bench_query(engine, "PHRASE of 2 common", plan);
  plan.root = {10, 0, 0, {{1, 0}, {2, 0}}, {}, 0, 0, 5};
  bench_query(engine, "PROXIMITY of 2 within 5", plan);
  bench_expansions(engine);
  plan.root = {3, 0, 0, {}, {term(1), term(2), term(3)}};
  plan.filters = {{"tag", {"t3"}}};
  bench_query(engine, "OR of 3, filter 10 %", plan);
  plan.algorithm = 2;
  plan.fields = {{"content", 1}, {"meta.title", 3}};
  bench_query(engine, "OR of 3, filter 10 %, bm25f", plan);
  plan.terms.clear();
  plan.root = Tree{};
  plan.sort = 1;
  bench_query(engine, "listing by addedAt, filter 10 %", plan);
  plan.filters.clear();
  bench_query(engine, "listing by addedAt", plan);
}

}  // namespace

int main(int argc, char** argv) {
  const uint32_t documents = argc > 1 ? static_cast<uint32_t>(std::strtoul(argv[1], nullptr, 10)) : 50000;
  mds::Engine engine;
  Corpus corpus;
  std::vector<double> batchMicros;
  double cpuSum = 0;
  for (uint32_t docid = 0; docid < documents;) {
    std::vector<Wire> ops;
    for (uint32_t index = 0; index < kBatchDocuments && docid < documents; ++index) ops.push_back(mds::test::upsert_op(corpus.document(docid++)));
    const Wire batch = mds::test::batch_of(ops, docid);
    const auto begin = Clock::now();
    const double cpuBegin = cpu_us();
    if (!engine.publish(batch).ok()) std::abort();
    cpuSum += cpu_us() - cpuBegin;
    batchMicros.push_back(us_since(begin));
  }
  double sum = 0;
  for (const double micros : batchMicros) sum += micros;
  std::sort(batchMicros.begin(), batchMicros.end());
  std::printf("publish of %u documents: median %.1f ms, p99 %.1f ms, %.0f documents/s, %.0f documents per CPU second\n", kBatchDocuments,
              batchMicros[batchMicros.size() / 2] / 1e3, batchMicros[batchMicros.size() * 99 / 100] / 1e3, documents / (sum / 1e6), documents / (cpuSum / 1e6));

  std::vector<double> singles;
  for (uint32_t docid = documents; docid < documents + 2000; ++docid) {
    const Wire batch = mds::test::batch_of({mds::test::upsert_op(corpus.document(docid))}, docid + 1);
    const auto begin = Clock::now();
    if (!engine.publish(batch).ok()) std::abort();
    singles.push_back(us_since(begin));
  }
  std::sort(singles.begin(), singles.end());
  std::printf("publish of 1 document: median %.0f us, p99 %.0f us\n", singles[1000], singles[1980]);

  mds::EngineStats stats = engine.stats();
  std::printf("as written: %u segments, %llu merges, %.1f bytes per token\n", stats.segments, static_cast<unsigned long long>(stats.merges),
              static_cast<double>(stats.memoryBytes) / static_cast<double>(corpus.tokens));
  bench_queries(engine);
  const auto begin = Clock::now();
  if (!engine.force_merge().ok()) std::abort();
  stats = engine.stats();
  std::printf("merged into one in %.2f s: %.1f MB, %.1f bytes per posting, %.1f per token (all columns, positions included)\n", us_since(begin) / 1e6,
              static_cast<double>(stats.memoryBytes) / 1e6, static_cast<double>(stats.memoryBytes) / static_cast<double>(corpus.postings),
              static_cast<double>(stats.memoryBytes) / static_cast<double>(corpus.tokens));
  bench_queries(engine);
}
