// libFuzzer target: runs and explains arbitrary bytes as a search plan, or runs them as an aggregation, over
// a few segments with dead documents. A finding is a crash, a sanitizer report or a hang.
#include <cstdlib>

#include "index/engine.h"
#include "support/model.h"

namespace {

constexpr uint32_t kDocuments = 200;

// Built once: one batch with most documents, followed by single documents that replace some of them.
mds::Engine& filled_engine() {
  static mds::Engine engine;
  static const bool isFilled = [] {
    mds::test::Generator generator(1);
    std::vector<mds::test::Wire> ops;
    for (uint32_t docid = 0; docid < kDocuments; ++docid) ops.push_back(mds::test::upsert_op(generator.document(1, docid, docid + 1)));
    bool isOk = engine.publish(mds::test::batch_of(ops, kDocuments)).ok();
    for (uint64_t lsn = kDocuments + 1; lsn < kDocuments + 4; ++lsn) {
      const uint32_t docid = generator.below(kDocuments);
      isOk = isOk && engine.publish(mds::test::batch_of({mds::test::upsert_op(generator.document(1, docid, lsn))}, lsn)).ok();
    }
    return isOk;
  }();
  if (!isFilled) std::abort();
  return engine;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const mds::Engine& engine = filled_engine();
  (void)engine.search({data, size}, {});
  (void)engine.explain({data, size}, 7, {});
  (void)engine.aggregate({data, size}, {});
  return 0;
}
