// See env_check.h.
#include "storage/env_check.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace mds {
namespace {

constexpr uint32_t kMagic = 0xBEEFC0DE;
constexpr uint16_t kDataVersion = 2;
constexpr size_t kPageHeaderBytes = 24;
constexpr size_t kNodeHeaderBytes = 8;
constexpr size_t kOverflowEntryBytes = 24;
constexpr size_t kMetaBytes = 24 + 2 * 48 + 24;
constexpr uint64_t kNoRoot = UINT64_MAX;
constexpr uint32_t kDepthMax = 16;  // far above what a terabyte needs

constexpr uint16_t kBranchPage = 0x01;
constexpr uint16_t kLeafPage = 0x02;
constexpr uint16_t kOverflowPage = 0x04;
constexpr uint16_t kMetaPage = 0x08;
constexpr uint16_t kPageKinds = 0x7F;
constexpr uint16_t kBigNode = 0x01;

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
  Tree free;
  Tree main;
};

Tree read_tree(const uint8_t* at) noexcept { return {load_u16(at + 4), load_u16(at + 6), load_u64(at + 32), load_u64(at + 40)}; }

Status damaged(const char* what, uint64_t page) { return Status::corrupt("index env: " + std::string(what) + ", page " + std::to_string(page)); }

class EnvCheck {
 public:
  explicit EnvCheck(Bytes file) noexcept : file_(file) {}

  Status run() {
    Status status = read_metas();
    if (!status.ok()) return status;
    used_.assign(static_cast<size_t>(meta_.lastPage) + 1, false);
    used_[0] = used_[1] = true;
    usedCount_ = 2;
    status = check_tree(meta_.free, true);
    if (!status.ok()) return status;
    status = check_tree(meta_.main, false);
    if (!status.ok()) return status;
    // A page that is neither used nor free would be a number that has changed: what it should have named may be written over.
    return usedCount_ == meta_.lastPage + 1 ? Status() : damaged("pages are missing from trees and free lists", meta_.lastPage);
  }

 private:
  Status read_metas() {
    Meta metas[2];
    for (uint32_t index = 0; index < 2; ++index) {
      const size_t at = index * pageBytes_;
      if (file_.size() < at + kPageHeaderBytes + kMetaBytes) return damaged("the file is shorter than its meta pages", index);
      const uint8_t* page = file_.data() + at;
      const uint8_t* meta = page + kPageHeaderBytes;
      if ((load_u16(page + 18) & kPageKinds) != kMetaPage || load_u32(meta) != kMagic || load_u16(meta + 4) != kDataVersion) return damaged("not a meta page", index);
      metas[index] = {load_u32(meta + 24), load_u64(meta + 120), load_u64(meta + 128), read_tree(meta + 24), read_tree(meta + 72)};
      if (metas[index].pageBytes != pageBytes_) return damaged("unexpected page size", index);
    }
    meta_ = metas[0].transaction >= metas[1].transaction ? metas[0] : metas[1];
    // The file may end before the last page only where that is free.
    if (meta_.lastPage < 1 || meta_.lastPage > file_.size() / pageBytes_ + kFreeTailMax) return damaged("the last page is far behind the file's end", meta_.lastPage);
    return {};
  }

  Status check_tree(const Tree& tree, bool isFree) {
    entries_ = 0;
    if (tree.root == kNoRoot) return tree.depth == 0 && tree.entries == 0 ? Status() : damaged("a tree without a root has entries", 0);
    if (tree.depth == 0 || tree.depth > kDepthMax) return damaged("impossible depth", tree.root);
    // Key order is checked along the leaves: what is out of order would not be found.
    hasKeyBefore_ = false;
    Status status = check_page(tree.root, tree.depth, isFree);
    if (!status.ok()) return status;
    return entries_ == tree.entries ? Status() : damaged("a tree has another number of entries", tree.root);
  }

  // `level`: 1 for a leaf.
  Status check_page(uint64_t number, uint32_t level, bool isFree) {
    if (!take(number, 1)) return damaged("outside of the file, or used twice", number);
    const uint8_t* page = file_.data() + number * pageBytes_;
    const uint16_t kind = load_u16(page + 18) & kPageKinds;
    const size_t lower = load_u16(page + 20);
    const size_t upper = load_u16(page + 22);
    if (load_u64(page) != number || kind != (level == 1 ? kLeafPage : kBranchPage)) return damaged("not the page that its parent names", number);
    const size_t room = pageBytes_ - kPageHeaderBytes;
    if (lower % 2 != 0 || lower > upper || upper > room) return damaged("impossible fill", number);
    if (lower == 0 || (level > 1 && lower < 4)) return damaged("no nodes", number);
    for (size_t node = 0; node < lower / 2; ++node) {
      const size_t offset = load_u16(page + kPageHeaderBytes + node * 2);
      if (offset < upper || offset % 2 != 0 || offset + kNodeHeaderBytes > room) return damaged("a node outside of its page", number);
      const Bytes bytes(page + kPageHeaderBytes + offset, room - offset);
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
    if (flags != 0 && !isBig) return damaged("a node of an unknown kind", page);
    if (keyBytes == 0 || (isFree && keyBytes != 8) || kNodeHeaderBytes + keyBytes + (isBig ? kOverflowEntryBytes : dataBytes) > node.size()) {
      return damaged("a node outside of its page", page);
    }
    const Bytes key = node.subspan(kNodeHeaderBytes, keyBytes);
    if (hasKeyBefore_ && !ascends(key, isFree)) return damaged("keys are out of order", page);
    keyBefore_ = key;
    hasKeyBefore_ = true;
    ++entries_;
    const uint8_t* data = key.data() + keyBytes;
    if (isBig) {
      Status status = check_overflow(data, dataBytes, page);
      if (!status.ok()) return status;
      data = file_.data() + load_u64(data) * pageBytes_ + kPageHeaderBytes;
    }
    return isFree ? check_free_list(Bytes(data, static_cast<size_t>(dataBytes)), page) : Status();
  }

  // Free lists are keyed by transaction, a native integer; the main tree by bytes.
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

  // u64 count, then entries: 0 nothing, n > 0 page n, n < 0 a run of -n pages from the page in the next entry.
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

  // A page that is used lies in the file, too.
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

  static constexpr uint64_t kFreeTailMax = 1 << 16;

  Bytes file_;
  const uint64_t pageBytes_ = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  Meta meta_{};
  std::vector<bool> used_;
  uint64_t usedCount_ = 0;
  uint64_t entries_ = 0;
  bool hasKeyBefore_ = false;
  Bytes keyBefore_;
};

}  // namespace

Status check_env_bytes(Bytes file) { return EnvCheck(file).run(); }

Status check_env_file(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return errno == ENOENT ? Status() : Status::io("open " + path + ": " + std::strerror(errno));
  struct stat facts {};
  Status status;
  if (fstat(descriptor, &facts) != 0) {
    status = Status::io("stat " + path + ": " + std::strerror(errno));
  } else if (facts.st_size > 0) {
    const auto size = static_cast<size_t>(facts.st_size);
    void* map = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (map == MAP_FAILED) {
      status = Status::io("map " + path + ": " + std::strerror(errno));
    } else {
      status = check_env_bytes(Bytes(static_cast<const uint8_t*>(map), size));
      (void)munmap(map, size);
    }
  }
  (void)close(descriptor);
  return status;
}

}  // namespace mds
