// The file of one generation of one vector set. It consists of groups of slots, each with its checksums.
// Groups are appended and never modified. Used by one thread at a time. Layout: docs/formats/vector-index.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "vector/set/set_view.h"

namespace mds {

// The set and generation of a file. They are encoded in its name and in each of its headers.
struct VectorFileName {
  uint32_t collection;
  uint32_t dims;
  uint32_t generation;

  [[nodiscard]] std::string rows() const;   // "C-D-G.rows"
  [[nodiscard]] std::string graph() const;  // "C-D-G.graph"
};

// The columns of a group in a mapping that `owner` keeps alive.
struct StoredGroup {
  uint32_t slotBegin = 0;
  uint32_t slots = 0;
  const SlotIdentity* identities = nullptr;
  const CodedVector* coded = nullptr;
  const int8_t* codes = nullptr;  // with padding
  const float* full = nullptr;
  std::shared_ptr<const void> owner;
};

class VectorFile {
 public:
  // Creates an empty file. Replaces an existing one.
  [[nodiscard]] static Result<std::unique_ptr<VectorFile>> create(const std::string& directory, const VectorFileName& name);
  // Opens an existing file. Truncates it at the first group that is damaged or has an LSN above `lsnMax`; the
  // truncation is durable when the function returns. `isDamaged` is set if something was truncated.
  [[nodiscard]] static Result<std::unique_ptr<VectorFile>> open(const std::string& directory, const VectorFileName& name, uint64_t lsnMax, bool& isDamaged);
  ~VectorFile();
  VectorFile(const VectorFile&) = delete;
  VectorFile& operator=(const VectorFile&) = delete;

  // The file contains the slots [0, slots()).
  [[nodiscard]] uint32_t slots() const noexcept { return slots_; }
  [[nodiscard]] const VectorFileName& name() const noexcept { return name_; }
  [[nodiscard]] const std::vector<StoredGroup>& groups() const noexcept { return groups_; }
  // Appends the slots [slots(), end) of the view. They are durable when the function returns. After an error
  // the file is unchanged.
  [[nodiscard]] Status append(const SetView& view, uint32_t end);
  // Returns the mapped group that contains the given slot.
  [[nodiscard]] const StoredGroup& group_of(uint32_t slot) const noexcept;

 private:
  VectorFile(const VectorFileName& name, int descriptor) noexcept : name_(name), descriptor_(descriptor) {}
  [[nodiscard]] Status map_groups(uint64_t begin, uint64_t end, uint64_t lsnMax);

  VectorFileName name_;
  int descriptor_;
  uint32_t slots_ = 0;
  uint64_t bytes_ = 0;
  std::vector<StoredGroup> groups_;
};

}  // namespace mds
