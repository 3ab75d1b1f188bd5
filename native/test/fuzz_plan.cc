// libFuzzer target: any bytes as a search plan. A finding is a crash, a sanitizer report or a hang.
#include "query/search.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const mds::Result<mds::SearchPlan> plan = mds::parse_search_plan({data, size});
  if (plan.ok()) (void)mds::run_search(mds::SegmentSet{}, plan.value(), mds::StopSignal(nullptr));
  return 0;
}
