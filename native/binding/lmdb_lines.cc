// See lmdb_lines.h. The tables are those of the ELF specification. Each call of an external function goes
// through a slot that the linker fills in. JMPREL lists the slots.
#include "binding/lmdb_lines.h"

#ifdef __linux__

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>

namespace mds {
namespace {

constexpr size_t kLineBytes = 160;

void* allocate(size_t bytes) { return std::malloc(std::max(bytes, kLineBytes)); }

struct Linkage {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  std::span<const ElfW(Rela)> calls;
};

template <class Entry>
Entry* at(ElfW(Addr) address) noexcept {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): ELF's tables have addresses as numbers.
  return reinterpret_cast<Entry*>(address);
}

template <class Entry>
const Entry* table_at(const dl_phdr_info& object, ElfW(Addr) value) noexcept {
  // glibc has already added the base address. musl has not.
  return at<const Entry>(value < object.dlpi_addr ? object.dlpi_addr + value : value);
}

Linkage linkage_of(const dl_phdr_info& object, const ElfW(Phdr) & dynamic) noexcept {
  Linkage linkage;
  const ElfW(Rela)* calls = nullptr;
  size_t callBytes = 0;
  bool hasAddends = false;
  for (const auto* entry = at<const ElfW(Dyn)>(object.dlpi_addr + dynamic.p_vaddr); entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) linkage.symbols = table_at<ElfW(Sym)>(object, entry->d_un.d_ptr);
    if (entry->d_tag == DT_STRTAB) linkage.names = table_at<char>(object, entry->d_un.d_ptr);
    if (entry->d_tag == DT_JMPREL) calls = table_at<ElfW(Rela)>(object, entry->d_un.d_ptr);
    if (entry->d_tag == DT_PLTRELSZ) callBytes = entry->d_un.d_val;
    if (entry->d_tag == DT_PLTREL) hasAddends = entry->d_un.d_val == DT_RELA;
  }
  if (linkage.symbols != nullptr && linkage.names != nullptr && calls != nullptr && hasAddends) linkage.calls = {calls, callBytes / sizeof(ElfW(Rela))};
  return linkage;
}

// Memory that the linker made read-only after filling it in.
bool is_final(const dl_phdr_info& object, ElfW(Addr) offset) noexcept {
  const std::span headers(object.dlpi_phdr, object.dlpi_phnum);
  return std::any_of(headers.begin(), headers.end(),
                     [&](const ElfW(Phdr) & header) { return header.p_type == PT_GNU_RELRO && offset >= header.p_vaddr && offset < header.p_vaddr + header.p_memsz; });
}

bool redirect_malloc(const dl_phdr_info& object) noexcept {
  const std::span headers(object.dlpi_phdr, object.dlpi_phnum);
  const auto dynamic = std::find_if(headers.begin(), headers.end(), [](const ElfW(Phdr) & header) { return header.p_type == PT_DYNAMIC; });
  if (dynamic == headers.end()) return false;
  const Linkage linkage = linkage_of(object, *dynamic);
  for (const ElfW(Rela) & call : linkage.calls) {
    const ElfW(Sym)& symbol = linkage.symbols[call.r_info >> (sizeof(ElfW(Addr)) == 8 ? 32 : 8)];
    if (std::strcmp(linkage.names + symbol.st_name, "malloc") != 0 || is_final(object, call.r_offset)) continue;
    auto* slot = at<uintptr_t>(object.dlpi_addr + call.r_offset);
    std::atomic_ref(*slot).store(reinterpret_cast<uintptr_t>(&allocate), std::memory_order_release);
    return true;
  }
  return false;
}

bool is_package(std::string_view path) noexcept {
  return path.ends_with(".node") && (path.find("/@lmdb/") != std::string_view::npos || path.find("/lmdb/") != std::string_view::npos);
}

}  // namespace

bool reserve_lmdb_line_buffer() noexcept {
  bool isMade = false;
  (void)dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* made) {
        if (object->dlpi_name != nullptr && is_package(object->dlpi_name) && redirect_malloc(*object)) *static_cast<bool*>(made) = true;
        return 0;
      },
      &isMade);
  return isMade;
}

}  // namespace mds

#else

namespace mds {

bool reserve_lmdb_line_buffer() noexcept { return false; }

}  // namespace mds

#endif
