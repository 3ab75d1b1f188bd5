/*
 * What CMakeLists.txt puts into LMDB's function mdb_page_get: a thread that must not wait for a disk is asked
 * before a page of the map is read (truth/residency.h). The build includes this header before LMDB's own
 * sources. Without such a thread it costs the load of one pointer. The page has not been touched, and the
 * transaction is as it was: only codes that LMDB's own tests set mark it as broken.
 */
#ifndef MDS_STORAGE_LMDB_RESIDENCY_H
#define MDS_STORAGE_LMDB_RESIDENCY_H

#ifdef __cplusplus
extern "C" {
#endif

/* Outside of LMDB's own codes (MDB_KEYEXIST and up) and of the system's. */
enum { MDS_LMDB_NOT_RESIDENT = -30600 };

/* Of this thread; null: pages are read without a question. */
extern __thread void* mds_lmdb_residency __attribute__((visibility("hidden")));

/* Whether the page may be read. `residency` is not null. */
int mds_lmdb_may_read(void* residency, const void* page);

#ifdef __cplusplus
}
#endif

#endif
