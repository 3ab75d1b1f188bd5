// The engine's part of bench/vectors/vector_search.ts. Builds a set from the vectors of one file and runs the
// queries of another file on one thread, with the engine as in the addon.
//   mds_vector_bench DOCUMENTS QUERIES DIMS SECONDS DIRECTORY [together]
// DOCUMENTS and QUERIES: files of f32, row by row. DIRECTORY: for the index.
// `together`: only flat searches of several concurrent clients, by wall clock.
// Prints one JSON line per measurement. Recall compares the best ten with the exact ten, which are computed
// in doubles first.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "vector/kernels/vector_kernels.h"
#include "vector/vector_engine.h"

namespace {

using Clock = std::chrono::steady_clock;
constexpr uint32_t kHits = 10;
constexpr uint32_t kBatchDocuments = 1000;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// CPU time of this thread. Other processes on the machine are not included.
double thread_seconds() {
  timespec time{};
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// CPU time of all threads.
double process_seconds() {
  timespec time{};
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

std::vector<float> read_floats(const char* path) {
  std::vector<float> values;
  FILE* file = std::fopen(path, "rb");
  if (file == nullptr) return values;
  (void)std::fseek(file, 0, SEEK_END);
  values.resize(static_cast<size_t>(std::ftell(file)) / sizeof(float));
  std::rewind(file);
  const size_t got = std::fread(values.data(), sizeof(float), values.size(), file);
  (void)std::fclose(file);
  values.resize(got);
  return values;
}

template <class Value>
void append(std::vector<uint8_t>& bytes, Value value) {
  const size_t at = bytes.size();
  bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

void apply_all(mds::VectorEngine& engine, const std::vector<float>& vectors, size_t dims) {
  const size_t count = vectors.size() / dims;
  for (size_t begin = 0; begin < count; begin += kBatchDocuments) {
    const size_t end = std::min(count, begin + kBatchDocuments);
    std::vector<uint8_t> batch;
    append(batch, uint32_t{0x3142564D});
    append(batch, static_cast<uint32_t>(end - begin));
    for (size_t docid = begin; docid < end; ++docid) {
      append(batch, uint32_t{1});
      append(batch, uint32_t{1});
      append(batch, static_cast<uint32_t>(docid));
      append(batch, uint64_t{docid + 1});
      append(batch, static_cast<uint32_t>(dims));
      append(batch, uint32_t{1});
      const auto* row = reinterpret_cast<const uint8_t*>(vectors.data() + docid * dims);
      batch.insert(batch.end(), row, row + dims * sizeof(float));
    }
    if (!engine.apply(batch).ok()) std::abort();
  }
}

class Bench {
 public:
  Bench(const char* documents, const char* queries, size_t dims, double seconds, const char* directory)
      : documents_(read_floats(documents)), queries_(read_floats(queries)), dims_(dims), seconds_(seconds), directory_(directory) {}

  int run(bool isTogether) {
    if (!engine_.open(directory_).ok()) return 1;
    find_exact();
    // The graph lane works from the first batch on. The cost of storing is included, too.
    const double start = process_seconds();
    apply_all(engine_, documents_, dims_);
    engine_.settle();
    std::printf("{\"step\":\"graph\",\"isa\":\"%s\",\"perSecond\":%.0f}\n", mds::vector_kernels().isa,
                static_cast<double>(document_count()) / (process_seconds() - start));
    for (const mds::VectorSetStats& set : engine_.stats()) {
      std::printf("{\"step\":\"bytes\",\"memory\":%.1f,\"mapped\":%.1f,\"graph\":%.1f}\n", per_vector(set.memoryBytes), per_vector(set.mappedBytes),
                  per_vector(set.graphBytes));
    }
    if (isTogether) {
      for (const uint32_t clients : {1U, 2U, 16U}) {
        for (const uint32_t threads : {1U, 2U}) measure_together(clients, threads);
      }
      return 0;
    }
    measure("flat", mds::VectorAlgorithm::kFlat, 0, 1);
    for (const uint32_t expansion : {16U, 24U, 32U, 40U, 48U, 64U, 80U, 100U, 128U}) measure("hnsw", mds::VectorAlgorithm::kHnsw, expansion, 1);
    for (const uint32_t step : {2U, 10U, 100U, 1000U}) measure("hnsw, filtered", mds::VectorAlgorithm::kHnsw, 100, step);
    measure("sq", mds::VectorAlgorithm::kSq, 0, 1);
    train("ivf", mds::VectorAlgorithm::kIvf);
    train("pq", mds::VectorAlgorithm::kPq);
    train("opq", mds::VectorAlgorithm::kOpq);
    train("sq4", mds::VectorAlgorithm::kSq4);
    train("bq", mds::VectorAlgorithm::kBq);
    return 0;
  }

 private:
  [[nodiscard]] double per_vector(uint64_t bytes) const { return static_cast<double>(bytes) / static_cast<double>(document_count()); }
  [[nodiscard]] size_t document_count() const { return documents_.size() / dims_; }
  [[nodiscard]] size_t query_count() const { return queries_.size() / dims_; }

  void find_exact() {
    const size_t count = documents_.size() / dims_;
    scores_.resize(query_count() * count);
    for (size_t query = 0; query < query_count(); ++query) {
      for (size_t docid = 0; docid < count; ++docid) {
        scores_[query * count + docid] = static_cast<float>(mds::vector_kernels().dot_f32(queries_.data() + query * dims_, documents_.data() + docid * dims_, dims_));
      }
    }
  }

  // Returns the best ten of the docids that are multiples of `step`.
  [[nodiscard]] std::vector<uint32_t> exact(size_t query, uint32_t step) const {
    const size_t count = documents_.size() / dims_;
    const float* scores = scores_.data() + query * count;
    std::vector<uint32_t> best;
    for (uint32_t docid = 0; docid < count; docid += step) best.push_back(docid);
    const auto middle = best.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(kHits, best.size()));
    std::partial_sort(best.begin(), middle, best.end(), [&](uint32_t a, uint32_t b) { return scores[a] > scores[b]; });
    best.erase(middle, best.end());
    return best;
  }

  [[nodiscard]] std::vector<uint32_t> ask(size_t query, mds::VectorSearchRequest& request, const std::vector<uint32_t>* documents) {
    request.vector.assign(queries_.begin() + static_cast<std::ptrdiff_t>(query * dims_), queries_.begin() + static_cast<std::ptrdiff_t>((query + 1) * dims_));
    const mds::Result<std::vector<uint8_t>> record = engine_.search(request, documents, mds::StopSignal(nullptr));
    if (!record.ok()) std::abort();
    std::vector<uint32_t> docids;
    for (size_t at = 16; at < record.value().size(); at += 24) docids.push_back(mds::load_u32(record.value().data() + at));
    return docids;
  }

  void train(const char* name, mds::VectorAlgorithm algorithm) {
    mds::VectorSearchRequest request{1, algorithm, mds::VectorMetric::kCosine, kHits, kHits, -1, false, 1, 0, {}, 100, {}};
    (void)ask(0, request, nullptr);
    const uint64_t before = engine_.stats().at(0).trainedBytes;
    const auto start = Clock::now();
    engine_.settle();
    const double seconds = seconds_since(start);
    std::printf("{\"step\":\"train\",\"kind\":\"%s\",\"seconds\":%.2f,\"bytes\":%.1f}\n", name, seconds, per_vector(engine_.stats().at(0).trainedBytes - before));
    measure(name, algorithm, 0, 1);
    measure(name, algorithm, 0, 2);
  }

  // Flat searches of several concurrent clients, each with at most the given number of threads; by wall
  // clock.
  void measure_together(uint32_t clients, uint32_t threads) {
    std::mutex mutex;
    std::vector<double> times;
    const auto start = Clock::now();
    std::vector<std::thread> running;
    for (uint32_t client = 0; client < clients; ++client) {
      running.emplace_back([&, client] {
        mds::VectorSearchRequest request{1, mds::VectorAlgorithm::kFlat, mds::VectorMetric::kCosine, kHits, kHits, -1, false, 1, 0, {}, 100, {}};
        request.threads = threads;
        std::vector<double> own;
        for (size_t query = client; seconds_since(start) < seconds_; query = (query + 1) % query_count()) {
          const auto begin = Clock::now();
          (void)ask(query, request, nullptr);
          own.push_back(seconds_since(begin));
        }
        const std::lock_guard lock(mutex);
        times.insert(times.end(), own.begin(), own.end());
      });
    }
    for (std::thread& thread : running) thread.join();
    const double perSecond = static_cast<double>(times.size()) / seconds_since(start);
    std::sort(times.begin(), times.end());
    std::printf("{\"step\":\"together\",\"kind\":\"flat\",\"clients\":%u,\"threads\":%u,\"perSecond\":%.0f,\"p50Us\":%.0f,\"p99Us\":%.0f}\n", clients, threads, perSecond,
                times[times.size() / 2] * 1e6, times[times.size() * 99 / 100] * 1e6);
  }

  // With a filter that admits every `step`th document.
  void measure(const char* name, mds::VectorAlgorithm algorithm, uint32_t expansion, uint32_t step) {
    std::vector<uint32_t> passing;
    for (uint32_t docid = 0; docid < documents_.size() / dims_; docid += step) passing.push_back(docid);
    const std::vector<uint32_t>* documents = step == 1 ? nullptr : &passing;
    mds::VectorSearchRequest request{1, algorithm, mds::VectorMetric::kCosine, kHits, kHits, -1, false, 1, 0, {}, expansion, {}};
    size_t found = 0;
    size_t wanted = 0;
    for (size_t query = 0; query < query_count(); ++query) {
      const std::vector<uint32_t> best = exact(query, step);
      const std::vector<uint32_t> docids = ask(query, request, documents);
      wanted += best.size();
      for (const uint32_t docid : best) found += std::find(docids.begin(), docids.end(), docid) != docids.end() ? 1 : 0;
    }
    std::vector<double> times;
    const double start = thread_seconds();
    while (thread_seconds() - start < seconds_) {
      for (size_t query = 0; query < query_count(); ++query) {
        const double begin = thread_seconds();
        (void)ask(query, request, documents);
        times.push_back(thread_seconds() - begin);
      }
    }
    const double perSecond = static_cast<double>(times.size()) / (thread_seconds() - start);
    std::sort(times.begin(), times.end());
    std::printf("{\"step\":\"search\",\"kind\":\"%s\",\"expansion\":%u,\"percent\":%g,\"recall\":%.4f,\"perSecond\":%.0f,\"p50Us\":%.0f,\"p99Us\":%.0f}\n", name,
                expansion, 100.0 / step, static_cast<double>(found) / static_cast<double>(wanted), perSecond, times[times.size() / 2] * 1e6,
                times[times.size() * 99 / 100] * 1e6);
    (void)std::fflush(stdout);
  }

  std::vector<float> documents_;
  std::vector<float> queries_;
  size_t dims_;
  double seconds_;
  std::string directory_;
  std::vector<float> scores_;
  mds::VectorEngine engine_;
};

}  // namespace

int main(int count, char** arguments) {
  const bool isTogether = count == 7 && std::strcmp(arguments[6], "together") == 0;
  if (count != 6 && !isTogether) return 2;
  return Bench(arguments[1], arguments[2], std::strtoul(arguments[3], nullptr, 10), std::strtod(arguments[4], nullptr), arguments[5]).run(isTogether);
}
