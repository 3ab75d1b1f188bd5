// When an env is closed, LMDB does not free the list of free pages that it keeps between transactions
// (allocated by one of three functions of LMDB). LeakSanitizer reports it: one list an env, of a few KB, or
// of a MB after large deletions. The engine's own code is still checked.
extern "C" const char* __lsan_default_suppressions();  // NOLINT: the sanitizer's name

extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() {  // NOLINT
  return "leak:mdb_page_alloc\nleak:mdb_midl_need\nleak:mdb_midl_grow\n";
}
