// LMDB does not free the list of free pages that it keeps between transactions when an env is closed
// (allocated by one of two functions of its own): some KB once in a process, counted by LeakSanitizer. All of
// our own code is still watched.
extern "C" const char* __lsan_default_suppressions();  // NOLINT: the sanitizer's name

extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() {  // NOLINT
  return "leak:mdb_page_alloc\nleak:mdb_midl_need\n";
}
