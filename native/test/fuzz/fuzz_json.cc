// libFuzzer target: arbitrary bytes as a tree of members and a JSON text that is scanned with it. If the text
// is valid, a second scan of the result must return the same. A finding is a crash, a sanitizer report, a
// hang or a different second scan.
#include <cstdlib>
#include <vector>

#include "base/json_scan.h"

namespace {

// Three levels: an object with a list of objects, in which a map keeps all members.
constexpr uint8_t kTree[] = {
    4, 0, 0, 0,                                                                   //
    2, 0, 0, 0, 0,    0,    0,    0,    0, 0, 0, 0,                               // 1: a list of anything
    1, 0, 0, 0, 1,    0,    0,    0,    0, 0, 0, 0,                               // 2: a map of lists
    1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 1, 0, 0, 0, 1, 0, 0, 0, 'm', 2, 0, 0, 0,  // 3: an object with m
    1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 1, 0, 0, 0, 1, 0, 0, 0, 'd', 3, 0, 0, 0,  // 4: an object with d
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  // The first byte is the size of the tree in the input; 0 selects the fixed tree.
  const size_t treeBytes = data[0] < size ? data[0] : 0;
  const mds::Bytes given(data + 1, treeBytes > 0 ? treeBytes - 1 : 0);
  const auto members = mds::JsonMembers::read(treeBytes > 0 ? given : mds::Bytes(kTree));
  if (!members) {
    if (treeBytes == 0) std::abort();
    return 0;
  }
  std::vector<uint8_t> text(data + 1 + given.size(), data + size);
  const mds::JsonBounds bounds{16, 100, 200, 100};
  if (mds::scan_json(text, *members, bounds, mds::StopSignal(nullptr)) != mds::JsonVerdict::kGood) return 0;
  std::vector<uint8_t> again = text;
  if (mds::scan_json(again, *members, bounds, mds::StopSignal(nullptr)) != mds::JsonVerdict::kGood || again != text) std::abort();
  return 0;
}
