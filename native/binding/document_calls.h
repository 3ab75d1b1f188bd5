#pragma once

#include <node_api.h>

namespace mds::binding {

// openDocuments(path, packageEnvs, mapBytes, readersMin): a reader of documents of this thread. Throws if the
// package's env cannot be read.
// closeDocuments(reader): to be called before the package closes the env.
// readDocument(reader, collection, docid, space, facts[, lsn]), findDocument(reader, collection, lowered,
// spelled, space, facts): the number of bytes written into `space`; 0 if the document is not plain, not there
// or not in the state of this LSN; the negated number of bytes needed if `space` is too short. `facts`: 40
// bytes (truth/document_reader.h).
bool add_document_calls(napi_env env, napi_value exports) noexcept;

}  // namespace mds::binding
