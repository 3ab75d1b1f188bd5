// The file of one generation of one vector set: groups of slots, appended and never changed, each with its
// checksums. Used by one thread at a time. Layout: docs/formats/vector-index.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "vector/set/set_view.h"

namespace mds {

// The set and generation of a file: encoded in its name and in every header in it.
struct VectorFileName {
  uint32_t collection;
  uint32_t dims;
  uint32_t generation;

  [[nodiscard]] std::string rows() const;   // "C-D-G.rows"
  [[nodiscard]] std::string graph() const;  // "C-D-G.graph"
};

// Columns of a group in a mapping, which `owner` keeps alive.
struct StoredGroup {
  uint32_t slotBegin = 0;
  uint32_t slots = 0;
  const SlotIdentity* identities = nullptr;
  const CodedVector* coded = nullptr;
  const int8_t* codes = nullptr;  // with their padding
  const float* full = nullptr;
  std::shared_ptr<const void> owner;
};

class VectorFile {
 public:
  // Creates an empty file and replaces any existing one.
  [[nodiscard]] static Result<std::unique_ptr<VectorFile>> create(const std::string& directory, const VectorFileName& name);
  // Opens an existing file: it is truncated, on disk when it returns, at the first group that is damaged or
  // has an LSN above `lsnMax`. `isDamaged`: something was truncated.
  [[nodiscard]] static Result<std::unique_ptr<VectorFile>> open(const std::string& directory, const VectorFileName& name, uint64_t lsnMax, bool& isDamaged);
  ~VectorFile();
  VectorFile(const VectorFile&) = delete;
  VectorFile& operator=(const VectorFile&) = delete;

  // Number of slots in the file: from 0 on.
  [[nodiscard]] uint32_t slots() const noexcept { return slots_; }
  [[nodiscard]] const VectorFileName& name() const noexcept { return name_; }
  [[nodiscard]] const std::vector<StoredGroup>& groups() const noexcept { return groups_; }
  // Appends slots() to `end` of the view; on disk when it returns. After an error the file is unchanged.
  [[nodiscard]] Status append(const SetView& view, uint32_t end);
  // The mapped group with the f32 vector of a slot of the file.
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
