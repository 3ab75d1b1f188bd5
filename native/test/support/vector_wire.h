// Vectors, batches, requests and hits of the vector engine for tests.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "vector/vector_engine.h"

namespace mds::test {

template <class Value>
void append(std::vector<uint8_t>& bytes, Value value) {
  const size_t at = bytes.size();
  bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

class VectorBatchBuilder {
 public:
  void set(uint32_t collection, uint32_t docid, uint64_t lsn, uint32_t dims, const std::vector<float>& vectors) {
    begin(1, collection);
    append(ops_, docid);
    append(ops_, lsn);
    append(ops_, dims);
    append(ops_, static_cast<uint32_t>(vectors.size() / dims));
    for (const float element : vectors) append(ops_, element);
  }
  void remove(uint32_t collection, uint32_t docid, uint64_t lsn) {
    begin(2, collection);
    append(ops_, docid);
    append(ops_, lsn);
  }
  void drop(uint32_t collection) { begin(3, collection); }
  [[nodiscard]] std::vector<uint8_t> bytes() const {
    std::vector<uint8_t> batch;
    append(batch, uint32_t{0x3142564D});
    append(batch, count_);
    batch.insert(batch.end(), ops_.begin(), ops_.end());
    return batch;
  }

 private:
  void begin(uint32_t kind, uint32_t collection) {
    count_ += 1;
    append(ops_, kind);
    append(ops_, collection);
  }

  uint32_t count_ = 0;
  std::vector<uint8_t> ops_;
};

// Unit vectors clustered around some centres, like embeddings. The same seed produces the same vectors.
class VectorSource {
 public:
  VectorSource(uint32_t seed, uint32_t dims) : random_(seed), dims_(dims) {
    for (uint32_t centre = 0; centre < kCentres; ++centre) centres_.push_back(draw(std::vector<float>(dims), 1));
  }
  [[nodiscard]] std::vector<float> next() { return draw(centres_[random_() % kCentres], kSpread / std::sqrt(static_cast<float>(dims_))); }

 private:
  static constexpr uint32_t kCentres = 50;
  static constexpr float kSpread = 1.0F;

  std::vector<float> draw(std::vector<float> vector, float spread) {
    std::normal_distribution<float> normal(0, spread);
    float squares = 0;
    for (float& element : vector) {
      element += normal(random_);
      squares += element * element;
    }
    for (float& element : vector) element /= std::sqrt(squares);
    return vector;
  }

  std::mt19937 random_;
  uint32_t dims_;
  std::vector<std::vector<float>> centres_;
};

struct VectorHit {
  uint32_t docid;
  uint32_t chunk;
  uint64_t lsn;
  double score;
};

struct VectorAnswer {
  std::vector<VectorHit> hits;
  bool isExact = false;
  bool isComplete = false;
};

[[nodiscard]] inline VectorSearchRequest vector_request(uint32_t collection, std::vector<float> vector, uint32_t k, VectorAlgorithm algorithm = VectorAlgorithm::kFlat) {
  return {collection, algorithm, VectorMetric::kCosine, k, k, -2, false, 1, 0, std::move(vector), kGraphExpansionSearch, {}};
}

[[nodiscard]] inline VectorAnswer ask(VectorEngine& engine, const VectorSearchRequest& request, const std::vector<uint32_t>* documents = nullptr) {
  const Result<std::vector<uint8_t>> record = engine.search(request, documents, StopSignal(nullptr));
  VectorAnswer answer;
  if (!record.ok()) return answer;
  ByteReader reader(record.value());
  (void)reader.u32();
  const uint32_t count = reader.u32();
  const uint32_t status = reader.u32();
  (void)reader.u32();
  answer.isExact = (status & 2) != 0;
  answer.isComplete = (status & 1) == 0;
  for (uint32_t index = 0; index < count; ++index) answer.hits.push_back({reader.u32(), reader.u32(), reader.u64(), reader.f64()});
  return answer;
}

[[nodiscard]] inline std::vector<uint32_t> docids_of(const VectorAnswer& answer) {
  std::vector<uint32_t> docids;
  for (const VectorHit& hit : answer.hits) docids.push_back(hit.docid);
  return docids;
}

struct StampBytes {
  std::vector<uint8_t> bytes;
  void add(uint32_t collection, uint32_t docid, uint64_t lsn, uint32_t dims) {
    append(bytes, collection);
    append(bytes, docid);
    append(bytes, lsn);
    append(bytes, dims);
  }
};

}  // namespace mds::test
