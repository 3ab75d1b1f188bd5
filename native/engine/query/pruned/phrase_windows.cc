// See phrase_windows.h.
#include "query/pruned/phrase_windows.h"

#include <algorithm>
#include <bit>

#include "query/pruned/threshold_mask.h"

namespace mds {
namespace {

double idf_sum(const ResolvedQuery& query, const PlanNode& node) {
  double idf = 0;
  for (const PhraseTerm& term : node.phrase) idf += query.idfs[term.term];
  return idf;
}

// Up to this number of comparisons, all pairs are compared, four at a time: a merge of short lists costs more
// in mispredicted branches.
constexpr size_t kPairsMax = 256;

// Whether `position` is among `count` positions.
bool contains(const uint32_t* positions, size_t count, uint32_t position) noexcept {
  uint32_t found = 0;
  for (size_t at = 0; at < count; ++at) found |= static_cast<uint32_t>(positions[at] == position);
  return found != 0;
}

// Keeps the starts (positions of the rarest term) from which the other term also occurs at `distance`. Both
// lists are ascending.
void keep_followed(std::vector<uint32_t>& starts, const std::vector<uint32_t>& positions, int64_t distance) {
  const bool isShort = starts.size() * positions.size() <= kPairsMax;
  size_t kept = 0;
  size_t at = 0;
  for (const uint32_t start : starts) {
    const int64_t wanted = start + distance;
    if (wanted < 0 || wanted > UINT32_MAX) continue;
    if (!isShort) {
      while (at < positions.size() && positions[at] < wanted) ++at;
      if (at == positions.size()) break;
    }
    const bool isThere = isShort ? contains(positions.data(), positions.size(), static_cast<uint32_t>(wanted)) : positions[at] == wanted;
    starts[kept] = start;
    kept += isThere ? 1 : 0;
  }
  starts.resize(kept);
}

}  // namespace

PhraseWindows::PhraseWindows(const ResolvedQuery& query, const PrunedPlan& plan, uint32_t index, const WindowGrid& grid, SegmentFilter& filter, DecodedBlockPool& pool,
                             TopK& top)
    : segment_(query.segments[index]),
      index_(index),
      filter_(filter),
      top_(top),
      scoring_(plan.phrase->scoring),
      scorer_(*query.plan, query.averageLengths, idf_sum(query, *plan.phrase), 1),
      whole_(ScoreEstimate::whole(scorer_, 0)) {
  const PlanNode& node = *plan.phrase;
  std::vector<size_t> complete;  // fields that contain all terms
  for (size_t field = 0; field < segment_.fields.size(); ++field) {
    const auto isHere = [&](const PhraseTerm& term) { return query.term_at(segment_, term.term, field) != nullptr; };
    if (segment_.fields[field] != nullptr && std::all_of(node.phrase.begin(), node.phrase.end(), isHere)) complete.push_back(field);
  }
  isSummed_ = scoring_ == PhraseScoring::kBm25 && complete.size() > 1;
  for (const size_t field : complete) {
    ScoreEstimate estimate = isSummed_ ? ScoreEstimate::part(scorer_, field) : ScoreEstimate::whole(scorer_, field);
    if (scoring_ == PhraseScoring::kOccurrences) estimate = ScoreEstimate::occurrences();
    isSafe_ = isSafe_ && estimate.is_safe();
    add_field(query, node, field, estimate, grid, pool);
  }
}

void PhraseWindows::add_field(const ResolvedQuery& query, const PlanNode& node, size_t field, ScoreEstimate estimate, const WindowGrid& grid, DecodedBlockPool& pool) {
  const Segment& columns = *segment_.ref->segment;
  const SectionEntry& section = *segment_.fields[field];
  Field& added = fields_.emplace_back(Field{field, {}});
  for (const PhraseTerm& term : node.phrase) {
    const PostingList list(columns, section, *query.term_at(segment_, term.term, field));
    added.terms.push_back({WindowedList(list, columns.lengths(section), field, estimate, grid, pool), int64_t{term.offset}});
  }
  std::stable_sort(added.terms.begin(), added.terms.end(), [](const Term& a, const Term& b) { return a.list.df() < b.list.df(); });
}

float PhraseWindows::field_max(const Field& field, uint32_t window) noexcept {
  float least = field.terms[0].list.window_max(window);
  for (const Term& term : field.terms) least = term.list.is_absent(window) ? 0 : std::min(least, term.list.window_max(window));
  return least;
}

float PhraseWindows::bound_window(uint32_t window) const noexcept {
  float sum = 0;
  bool isAny = false;
  for (const Field& field : fields_) {
    const auto isAbsent = [window](const Term& term) { return term.list.is_absent(window); };
    if (std::any_of(field.terms.begin(), field.terms.end(), isAbsent)) continue;
    sum += field_max(field, window);
    isAny = true;
  }
  if (!isAny) return kDeadWindow;
  return isSummed_ ? whole_.finish(sum) : sum;
}

void PhraseWindows::search_window(uint32_t window) {
  window_ = window;
  threshold_ = estimate_threshold(top_.score_floor() / factorMost_, list_count());
  if (filter_.enter(window) == 0) return;
  matches_.clear();
  for (uint32_t field = 0; field < fields_.size(); ++field) {
    float others = 0;
    for (uint32_t other = 0; other < fields_.size(); ++other) others += other == field ? 0 : field_max(fields_[other], window);
    propose(fields_[field], others);
    for (size_t term = 1; term < fields_[field].terms.size() && !candidates_.empty(); ++term) join(fields_[field], term, others);
    confirm(field, others);
  }
  if (fields_.size() == 1) return;
  std::stable_sort(matches_.begin(), matches_.end(), [](const Match& a, const Match& b) { return a.slot < b.slot; });
  for (size_t begin = 0, end = 0; begin < matches_.size(); begin = end) {
    while (end < matches_.size() && matches_[end].slot == matches_[begin].slot) ++end;
    collect(std::span(matches_).subspan(begin, end - begin));
  }
}

void PhraseWindows::propose(Field& field, float others) {
  candidates_.clear();
  postings_.clear();
  // A sum of parts is rounded in float; all candidates are compared with the threshold below.
  const float least = isSummed_ ? 0 : threshold_ - others;
  field.terms[0].list.visit_window(window_, least, [&](const uint32_t* slots, const float* estimates, uint32_t count, uint32_t posting) {
    for (uint32_t begin = 0; begin < count; begin += kMaskValues) {
      uint32_t bits = at_least(estimates + begin, least);
      if (count - begin < kMaskValues) bits &= (1U << (count - begin)) - 1;
      for (; bits != 0; bits &= bits - 1) {
        const uint32_t at = begin + static_cast<uint32_t>(std::countr_zero(bits));
        if (is_lost(estimates[at], others) || !filter_.passes(slots[at])) continue;
        candidates_.push_back({slots[at], estimates[at]});
        postings_.push_back(posting + at);
        postings_.resize(postings_.size() + field.terms.size() - 1);
      }
    }
  });
}

void PhraseWindows::join(Field& field, size_t term, float others) {
  WindowedList& list = field.terms[term].list;
  const size_t stride = field.terms.size();
  size_t kept = 0;
  for (size_t at = 0; at < candidates_.size(); ++at) {
    Candidate candidate = candidates_[at];
    if (!list.seek_block(window_, candidate.slot) || is_lost(list.current_max(), others) || !list.find(candidate.slot)) continue;
    if (scoring_ == PhraseScoring::kOccurrences) {
      candidate.estimate = std::min(candidate.estimate, static_cast<float>(list.tf_by_ends()));
      if (is_lost(candidate.estimate, others)) continue;
    }
    for (size_t earlier = 0; earlier < term; ++earlier) postings_[kept * stride + earlier] = postings_[at * stride + earlier];
    postings_[kept * stride + term] = list.posting();
    candidates_[kept++] = candidate;
  }
  candidates_.resize(kept);
}

void PhraseWindows::confirm(uint32_t fieldIndex, float others) {
  Field& field = fields_[fieldIndex];
  const size_t stride = field.terms.size();
  // Positions do not fit into any cache: all are prefetched before the first is read.
  const size_t runsEach = std::min<size_t>(stride, 2);
  runs_.resize(candidates_.size() * runsEach);
  for (size_t at = 0; at < runs_.size(); ++at) {
    PositionRun& run = runs_[at];
    if (!field.terms[at % runsEach].list.position_run(postings_[at / runsEach * stride + at % runsEach], run)) run.count = 0;
    __builtin_prefetch(run.address());
  }
  for (size_t at = 0; at < candidates_.size(); ++at) {
    if (is_lost(candidates_[at].estimate, others) || !filter_.admits(candidates_[at].slot)) continue;
    const uint32_t occurrences = count_occurrences(field, at);
    if (occurrences == 0) continue;
    const Match match{candidates_[at].slot, fieldIndex, occurrences};
    if (fields_.size() > 1) {
      matches_.push_back(match);
    } else {
      collect({&match, 1});
    }
  }
}

uint32_t PhraseWindows::count_occurrences(Field& field, size_t candidate) {
  const size_t stride = field.terms.size();
  const size_t runsEach = std::min<size_t>(stride, 2);
  for (size_t term = 0; term < stride; ++term) {
    PositionRun run{};
    if (term < runsEach) {
      run = runs_[candidate * runsEach + term];
    } else if (!field.terms[term].list.position_run(postings_[candidate * stride + term], run)) {
      return 0;
    }
    std::vector<uint32_t>& positions = term == 0 ? starts_ : positions_;
    positions.resize(run.count);
    decode_positions(run, positions.data());
    if (term > 0) keep_followed(starts_, positions_, field.terms[term].offset - field.terms[0].offset);
    if (starts_.empty()) return 0;
  }
  return static_cast<uint32_t>(starts_.size());
}

// Computes the same sums as PhraseIterator::score, in the same order.
void PhraseWindows::collect(std::span<const Match> matches) {
  double occurrences = 0;
  double tfSum = 0;
  double score = 0;
  for (const Match& match : matches) {
    Field& field = fields_[match.field];
    const uint32_t length = field.terms[0].list.length(match.slot);
    occurrences += match.occurrences;
    if (scorer_.algorithm() == Algorithm::kBm25f) {
      tfSum += scorer_.field_tf(field.field, match.occurrences, length);
    } else {
      score = scorer_.score(field.field, match.occurrences, length);
    }
  }
  if (scorer_.algorithm() == Algorithm::kBm25f) score = scorer_.score_sum(tfSum);
  if (scoring_ == PhraseScoring::kOccurrences) score = occurrences;
  if (boosts_ != nullptr) score *= boosts_->factor(matches[0].slot);
  top_.collect(index_, matches[0].slot, score);
  threshold_ = std::max(threshold_, estimate_threshold(top_.score_floor() / factorMost_, list_count()));
}

void PhraseWindows::forget_blocks() noexcept {
  for (Field& field : fields_) {
    for (Term& term : field.terms) term.list.forget_blocks();
  }
}

}  // namespace mds
