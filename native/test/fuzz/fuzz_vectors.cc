// libFuzzer target for the reads from the files of the vector index. The first byte selects the rows of a set
// or its graph. The input is either the payload after the header, or header and payload. In the first case
// correct checksums are computed, so that every number in the payload is read.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "storage/crc32c.h"
#include "support/vector_wire.h"

namespace {

using mds::test::append;
using Buffer = std::vector<uint8_t>;

constexpr uint32_t kDims = 4;
constexpr uint32_t kSlots = 24;
constexpr size_t kIdentityBytes = 16;
constexpr size_t kCodedBytes = 12;

// In memory if such a file system exists.
const std::string& directory() {
  static const std::string path = [] {
    std::string name = std::filesystem::exists("/dev/shm") ? "/dev/shm/mds-fuzz-XXXXXX" : std::filesystem::temp_directory_path().string() + "/mds-fuzz-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    static const struct Removal {
      std::string path;
      ~Removal() { std::filesystem::remove_all(path); }
    } removal{name};
    return name;
  }();
  return path;
}

void put(const char* name, const Buffer& bytes) {
  std::ofstream(directory() + "/" + name, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

// Builds a group as stored in a file, with `slots` slots. Its columns are `payload`, repeated or truncated to
// their length.
Buffer group_of(uint32_t slotBegin, uint32_t slots, mds::Bytes payload) {
  const size_t stride = mds::code_stride(kDims);
  const size_t codes = (slots * (kIdentityBytes + kCodedBytes) + 63) / 64 * 64;
  Buffer columns(codes + slots * (stride + kDims * sizeof(float)));
  for (size_t at = 0; at < columns.size() && !payload.empty(); ++at) columns[at] = payload[at % payload.size()];
  Buffer bytes;
  for (const uint32_t field : {0x3147564DU, 1U, kDims, 0U, slotBegin, slots, mds::crc32c(columns)}) append(bytes, field);
  append(bytes, mds::crc32c(bytes));
  bytes.resize(64);
  bytes.insert(bytes.end(), columns.begin(), columns.end());
  bytes.resize((bytes.size() + 4095) / 4096 * 4096);
  return bytes;
}

// Builds columns of vectors of length 1, one document each.
Buffer sound_columns(uint32_t slots) {
  Buffer columns;
  for (uint32_t slot = 0; slot < slots; ++slot) {
    append(columns, slot);
    append(columns, uint32_t{1} << 16);
    append(columns, uint64_t{slot + 1});
  }
  Buffer codes;
  Buffer full;
  for (uint32_t slot = 0; slot < slots; ++slot) {
    const std::vector<float> vector{1, static_cast<float>(slot) / kSlots, 0.5F, 0.25F};
    codes.resize((slot + 1) * mds::code_stride(kDims));
    const mds::CodedVector coded = mds::encode_vector(vector, reinterpret_cast<int8_t*>(codes.data() + slot * mds::code_stride(kDims)));
    append(columns, coded);
    for (const float element : vector) append(full, element);
  }
  columns.resize((columns.size() + 63) / 64 * 64);
  columns.insert(columns.end(), codes.begin(), codes.end());
  columns.insert(columns.end(), full.begin(), full.end());
  return columns;
}

Buffer graph_of(mds::Bytes stream) {
  Buffer bytes;
  for (const uint32_t field : {0x3148474DU, 1U, kDims, 0U}) append(bytes, field);
  append(bytes, static_cast<uint64_t>(stream.size()));
  append(bytes, mds::crc32c(stream));
  append(bytes, mds::crc32c(bytes));
  bytes.insert(bytes.end(), stream.begin(), stream.end());
  return bytes;
}

// Builds a graph in usearch's format whose numbers come from the input.
Buffer shaped_stream(mds::Bytes input) {
  size_t at = 0;
  const auto next = [&]() -> uint8_t { return at < input.size() ? input[at++] : 0; };
  Buffer stream;
  const uint64_t size = 1 + next() % kSlots;
  for (const uint64_t field : {size, uint64_t{mds::kGraphConnectivity}, uint64_t{2 * mds::kGraphConnectivity}, uint64_t{next()} % 4U, uint64_t{next()} % size})
    append(stream, field);
  std::vector<int16_t> levels;
  for (uint64_t slot = 0; slot < size; ++slot) append(stream, levels.emplace_back(static_cast<int16_t>(next() % 4)));
  for (uint32_t slot = 0; slot < size; ++slot) {
    append(stream, slot);
    append(stream, levels[slot]);
    for (int level = 0; level <= levels[slot]; ++level) {
      const uint32_t most = level == 0 ? 2 * mds::kGraphConnectivity : mds::kGraphConnectivity;
      append(stream, static_cast<uint32_t>(next() % 40));
      for (uint32_t neighbour = 0; neighbour < most; ++neighbour) append(stream, static_cast<uint32_t>(next() % (kSlots + 2)));
    }
  }
  return stream;
}

void search_all() {
  mds::VectorEngine engine;
  const auto opened = engine.open(directory());
  if (!opened.ok()) return;
  for (const mds::VectorAlgorithm algorithm : {mds::VectorAlgorithm::kFlat, mds::VectorAlgorithm::kHnsw, mds::VectorAlgorithm::kSq}) {
    for (const mds::VectorMetric metric : {mds::VectorMetric::kCosine, mds::VectorMetric::kEuclidean}) {
      mds::VectorSearchRequest request = mds::test::vector_request(1, {0.5F, -1, 0.25F, 1}, 5, algorithm);
      request.metric = metric;
      const std::vector<uint32_t> documents{0, 3, 7, 4000000000U};
      (void)mds::test::ask(engine, request);
      (void)mds::test::ask(engine, request, &documents);
    }
  }
  (void)engine.similar(1, kDims, 0.5, 100, mds::StopSignal(nullptr));
  mds::test::StampBytes stamps;
  stamps.add(1, 3, 4, kDims);
  (void)engine.compare(stamps.bytes);
  mds::test::VectorBatchBuilder batch;
  batch.set(1, 3, 1000, kDims, {1, 0, 0, 0});
  (void)engine.apply(batch.bytes());
  (void)engine.stats();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const mds::Bytes input(data + 2, size - 2);
  const uint32_t slots = 1 + data[1] % kSlots;
  const Buffer whole(input.begin(), input.end());
  Buffer rows = group_of(0, kSlots, sound_columns(kSlots));
  for (const char* name : {"1-4-0.rows", "1-4-0.graph"}) (void)unlink((directory() + "/" + name).c_str());
  switch (data[0] % 5) {
    case 0:
      rows = whole;
      break;
    case 1:
      rows = group_of(0, slots, input);
      break;
    case 2: {
      const Buffer more = group_of(kSlots, slots, input);
      rows.insert(rows.end(), more.begin(), more.end());
      break;
    }
    case 3:
      put("1-4-0.graph", graph_of(input));
      break;
    default:
      put("1-4-0.graph", graph_of(shaped_stream(input)));
  }
  put("1-4-0.rows", rows);
  search_all();
  return 0;
}
