// libFuzzer target: publishes arbitrary bytes as an index batch and searches it. A finding is a crash, a
// sanitizer report or a hang.
#include "index/engine.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static mds::Engine engine;
  if (engine.publish({data, size}).ok()) {
    (void)engine.meta_keys(1);
    (void)engine.force_merge();
    (void)engine.drop_all();
  }
  return 0;
}
