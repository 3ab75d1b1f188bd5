// The vector engine without Node: kernels compared with plain C, exact search, graphs, rewritten sets, files
// and their damage, sealed collections.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "support/scratch_directory.h"
#include "support/vector_wire.h"
#include "vector/kernels/table_lookup.h"
#include "vector/kernels/vector_kernels.h"

namespace mds::test {
namespace {

constexpr uint32_t kDims = 32;
constexpr uint32_t kStored = 2500;

using Vectors = std::map<uint32_t, std::vector<float>>;

void give(VectorEngine& engine, uint32_t collection, const Vectors& vectors, uint64_t lsn) {
  VectorBatchBuilder batch;
  for (const auto& [docid, vector] : vectors) batch.set(collection, docid, lsn, kDims, vector);
  ASSERT_TRUE(engine.apply(batch.bytes()).ok());
}

Vectors draw(VectorSource& source, uint32_t count) {
  Vectors vectors;
  for (uint32_t docid = 0; docid < count; ++docid) vectors[docid] = source.next();
  return vectors;
}

std::vector<uint32_t> exact(const Vectors& vectors, const std::vector<float>& query, size_t k) {
  std::vector<std::pair<double, uint32_t>> scored;
  for (const auto& [docid, vector] : vectors) {
    double dot = 0;
    for (size_t index = 0; index < query.size(); ++index) dot += double{query[index]} * double{vector[index]};
    scored.emplace_back(-dot, docid);
  }
  std::sort(scored.begin(), scored.end());
  std::vector<uint32_t> best;
  for (size_t index = 0; index < std::min(k, scored.size()); ++index) best.push_back(scored[index].second);
  return best;
}

double recall(VectorEngine& engine, const Vectors& vectors, VectorSource& source, VectorAlgorithm algorithm, bool& isExact) {
  size_t found = 0;
  isExact = false;
  for (int query = 0; query < 50; ++query) {
    const std::vector<float> vector = source.next();
    const VectorAnswer answer = ask(engine, vector_request(1, vector, 10, algorithm));
    isExact = isExact || answer.isExact;
    const std::vector<uint32_t> docids = docids_of(answer);
    for (const uint32_t docid : exact(vectors, vector, 10)) found += std::count(docids.begin(), docids.end(), docid) > 0 ? 1 : 0;
  }
  return static_cast<double>(found) / 500;
}

TEST(VectorKernels, AgreeWithPlainC) {
  std::mt19937 random(7);
  for (const size_t dims : {1U, 2U, 31U, 64U, 100U, 384U, 1000U}) {
    std::vector<int8_t> a(dims);
    std::vector<int8_t> b(dims);
    std::vector<float> x(dims);
    for (size_t index = 0; index < dims; ++index) {
      a[index] = static_cast<int8_t>(static_cast<int>(random() % 255) - 127);
      b[index] = static_cast<int8_t>(static_cast<int>(random() % 255) - 127);
      x[index] = static_cast<float>(a[index]) / 100;
    }
    EXPECT_EQ(vector_kernels().dot_i8(a.data(), b.data(), dims), serial_vector_kernels().dot_i8(a.data(), b.data(), dims));
    EXPECT_NEAR(vector_kernels().dot_f32(x.data(), x.data(), dims), serial_vector_kernels().dot_f32(x.data(), x.data(), dims), 1e-9 * static_cast<double>(dims));
  }
}

TEST(VectorKernels, OfFourBitsAgreeWithPlainC) {
  std::mt19937 random(9);
  for (const size_t pairs : {1U, 4U, 48U, 250U}) {
    std::vector<uint8_t> codes(pairs * 64);
    std::vector<uint8_t> tables(pairs * 32);
    std::vector<int8_t> query(pairs * 128);
    for (uint8_t& code : codes) code = static_cast<uint8_t>(random());
    for (uint8_t& entry : tables) entry = static_cast<uint8_t>(random() % 128);
    for (int8_t& element : query) element = static_cast<int8_t>(static_cast<int>(random() % 255) - 127);
    std::array<uint16_t, 64> sums{};
    std::array<uint16_t, 64> plain{};
    (void)serial_vector_kernels().sum_tables(codes.data(), tables.data(), pairs, 0, plain.data());
    for (const uint16_t least : {uint16_t{0}, plain[7], static_cast<uint16_t>(plain[7] + 1), uint16_t{65535}}) {
      const uint64_t wanted = serial_vector_kernels().sum_tables(codes.data(), tables.data(), pairs, least, plain.data());
      EXPECT_EQ(vector_kernels().sum_tables(codes.data(), tables.data(), pairs, least, sums.data()), wanted);
      EXPECT_EQ(sums, plain);
    }
    const int8_t* high = query.data() + pairs * 64;
#if defined(__x86_64__)
    // Processors with newer instruction sets never use these.
    if (__builtin_cpu_supports("avx2")) {
      EXPECT_EQ(lookup::sum_tables_avx2(codes.data(), tables.data(), pairs, plain[7], sums.data()),
                serial_vector_kernels().sum_tables(codes.data(), tables.data(), pairs, plain[7], plain.data()));
      EXPECT_EQ(sums, plain);
      EXPECT_EQ(lookup::dot_u4_avx2(query.data(), high, codes.data(), pairs * 64), serial_vector_kernels().dot_u4(query.data(), high, codes.data(), pairs * 64));
    }
#endif
    EXPECT_EQ(vector_kernels().dot_u4(query.data(), high, codes.data(), pairs * 64), serial_vector_kernels().dot_u4(query.data(), high, codes.data(), pairs * 64));
  }
}

TEST(VectorKernels, ProductsOfMatricesAreThoseOfTheirNumbers) {
  std::mt19937 random(10);
  for (const size_t columns : {16U, 32U, 48U}) {
    for (const size_t rows : {1U, 4U, 7U}) {
      constexpr size_t kInner = 5;
      constexpr size_t kStride = 9;
      std::vector<float> left(rows * kStride);
      std::vector<float> right(kInner * columns);
      for (float& element : left) element = static_cast<float>(random() % 100);
      for (float& element : right) element = static_cast<float>(random() % 100);
      std::vector<float> wanted(rows * columns);
      for (size_t row = 0; row < rows; ++row) {
        for (size_t at = 0; at < kInner; ++at) {
          for (size_t column = 0; column < columns; ++column) wanted[row * columns + column] += left[row * kStride + at] * right[at * columns + column];
        }
      }
      for (const VectorKernels* kernels : {&vector_kernels(), &serial_vector_kernels()}) {
        std::vector<float> out(rows * columns, -1);
        kernels->multiply({left.data(), kStride}, rows, kInner, {right.data(), columns}, columns, out.data());
        EXPECT_EQ(out, wanted);
      }
    }
  }
}

TEST(VectorEngine, FlatIsExactWhileDocumentsComeAndGo) {
  VectorEngine engine;
  VectorSource source(1, kDims);
  Vectors vectors = draw(source, 3000);
  give(engine, 1, vectors, 1);
  VectorBatchBuilder removes;
  for (uint32_t docid = 0; docid < 3000; docid += 3) {
    removes.remove(1, docid, 2);
    vectors.erase(docid);
  }
  ASSERT_TRUE(engine.apply(removes.bytes()).ok());
  for (int query = 0; query < 30; ++query) {
    const std::vector<float> vector = source.next();
    const VectorAnswer answer = ask(engine, vector_request(1, vector, 25));
    EXPECT_TRUE(answer.isExact);
    EXPECT_EQ(docids_of(answer), exact(vectors, vector, 25));
  }
}

TEST(VectorEngine, TheBestChunkOfEachOfKDocumentsCounts) {
  VectorEngine engine;
  VectorSource source(2, kDims);
  VectorBatchBuilder batch;
  for (uint32_t docid = 1; docid <= 400; ++docid) {
    std::vector<float> chunks;
    for (int chunk = 0; chunk < 20; ++chunk) {
      const std::vector<float> one = source.next();
      chunks.insert(chunks.end(), one.begin(), one.end());
    }
    batch.set(1, docid, docid, kDims, chunks);
  }
  ASSERT_TRUE(engine.apply(batch.bytes()).ok());
  engine.settle();
  for (const VectorAlgorithm algorithm : {VectorAlgorithm::kFlat, VectorAlgorithm::kHnsw, VectorAlgorithm::kSq}) {
    const std::vector<uint32_t> docids = docids_of(ask(engine, vector_request(1, source.next(), 100, algorithm)));
    EXPECT_EQ(docids.size(), 100U);
    EXPECT_EQ(std::set<uint32_t>(docids.begin(), docids.end()).size(), 100U);
  }
}

TEST(VectorEngine, TheGraphFindsNearlyAllAndFollowsChanges) {
  VectorEngine engine;
  VectorSource source(3, kDims);
  Vectors vectors = draw(source, 6000);
  give(engine, 1, vectors, 1);
  engine.settle();
  ASSERT_EQ(engine.stats().at(0).graphSlots, 6000U);
  bool isExact = false;
  EXPECT_GE(recall(engine, vectors, source, VectorAlgorithm::kHnsw, isExact), 0.95);
  EXPECT_FALSE(isExact);
  // A third is replaced. The new vectors are found immediately, and also after the graph contains them.
  Vectors replaced;
  for (uint32_t docid = 0; docid < 2000; ++docid) replaced[docid] = vectors[docid] = source.next();
  give(engine, 1, replaced, 2);
  EXPECT_GE(recall(engine, vectors, source, VectorAlgorithm::kHnsw, isExact), 0.95);
  engine.settle();
  EXPECT_GE(recall(engine, vectors, source, VectorAlgorithm::kHnsw, isExact), 0.95);
  EXPECT_EQ(engine.stats().at(0).documents, 6000U);
}

TEST(VectorEngine, TrainedKindsAnswerExactlyUntilTheyAreTrainedAndFollowGrowth) {
  VectorEngine engine;
  VectorSource source(8, kDims);
  Vectors vectors = draw(source, 4000);
  give(engine, 1, vectors, 1);
  const std::map<VectorAlgorithm, double> wanted{{VectorAlgorithm::kIvf, 0.95}, {VectorAlgorithm::kPq, 0.95}, {VectorAlgorithm::kOpq, 0.95},
                                                 {VectorAlgorithm::kSq, 0.98},  {VectorAlgorithm::kSq4, 0.9}, {VectorAlgorithm::kBq, 0.8}};
  for (const auto& [algorithm, least] : wanted) {
    bool isExact = false;
    (void)ask(engine, vector_request(1, source.next(), 10, algorithm));
    engine.settle();
    EXPECT_GE(recall(engine, vectors, source, algorithm, isExact), least) << static_cast<int>(algorithm);
    EXPECT_FALSE(isExact) << static_cast<int>(algorithm);
  }
  const uint64_t before = engine.stats().at(0).trainedBytes;
  Vectors more;
  for (uint32_t docid = 4000; docid < 7000; ++docid) more[docid] = vectors[docid] = source.next();
  give(engine, 1, more, 2);
  for (const bool isSettled : {false, true}) {
    if (isSettled) engine.settle();
    for (const auto& [algorithm, least] : wanted) {
      bool isExact = false;
      EXPECT_GE(recall(engine, vectors, source, algorithm, isExact), least) << static_cast<int>(algorithm);
    }
  }
  EXPECT_GT(engine.stats().at(0).trainedBytes, before + before / 4);
}

TEST(VectorEngine, ListsFindManyInSmallSetsAndByMetricsThatKnowLengths) {
  VectorEngine engine;
  VectorSource source(9, kDims);
  Vectors vectors = draw(source, 4000);
  for (auto& [docid, vector] : vectors) {
    for (float& element : vector) element *= static_cast<float>(1 + docid % 7);
  }
  give(engine, 1, vectors, 1);
  (void)ask(engine, vector_request(1, source.next(), 10, VectorAlgorithm::kIvf));
  engine.settle();
  for (const VectorMetric metric : {VectorMetric::kCosine, VectorMetric::kDotProduct, VectorMetric::kEuclidean}) {
    size_t found = 0;
    for (int query = 0; query < 20; ++query) {
      VectorSearchRequest request = vector_request(1, source.next(), 100);
      request.metric = metric;
      const std::vector<uint32_t> nearest = docids_of(ask(engine, request));
      request.algorithm = VectorAlgorithm::kIvf;
      for (const uint32_t docid : docids_of(ask(engine, request))) found += std::count(nearest.begin(), nearest.end(), docid) > 0 ? 1 : 0;
    }
    EXPECT_GE(static_cast<double>(found) / 2000, 0.95) << static_cast<int>(metric);
  }
}

TEST(VectorEngine, ASetWithManyDeadVectorsIsRewritten) {
  VectorEngine engine;
  VectorSource source(4, kDims);
  Vectors vectors = draw(source, 3000);
  give(engine, 1, vectors, 1);
  for (uint64_t round = 2; round < 5; ++round) {
    vectors = draw(source, 3000);
    give(engine, 1, vectors, round);
  }
  engine.settle();
  EXPECT_LE(engine.stats().at(0).deadSlots, 1500U);
  const std::vector<float> query = source.next();
  EXPECT_EQ(docids_of(ask(engine, vector_request(1, query, 10))), exact(vectors, query, 10));
}

TEST(VectorEngine, AFilterIsApplied) {
  VectorEngine engine;
  VectorSource source(5, kDims);
  const Vectors vectors = draw(source, 8000);
  give(engine, 1, vectors, 1);
  engine.settle();
  for (const uint32_t step : {2U, 10U, 100U, 1000U}) {
    Vectors passing;
    std::vector<uint32_t> documents;
    for (uint32_t docid = 0; docid < 8000; docid += step) {
      passing[docid] = vectors.at(docid);
      documents.push_back(docid);
    }
    size_t found = 0;
    size_t wanted = 0;
    for (int query = 0; query < 20; ++query) {
      const std::vector<float> vector = source.next();
      const std::vector<uint32_t> docids = docids_of(ask(engine, vector_request(1, vector, 10, VectorAlgorithm::kHnsw), &documents));
      for (const uint32_t docid : docids) EXPECT_EQ(docid % step, 0U);
      const std::vector<uint32_t> best = exact(passing, vector, 10);
      wanted += best.size();
      for (const uint32_t docid : best) found += std::count(docids.begin(), docids.end(), docid) > 0 ? 1 : 0;
    }
    EXPECT_GE(static_cast<double>(found), 0.95 * static_cast<double>(wanted)) << step;
  }
}

class StoredVectors : public testing::Test {
 protected:
  StoredVectors() : vectors_(draw(source_, kStored)) {}

  // Writes the set to disk.
  void store() {
    VectorEngine engine;
    ASSERT_TRUE(engine.open(path()).ok());
    give(engine, 1, vectors_, 1);
    engine.settle();
    ASSERT_EQ(engine.storage_failures(), 0U);
    EXPECT_GT(engine.stats().at(0).mappedBytes, 0U);
  }
  [[nodiscard]] std::string path() const { return directory_.path() + "/vectors"; }
  [[nodiscard]] std::filesystem::path file(const char* ending) const {
    for (const auto& entry : std::filesystem::directory_iterator(path())) {
      if (entry.path().extension() == ending) return entry.path();
    }
    return {};
  }
  [[nodiscard]] StampBytes stamps() const {
    StampBytes stamps;
    for (const auto& [docid, vector] : vectors_) stamps.add(1, docid, 1, kDims);
    return stamps;
  }
  // Opens the set, compares it with all added documents, adds the missing ones again, and checks search
  // results. Returns the number of missing documents.
  size_t reopen() {
    VectorEngine engine;
    EXPECT_TRUE(engine.open(path()).ok());
    const Result<std::vector<uint32_t>> missing = engine.compare(stamps().bytes);
    EXPECT_TRUE(missing.ok());
    Vectors again;
    for (size_t at = 1; at < missing.value().size(); at += 2) again[missing.value()[at]] = vectors_.at(missing.value()[at]);
    give(engine, 1, again, 1);
    const std::vector<float> query = source_.next();
    EXPECT_EQ(docids_of(ask(engine, vector_request(1, query, 10))), exact(vectors_, query, 10));
    bool isExact = false;
    EXPECT_GE(recall(engine, vectors_, source_, VectorAlgorithm::kHnsw, isExact), 0.95);
    engine.settle();
    return again.size();
  }

  ScratchDirectory directory_;
  VectorSource source_{6, kDims};
  Vectors vectors_;
};

TEST_F(StoredVectors, AreThereAfterAStartWithTheirGraph) {
  store();
  VectorEngine engine;
  ASSERT_TRUE(engine.open(path()).ok());
  EXPECT_EQ(engine.stats().at(0).documents, kStored);
  EXPECT_EQ(engine.stats().at(0).graphSlots, kStored);
  EXPECT_EQ(reopen(), 0U);
}

TEST_F(StoredVectors, ComeBackWhereFilesAreDamagedCutOrGone) {
  for (const char* ending : {".rows", ".graph"}) {
    for (const double fraction : {0.0, 0.3, 0.9}) {
      store();
      const std::filesystem::path damaged = file(ending);
      const auto size = static_cast<double>(std::filesystem::file_size(damaged));
      {
        std::fstream stream(damaged, std::ios::in | std::ios::out | std::ios::binary);
        stream.seekp(static_cast<std::streamoff>(size * fraction) + 5);
        stream.put('\x5a');
      }
      (void)reopen();
      std::filesystem::resize_file(file(ending), static_cast<uintmax_t>(size * fraction));
      (void)reopen();
      std::filesystem::remove(file(ending));
      (void)reopen();
      EXPECT_EQ(reopen(), 0U);
      std::filesystem::remove_all(path());
    }
  }
}

TEST_F(StoredVectors, OfADroppedCollectionAreRemoved) {
  store();
  {
    VectorEngine engine;
    ASSERT_TRUE(engine.open(path()).ok());
    VectorBatchBuilder batch;
    batch.drop(1);
    ASSERT_TRUE(engine.apply(batch.bytes()).ok());
    engine.settle();
  }
  EXPECT_TRUE(std::filesystem::is_empty(path()));
}

TEST_F(StoredVectors, OfASealedCollectionAreNotOnDisk) {
  store();
  VectorEngine engine;
  ASSERT_TRUE(engine.open(path()).ok());
  ASSERT_TRUE(engine.set_sealed(1, true).ok());
  engine.settle();
  EXPECT_TRUE(std::filesystem::is_empty(path()));
  EXPECT_EQ(engine.stats().at(0).mappedBytes, 0U);
  const std::vector<float> query = source_.next();
  EXPECT_EQ(docids_of(ask(engine, vector_request(1, query, 10))), exact(vectors_, query, 10));
  give(engine, 1, draw(source_, 100), 2);
  engine.settle();
  EXPECT_TRUE(std::filesystem::is_empty(path()));
  ASSERT_TRUE(engine.set_sealed(1, false).ok());
  engine.settle();
  EXPECT_FALSE(std::filesystem::is_empty(path()));
}

TEST_F(StoredVectors, ForeignFilesAreRemoved) {
  std::filesystem::create_directories(path());
  for (const char* name : {"1-32-0.rows.tmp", "x", "1-32-0.graph", "-1-3-2.rows", "7-0-0.rows", "9-99-3.rows"}) std::ofstream(path() + "/" + name) << "abc";
  VectorEngine engine;
  ASSERT_TRUE(engine.open(path()).ok());
  EXPECT_TRUE(std::filesystem::is_empty(path()));
  EXPECT_TRUE(engine.stats().empty());
}

}  // namespace
}  // namespace mds::test
