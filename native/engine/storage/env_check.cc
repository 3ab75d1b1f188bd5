// See env_check.h.
#include "storage/env_check.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

namespace mds {
namespace {

constexpr uint32_t kLmdbMagic = 0xBEEFC0DE;
constexpr uint16_t kDataVersion = 2;
constexpr size_t kPageHeaderBytes = 24;
constexpr size_t kNodeHeaderBytes = 8;
constexpr size_t kOverflowEntryBytes = 24;
constexpr size_t kMetaBytes = 24 + 2 * 48 + 24;
constexpr uint64_t kNoRoot = UINT64_MAX;
constexpr uint32_t kDepthMax = 16;  // far above the depth for a terabyte

constexpr uint16_t kBranchPage = 0x01;
constexpr uint16_t kLeafPage = 0x02;
constexpr uint16_t kOverflowPage = 0x04;
constexpr uint16_t kMetaPage = 0x08;
constexpr uint16_t kPageKinds = 0x7F;
constexpr uint16_t kBigNode = 0x01;
constexpr uint16_t kTreeNode = 0x02;
constexpr size_t kTreeBytes = 48;
// Flags stored with the free tree, in addition to those of the env: how its keys are compared, that the env
// is encrypted, and that the meta page was written without waiting for its data (lmdb-js).
constexpr uint16_t kTreeFlags = 0x20FF;
constexpr uint16_t kFreeFlags = 0x08;
constexpr uint16_t kUnflushed = 0x1000;

uint16_t load_u16(const uint8_t* at) noexcept {
  uint16_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

struct Tree {
  uint16_t flags;
  uint16_t depth;
  uint64_t entries;
  uint64_t root;
};

struct Meta {
  uint64_t pageBytes;
  uint64_t lastPage;
  uint64_t transaction;
  int64_t boot;
  Tree free;
  Tree main;
};

Tree read_tree(const uint8_t* at) noexcept { return {load_u16(at + 4), load_u16(at + 6), load_u64(at + 32), load_u64(at + 40)}; }

Meta read_meta(const uint8_t* at) noexcept {
  return {load_u32(at + 24), load_u64(at + 120), load_u64(at + 128), static_cast<int64_t>(load_u64(at + 136)), read_tree(at + 24), read_tree(at + 72)};
}

// Selects one of two meta pages by the same rule as lmdb-js when it opens an env: the newer one, unless its
// data may not have reached the disk before a crash of the machine.
const Meta& trusted(const Meta& one, const Meta& other, int64_t boot) noexcept {
  if (other.transaction == 0) return one;
  const bool isFirst = one.transaction >= other.transaction;
  const Meta& latest = isFirst ? one : other;
  if ((latest.boot != 0 && latest.boot == boot) || (latest.free.flags & kUnflushed) == 0) return latest;
  if (one.transaction == other.transaction) return one;
  return isFirst ? other : one;
}

class EnvCheck {
 public:
  EnvCheck(Bytes file, const char* name) noexcept : file_(file), name_(name) {}

  Status run() {
    Meta metas[2];
    Status status = read_metas(metas);
    if (!status.ok()) return status;
    status = begin(metas[0].transaction >= metas[1].transaction ? metas[0] : metas[1]);
    if (!status.ok()) return status;
    status = check_tree(meta_.main, false);
    if (!status.ok()) return status;
    // A page that is neither used nor free means that a page number has been changed. The page that it should
    // refer to could be overwritten.
    return usedCount_ == meta_.lastPage + 1 ? Status() : damaged("pages are missing from trees and free lists", meta_.lastPage);
  }

  // Without `reads_leaves`, leaves of the tables are only marked as used, because a start must not read the
  // whole store.
  Result<TruthFile> run_truth(int64_t boot, bool reads_leaves) {
    Meta metas[2];
    Status status = read_metas(metas);
    if (!status.ok()) return status;
    const bool isFirst = metas[0].transaction >= metas[1].transaction;
    const Meta& latest = isFirst ? metas[0] : metas[1];
    const Meta chosen = trusted(trusted(metas[0], metas[1], boot), read_meta(file_.data() + pageBytes_ / 2 + kPageHeaderBytes), boot);
    if (chosen.transaction == latest.transaction && !are_of_one_time(latest, isFirst ? metas[1] : metas[0]))
      return damaged("meta pages of different times", isFirst ? 0 : 1);
    status = begin(chosen);
    if (!status.ok()) return status;
    namesTables_ = true;
    status = check_tree(meta_.main, false);
    if (!status.ok()) return status;
    namesTables_ = false;
    const std::vector<Tree> tables = std::move(tables_);
    skipsLeaves_ = !reads_leaves;
    for (const Tree& table : tables) {
      status = check_tree(table, false);
      if (!status.ok()) return status;
    }
    // Pages after the end of the file must be free. Otherwise the file was truncated.
    for (uint64_t page = file_.size() / pageBytes_; page <= meta_.lastPage; ++page) {
      if (!used_[static_cast<size_t>(page)]) return damaged("the file is cut", page);
    }
    return TruthFile{chosen.transaction == latest.transaction};
  }

 private:
  [[nodiscard]] Status damaged(const char* what, uint64_t page) const { return Status::corrupt(std::string(name_) + ": " + what + ", page " + std::to_string(page)); }

  // If the newest meta page was written after its data, the meta page before it exists, too, and both refer
  // to pages of their own transactions. Other numbers mean damage.
  [[nodiscard]] bool are_of_one_time(const Meta& latest, const Meta& before) const noexcept {
    // A new env or a copy has only one meta page.
    if ((latest.free.flags & kUnflushed) != 0 || before.transaction == 0) return true;
    if (before.transaction + 1 != latest.transaction || written_in(latest) != latest.transaction) return false;
    // After a power failure lmdb-js writes one state under both transaction numbers. If the write of the next
    // transaction's meta page fails, LMDB writes the old transaction number and the old last page back, but
    // keeps the new roots. It never uses those roots.
    const uint64_t written = written_in(before);
    return before.main.root == latest.main.root || written <= before.transaction || (written == latest.transaction + 1 && before.lastPage <= latest.lastPage);
  }

  // Returns the transaction that wrote the roots.
  [[nodiscard]] uint64_t written_in(const Meta& meta) const noexcept {
    uint64_t transaction = 0;
    for (const uint64_t root : {meta.free.root, meta.main.root}) {
      if (root < file_.size() / pageBytes_) transaction = std::max(transaction, load_u64(file_.data() + root * pageBytes_ + 8));
    }
    return transaction;
  }

  // Reads the free list of the state that LMDB starts from.
  Status begin(const Meta& meta) {
    meta_ = meta;
    // The file may end before the last page only if the missing pages are free.
    if (meta_.lastPage < 1 || meta_.lastPage > file_.size() / pageBytes_ + kFreeTailMax) return damaged("the last page is far behind the file's end", meta_.lastPage);
    used_.assign(static_cast<size_t>(meta_.lastPage) + 1, false);
    used_[0] = used_[1] = true;
    usedCount_ = 2;
    return check_tree(meta_.free, true);
  }

  Status read_metas(std::span<Meta, 2> metas) {
    for (uint32_t index = 0; index < 2; ++index) {
      const size_t at = index * pageBytes_;
      if (file_.size() < at + kPageHeaderBytes + kMetaBytes) return damaged("the file is shorter than its meta pages", index);
      const uint8_t* page = file_.data() + at;
      const uint8_t* meta = page + kPageHeaderBytes;
      if ((load_u16(page + 18) & kPageKinds) != kMetaPage || load_u32(meta) != kLmdbMagic || load_u16(meta + 4) != kDataVersion) return damaged("not a meta page", index);
      metas[index] = read_meta(meta);
      if (metas[index].pageBytes != pageBytes_) return damaged("unexpected page size", index);
      if ((metas[index].free.flags & kTreeFlags) != kFreeFlags || metas[index].main.flags != 0) return damaged("unexpected flags of a tree", index);
      // Transactions alternate between the meta pages. Readers determine the current page from this rule.
      if (metas[index].transaction != 0 && metas[index].transaction % 2 != index) return damaged("the number of another meta page", index);
    }
    return {};
  }

  Status check_tree(const Tree& tree, bool isFree) {
    entries_ = 0;
    if (tree.root == kNoRoot) return tree.depth == 0 && tree.entries == 0 ? Status() : damaged("a tree without a root has entries", 0);
    if (tree.depth == 0 || tree.depth > kDepthMax) return damaged("impossible depth", tree.root);
    // Key order is checked across the leaves. A key out of order would not be found.
    hasKeyBefore_ = false;
    Status status = check_page(tree.root, tree.depth, isFree);
    if (!status.ok()) return status;
    return skipsLeaves_ || entries_ == tree.entries ? Status() : damaged("a tree has another number of entries", tree.root);
  }

  // `level` is 1 for a leaf.
  Status check_page(uint64_t number, uint32_t level, bool isFree) {
    if (!take(number, 1)) return damaged("outside of the file, or used twice", number);
    if (skipsLeaves_ && level == 1) return {};
    const uint8_t* page = file_.data() + number * pageBytes_;
    const uint16_t kind = load_u16(page + 18) & kPageKinds;
    const size_t lower = load_u16(page + 20);
    const size_t upper = load_u16(page + 22);
    if (load_u64(page) != number || kind != (level == 1 ? kLeafPage : kBranchPage)) return damaged("not the page that its parent names", number);
    const size_t contentBytes = pageBytes_ - kPageHeaderBytes;
    if (lower % 2 != 0 || lower > upper || upper > contentBytes) return damaged("impossible fill", number);
    if (lower == 0 || (level > 1 && lower < 4)) return damaged("no nodes", number);
    for (size_t node = 0; node < lower / 2; ++node) {
      const size_t offset = load_u16(page + kPageHeaderBytes + node * 2);
      if (offset < upper || offset % 2 != 0 || offset + kNodeHeaderBytes > contentBytes) return damaged("a node outside of its page", number);
      const Bytes bytes(page + kPageHeaderBytes + offset, contentBytes - offset);
      Status status = level == 1 ? check_leaf_node(bytes, number, isFree) : check_branch_node(bytes, number, level, isFree, node == 0);
      if (!status.ok()) return status;
    }
    return {};
  }

  Status check_branch_node(Bytes node, uint64_t page, uint32_t level, bool isFree, bool isFirst) {
    const size_t keyBytes = load_u16(node.data() + 6);
    if (kNodeHeaderBytes + keyBytes > node.size() || (keyBytes == 0 && !isFirst) || (isFree && keyBytes != 0 && keyBytes != 8))
      return damaged("a key outside of its page", page);
    const uint64_t child = load_u16(node.data()) | uint64_t{load_u16(node.data() + 2)} << 16 | uint64_t{load_u16(node.data() + 4)} << 32;
    return check_page(child, level - 1, isFree);
  }

  Status check_leaf_node(Bytes node, uint64_t page, bool isFree) {
    const uint64_t dataBytes = load_u16(node.data()) | uint64_t{load_u16(node.data() + 2)} << 16;
    const uint16_t flags = load_u16(node.data() + 4);
    const size_t keyBytes = load_u16(node.data() + 6);
    const bool isBig = flags == kBigNode;
    const bool isTree = flags == kTreeNode && namesTables_ && !isFree;
    if (flags != 0 && !isBig && !isTree) return damaged("a node of an unknown kind", page);
    if (keyBytes == 0 || (isFree && keyBytes != 8) || kNodeHeaderBytes + keyBytes + (isBig ? kOverflowEntryBytes : dataBytes) > node.size()) {
      return damaged("a node outside of its page", page);
    }
    const Bytes key = node.subspan(kNodeHeaderBytes, keyBytes);
    if (hasKeyBefore_ && !ascends(key, isFree)) return damaged("keys are out of order", page);
    keyBefore_ = key;
    hasKeyBefore_ = true;
    ++entries_;
    const uint8_t* data = key.data() + keyBytes;
    if (isTree) {
      if (dataBytes != kTreeBytes) return damaged("invalid table record", page);
      tables_.push_back(read_tree(data));
      if (tables_.back().flags != 0) return damaged("a table of an unknown kind", page);
    }
    if (isBig) {
      Status status = check_overflow(data, dataBytes, page);
      if (!status.ok()) return status;
      data = file_.data() + load_u64(data) * pageBytes_ + kPageHeaderBytes;
    }
    return isFree ? check_free_list(Bytes(data, static_cast<size_t>(dataBytes)), page) : Status();
  }

  // Free lists are keyed by transaction, a native integer. The main tree is keyed by bytes.
  [[nodiscard]] bool ascends(Bytes key, bool isFree) const noexcept {
    if (isFree) return load_u64(keyBefore_.data()) < load_u64(key.data());
    return as_text(keyBefore_) < as_text(key);
  }

  Status check_overflow(const uint8_t* entry, uint64_t dataBytes, uint64_t page) {
    const uint64_t first = load_u64(entry);
    const uint64_t pages = load_u64(entry + 16);
    if (pages < (kPageHeaderBytes - 1 + dataBytes) / pageBytes_ + 1) return damaged("an overflow smaller than its value", page);
    if (!take(first, pages)) return damaged("an overflow outside of the file, or used twice", first);
    const uint8_t* header = file_.data() + first * pageBytes_;
    if (load_u64(header) != first || (load_u16(header + 18) & kPageKinds) != kOverflowPage || load_u32(header + 20) != pages)
      return damaged("not an overflow page", first);
    return {};
  }

  // A u64 count, then the entries. 0: empty. n > 0: page n. n < 0: a run of -n pages from the page in the
  // next entry.
  Status check_free_list(Bytes list, uint64_t page) {
    if (list.size() < 8 || load_u64(list.data()) > list.size() / 8 - 1) return damaged("a free list longer than its value", page);
    const uint64_t count = load_u64(list.data());
    for (uint64_t index = 1; index <= count; ++index) {
      const auto entry = static_cast<int64_t>(load_u64(list.data() + index * 8));
      if (entry == 0) continue;
      if (entry < 0 && index == count) return damaged("a free run without its page", page);
      const uint64_t pages = entry < 0 ? ~static_cast<uint64_t>(entry) + 1 : 1;
      const uint64_t first = entry < 0 ? load_u64(list.data() + ++index * 8) : static_cast<uint64_t>(entry);
      if (first < 2 || first > meta_.lastPage || pages > meta_.lastPage - first + 1 || !mark(first, pages))
        return damaged("a page that is free and used, or free twice", first);
    }
    return {};
  }

  // A page in use must be inside the file, too.
  [[nodiscard]] bool take(uint64_t first, uint64_t pages) {
    const uint64_t filePages = file_.size() / pageBytes_;
    return first < filePages && pages <= filePages - first && mark(first, pages);
  }

  [[nodiscard]] bool mark(uint64_t first, uint64_t pages) {
    if (first > meta_.lastPage || pages > meta_.lastPage - first + 1) return false;
    for (uint64_t number = first; number < first + pages; ++number) {
      if (used_[static_cast<size_t>(number)]) return false;
      used_[static_cast<size_t>(number)] = true;
    }
    usedCount_ += pages;
    return true;
  }

  // More pages than one transaction can allocate without writing them.
  static constexpr uint64_t kFreeTailMax = 1 << 18;

  Bytes file_;
  const char* name_;
  const uint64_t pageBytes_ = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  Meta meta_{};
  std::vector<bool> used_;
  uint64_t usedCount_ = 0;
  uint64_t entries_ = 0;
  bool hasKeyBefore_ = false;
  Bytes keyBefore_;
  // The trees listed in the main tree.
  std::vector<Tree> tables_;
  bool namesTables_ = false;
  bool skipsLeaves_ = false;
};

constexpr const char* kIndexName = "index env";
constexpr const char* kTruthName = "truth.mdb";

// Returns the boot id as lmdb-js reads it, or 0 if there is none.
int64_t boot_id() noexcept {
  const int descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  char text[64] = {};
  const ssize_t length = read(descriptor, text, sizeof text - 1);
  (void)close(descriptor);
  return length > 0 ? std::strtoll(text, nullptr, 16) : 0;
}

// Calls `check` with the bytes of the file, or with no bytes if the file does not exist.
template <class Check>
Status with_file(const std::string& path, const Check& check) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return errno == ENOENT ? check(Bytes()) : Status::io("open " + path + ": " + std::strerror(errno));
  struct stat facts {};
  Status status;
  if (fstat(descriptor, &facts) != 0) {
    status = Status::io("stat " + path + ": " + std::strerror(errno));
  } else if (!S_ISREG(facts.st_mode)) {
    status = Status::io(path + " is no file");
  } else if (facts.st_size == 0) {
    status = check(Bytes());
  } else {
    const auto size = static_cast<size_t>(facts.st_size);
    void* map = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (map == MAP_FAILED) {
      status = Status::io("map " + path + ": " + std::strerror(errno));
    } else {
      status = check(Bytes(static_cast<const uint8_t*>(map), size));
      (void)munmap(map, size);
    }
  }
  (void)close(descriptor);
  return status;
}

}  // namespace

Status check_env_bytes(Bytes file) { return EnvCheck(file, kIndexName).run(); }

Status check_env_file(const std::string& path) {
  return with_file(path, [](Bytes file) { return file.empty() ? Status() : check_env_bytes(file); });
}

Result<TruthFile> check_truth_bytes(Bytes file, bool reads_leaves) { return EnvCheck(file, kTruthName).run_truth(boot_id(), reads_leaves); }

Result<TruthFile> check_truth_file(const std::string& path, bool reads_leaves) {
  TruthFile found{true};
  Status status = with_file(path, [&found, reads_leaves](Bytes file) {
    if (file.empty()) return Status();
    const Result<TruthFile> checked = check_truth_bytes(file, reads_leaves);
    if (checked.ok()) found = checked.value();
    return checked.status();
  });
  if (!status.ok()) return status;
  return found;
}

}  // namespace mds
