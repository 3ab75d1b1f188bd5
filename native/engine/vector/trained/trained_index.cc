// See trained_index.h.
#include "vector/trained/trained_index.h"

namespace mds {

std::shared_ptr<const TrainedIndex> train_index(TrainedKind kind, const SetView& view, const std::atomic<bool>& stop) {
  switch (kind) {
    case TrainedKind::kIvf:
      return train_inverted_lists(view, stop);
    case TrainedKind::kPq:
      return train_product_codes(view, false, stop);
    case TrainedKind::kOpq:
      return train_product_codes(view, true, stop);
    case TrainedKind::kSq4:
      return make_nibble_codes(view, stop);
    case TrainedKind::kBq:
      break;
  }
  return train_sign_codes(view, stop);
}

}  // namespace mds
