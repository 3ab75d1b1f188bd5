/** `@mds/client`: the typed client of Markdown Document Service. */
export type { Change, ChangesReset, DocumentChange, JobChange } from './changes.js'
export { MdsClient } from './client.js'
export type { DocumentPage, Documents, UploadFile } from './documents.js'
export { MdsConnectionError, MdsError, MdsGraphqlError, MdsTimeoutError, type GraphqlProblem } from './errors.js'
export type { CallOptions, ClientOptions } from './options.js'
export { FulltextSearch, HybridSearch, SearchBuilder, VectorSearch, type Bounds, type CollectionSearch, type Search } from './search.js'
export type * from './generated.js'
