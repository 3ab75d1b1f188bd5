// See vector_engine.h. The store lane: appends new slots to the files of sets, and opens the directory. Data
// that it fails to write stays in memory.
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>

#include "vector/files/epoch_mark.h"
#include "vector/files/graph_file.h"
#include "vector/files/mapped_file.h"
#include "vector/files/set_loader.h"
#include "vector/vector_engine.h"

namespace mds {
namespace {

// Parses "C-D-G.rows". Returns nullopt if the text is not such a name.
std::optional<VectorFileName> parse_name(std::string_view text) {
  VectorFileName name{};
  for (uint32_t* number : {&name.collection, &name.dims, &name.generation}) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (number != &name.generation) {
      if (!text.starts_with('-')) return std::nullopt;
      text.remove_prefix(1);
    }
  }
  if (text != ".rows" || name.dims == 0 || name.dims > kVectorDimsMax) return std::nullopt;
  return name;
}

Result<std::vector<std::string>> file_names(const std::string& directory) {
  DIR* opened = opendir(directory.c_str());
  if (opened == nullptr) return io_error("opendir");
  std::vector<std::string> names;
  while (const dirent* entry = readdir(opened)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  (void)closedir(opened);
  return names;
}

Status make_directory(const std::string& directory) { return mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST ? Status() : io_error("mkdir"); }

bool is_store_due(const SetView& view, uint32_t stored, bool isResting) noexcept {
  const uint32_t rest = view.slots - stored;
  return rest >= (isResting ? std::max(kStoreRestSlots, view.slots / kStoreRestShareDivisor) : kStoreSlots);
}

}  // namespace

Result<std::vector<std::string>> VectorEngine::open(const std::string& directory, std::span<const EpochSpan> history) noexcept {
  Result<std::vector<std::string>> damage = std::vector<std::string>();
  try {
    const std::lock_guard lock(filesMutex_);
    if (!directory_.empty()) return damage;
    if (!history.empty()) unmarkedEpoch_ = history.back().epoch;
    const Status made = make_directory(directory);
    damage = made.ok() ? open_directory(directory, history.empty() ? UINT64_MAX : believed_lsn(directory, history)) : made;
    if (damage.ok()) {
      directory_ = directory;
      const Status marked = mark_present_epoch();
      if (!marked.ok()) damage.value().push_back(std::string(kEpochMarkName) + ": nothing is stored until the disk takes it: " + marked.message());
    } else {
      refusedDirectory_ = directory;
      isStoreRefused_.store(true, std::memory_order_relaxed);
    }
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
  wake();
  return damage;
}

Result<std::vector<std::string>> VectorEngine::open_directory(const std::string& directory, uint64_t lsnMax) {
  const Result<std::vector<std::string>> found = file_names(directory);
  if (!found.ok()) return found.status();
  std::vector<VectorFileName> names;
  for (const std::string& text : found.value()) {
    const std::optional<VectorFileName> name = parse_name(text);
    if (name && names.size() < kVectorFilesMax) names.push_back(*name);
  }
  // The newest generation of a set comes first. The file of a rewritten set is either complete or empty.
  std::sort(names.begin(), names.end(),
            [](const VectorFileName& a, const VectorFileName& b) { return std::tie(a.collection, a.dims, b.generation) < std::tie(b.collection, b.dims, a.generation); });
  std::unordered_set<std::string> used{kEpochMarkName};
  std::vector<std::string> damage;
  const std::lock_guard lock(writerMutex_);
  for (const VectorFileName& name : names) {
    const SetKey key{name.collection, name.dims};
    if (is_sealed(name.collection) || files_.contains(key)) continue;
    bool isDamaged = false;
    Result<std::unique_ptr<VectorFile>> rows = VectorFile::open(directory, name, lsnMax, isDamaged);
    if (isDamaged)
      damage.push_back(name.rows() + ": damaged, cut short, or newer than the store from slot " + std::to_string(rows.ok() ? rows.value()->slots() : 0) + " on");
    if (!rows.ok() || rows.value()->slots() == 0) continue;
    const std::shared_ptr<VectorSet> set = make_set(name.collection, name.dims);
    load_set(*set, *rows.value());
    SetFiles& files = files_[key];
    files.set = set;
    used.insert(name.rows());
    std::shared_ptr<VectorGraph> graph = load_graph(directory, name, *set->view());
    if (graph != nullptr) {
      used.insert(name.graph());
      files.graphSlots = graph->slots();
      auto next = std::make_shared<SetView>(*set->view());
      next->graph = std::move(graph);
      set->publish(std::move(next));
    } else if (set->view()->slots >= kGraphSlotsMin) {
      damage.push_back(name.graph() + ": missing, or not of these vectors: rebuilt");
    }
    files.rows = std::move(rows.value());
  }
  for (const std::string& name : found.value()) {
    if (used.contains(name)) continue;
    std::string path = directory;
    path += '/';
    path += name;
    if (unlink(path.c_str()) == 0 || errno == ENOENT) {
      damage.push_back(name + ": of no use, removed");
    } else if (parse_name(name)) {
      leftovers_.push_back(name);
    }
  }
  const Status synced = sync_directory(directory);
  if (!synced.ok()) return synced;
  return damage;
}

Status VectorEngine::set_sealed(uint32_t collection, bool isSealed) noexcept {
  try {
    const std::lock_guard lock(sealedMutex_);
    if (isSealed) {
      sealed_.insert(collection);
    } else {
      sealed_.erase(collection);
    }
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
  (void)storeLane_.wake();
  return {};
}

bool VectorEngine::is_sealed(uint32_t collection) const {
  const std::lock_guard lock(sealedMutex_);
  return sealed_.contains(collection);
}

// Initializes a directory that could not be opened before. Its files are not mapped, and their content was
// added again from the store. All files that are not in use are therefore removed.
Status VectorEngine::begin_directory() {
  if (refusedDirectory_.empty()) return {};
  Status made = make_directory(refusedDirectory_);
  if (!made.ok()) return made;
  Result<std::vector<std::string>> names = file_names(refusedDirectory_);
  if (!names.ok()) return names.status();
  for (const auto& [key, files] : files_) {
    if (files.rows == nullptr) continue;
    const VectorFileName& name = files.rows->name();
    std::erase_if(names.value(), [&name](const std::string& found) { return found == name.rows() || found == name.graph(); });
  }
  leftovers_ = std::move(names.value());
  directory_ = std::exchange(refusedDirectory_, {});
  return {};
}

LaneStep VectorEngine::step_storage(bool isResting) {
  const std::lock_guard lock(filesMutex_);
  const LaneStep step = step_files(isResting);
  if (step != LaneStep::kDone) isStoreRefused_.store(step == LaneStep::kFailed, std::memory_order_relaxed);
  return step;
}

// Requires `filesMutex_`.
LaneStep VectorEngine::step_files(bool isResting) {
  if (!begin_directory().ok()) {
    storageFailures_.fetch_add(1, std::memory_order_relaxed);
    return LaneStep::kFailed;
  }
  if (directory_.empty()) return LaneStep::kNothing;
  if (remove_dropped() == LaneStep::kDone) return LaneStep::kDone;
  const bool mayStore = may_store();
  if (!mayStore) storageFailures_.fetch_add(1, std::memory_order_relaxed);
  bool isFailed = !mayStore;
  for (const std::shared_ptr<VectorSet>& set : all_sets()) {
    LaneStep step = LaneStep::kNothing;
    if (is_sealed(set->collection())) {
      step = unstore_set(set);
    } else if (mayStore) {
      step = store_set(set, isResting);
    }
    if (step == LaneStep::kDone) return step;
    if (step == LaneStep::kFailed) storageFailures_.fetch_add(1, std::memory_order_relaxed);
    isFailed = isFailed || step == LaneStep::kFailed;
  }
  return isFailed ? LaneStep::kFailed : LaneStep::kNothing;
}

bool VectorEngine::may_store() { return remove_leftovers() && mark_present_epoch().ok(); }

Status VectorEngine::mark_present_epoch() {
  if (!unmarkedEpoch_) return {};
  Status marked = mark_epoch(directory_, *unmarkedEpoch_);
  if (marked.ok()) unmarkedEpoch_.reset();
  return marked;
}

LaneStep VectorEngine::remove_dropped() {
  for (auto at = files_.begin(); at != files_.end(); ++at) {
    const std::shared_ptr<VectorSet> set = at->second.set.lock();
    if (set != nullptr && is_current(set)) continue;
    if (at->second.rows != nullptr) remove_files(at->second.rows->name());
    files_.erase(at);
    return LaneStep::kDone;
  }
  return LaneStep::kNothing;
}

LaneStep VectorEngine::store_set(const std::shared_ptr<VectorSet>& set, bool isResting) {
  const std::shared_ptr<const SetView> view = set->view();
  SetFiles& files = files_[{set->collection(), set->dims()}];
  files.set = set;
  const bool isSame = files.rows != nullptr && files.rows->name().generation == view->generation;
  if (files.rows != nullptr && !isSame && view->slots == 0) {
    remove_files(files.rows->name());
    files.rows.reset();
    return LaneStep::kDone;
  }
  // The old file of a rewritten set is kept until the new file is complete.
  if (view->slots > 0 && (files.rows != nullptr && !isSame)) return store_rows(set, *view, files);
  if (is_store_due(*view, isSame ? files.rows->slots() : 0, isResting)) return store_rows(set, *view, files);
  const VectorGraph* graph = view->graph.get();
  if (!isSame || graph == nullptr) return LaneStep::kNothing;
  const uint32_t grown = graph->slots() - files.graphSlots;
  const uint32_t due = isResting ? std::max(kStoreRestSlots, graph->slots() / kStoreRestShareDivisor) : std::max(kStoreSlots, graph->slots() / kStoreGraphShareDivisor);
  if (grown < due) return LaneStep::kNothing;
  // The rows of the graph are stored first. A graph without its rows is useless.
  if (graph->slots() > files.rows->slots()) return store_rows(set, *view, files);
  if (!save_graph(directory_, files.rows->name(), *graph).ok()) return LaneStep::kFailed;
  files.graphSlots = graph->slots();
  return LaneStep::kDone;
}

LaneStep VectorEngine::store_rows(const std::shared_ptr<VectorSet>& set, const SetView& view, SetFiles& files) {
  if (files.rows == nullptr || files.rows->name().generation != view.generation) {
    const VectorFileName name{set->collection(), set->dims(), view.generation};
    Result<std::unique_ptr<VectorFile>> created = VectorFile::create(directory_, name);
    if (!created.ok() || !created.value()->append(view, view.slots).ok()) {
      remove_files(name);
      return LaneStep::kFailed;
    }
    if (files.rows != nullptr) remove_files(files.rows->name());
    files.rows = std::move(created.value());
    files.graphSlots = 0;
  } else if (!files.rows->append(view, view.slots).ok()) {
    return LaneStep::kFailed;
  }
  // From now on the f32 vectors of full blocks are read from the file.
  const VectorFile& stored = *files.rows;
  (void)publish_made(set, view.generation, [&stored](SetView& next) {
    for (uint32_t block = 0; block < stored.slots() / kBlockSlots; ++block) {
      if (!next.blocks[block].full->is_mapped()) next.blocks[block].full = stored_rows(stored, block * kBlockSlots);
    }
  });
  return LaneStep::kDone;
}

// Handles a set that must no longer be stored on disk. Its vectors are moved back to memory, and its files
// are removed.
LaneStep VectorEngine::unstore_set(const std::shared_ptr<VectorSet>& set) {
  const auto found = files_.find({set->collection(), set->dims()});
  if (found == files_.end() || found->second.rows == nullptr) return LaneStep::kNothing;
  const std::shared_ptr<const SetView> view = set->view();
  std::vector<std::shared_ptr<FullRows>> copies(view->blocks.size());
  for (size_t block = 0; block < copies.size(); ++block) {
    const BlockRef& from = view->blocks[block];
    if (!from.full->is_mapped()) continue;
    copies[block] = std::make_shared<FullRows>(view->dims, from.codes->capacity());
    for (uint32_t row = 0; row < from.count; ++row) std::copy_n(from.full->row(row), view->dims, copies[block]->space(row, view->dims).begin());
  }
  (void)publish_made(set, view->generation, [&copies](SetView& next) {
    for (size_t block = 0; block < copies.size(); ++block) {
      if (copies[block] != nullptr) next.blocks[block].full = copies[block];
    }
  });
  remove_files(found->second.rows->name());
  files_.erase(found);
  return LaneStep::kDone;
}

void VectorEngine::remove_files(const VectorFileName& name) {
  leftovers_.push_back(name.rows());
  leftovers_.push_back(name.graph());
  // The removal of remaining files is retried by the next steps.
  (void)remove_leftovers();
}

bool VectorEngine::remove_leftovers() {
  if (leftovers_.empty()) return true;
  std::erase_if(leftovers_, [this](const std::string& name) { return unlink((directory_ + "/" + name).c_str()) == 0 || errno == ENOENT; });
  (void)sync_directory(directory_);
  return leftovers_.empty();
}

}  // namespace mds
