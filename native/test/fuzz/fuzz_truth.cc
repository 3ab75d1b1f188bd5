// libFuzzer target: arbitrary bytes as records of the truth env, as names of a get and as a block of snappy.
// The checksums are made valid, so that what lies behind them is reached. A finding is a crash, a sanitizer
// report or a hang.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "storage/crc32c.h"
#include "truth/document_names.h"
#include "truth/snappy.h"
#include "truth/truth_rows.h"

namespace {

constexpr size_t kRawBytesMax = size_t{1} << 16;

// Makes the record pass its own checks of checksum, version, key and backend.
void make_plain(std::vector<uint8_t>& record) {
  if (record.size() < 8) return;
  record[4] = 1;
  record[6] = 0;
  record[7] = 0;
  const uint32_t checksum = mds::crc32c(mds::Bytes(record).subspan(4));
  std::memcpy(record.data(), &checksum, sizeof checksum);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> record(data, data + size);
  (void)mds::row_value(mds::table_seed("heads"), true, mds::Bytes(data, std::min<size_t>(size, 8)), record);
  (void)mds::read_identity(record);
  mds::DocumentNamesSpace space;
  const auto names = mds::read_names(mds::as_text(record), space);
  if (names && (names->collection.empty() || names->identity.size() != names->spelled.size() || !mds::is_spelling_of(names->spelled, names->identity))) __builtin_trap();
  if (const auto collection = mds::read_collection(record)) (void)mds::is_spelling_of(collection->name, "blog");
  (void)mds::raw_bytes_of(record);
  make_plain(record);
  if (const auto head = mds::read_head(record)) {
    (void)mds::is_spelled(*head, "key", "en");
    (void)mds::is_of_collection(*head, names ? names->collection : "blog");
  }
  if (const auto body = mds::read_body(record); body && body->rawBytes <= kRawBytesMax) {
    std::vector<uint8_t> out(body->rawBytes);
    (void)mds::unpack_snappy(body->packed, out);
  }
  // The first two bytes as the size of a block in the rest.
  if (size > 2) {
    std::vector<uint8_t> out(static_cast<size_t>(data[0]) << 8U | data[1]);
    (void)mds::unpack_snappy(mds::Bytes(data + 2, size - 2), out);
  }
  return 0;
}
