/**
 * The schema of GraphQL as the contract has it. Types of operations that this version does not have are
 * declared; their fields answer UNIMPLEMENTED. What this server adds is in additions.ts. Pure data.
 */
export const CONTRACT = /* GraphQL */ `
  "A JSON object."
  scalar JSONObject
  "A time as RFC 3339 text, such as 2026-01-31T12:00:00Z."
  scalar Time

  enum Role {
    ADMIN
    USER
  }
  enum Permission {
    READ
    WRITE
    ADMIN
  }

  "Needs a token or an API key while access control is on."
  directive @auth on FIELD_DEFINITION
  "Needs a user with this role while access control is on."
  directive @hasRole(role: Role!) on FIELD_DEFINITION

  type Query {
    "A document. env: values of the template variables in its content."
    document(collection: String!, key: String!, lang: String!, env: JSONObject): Document @auth
    "Documents of a collection by metadata."
    search(input: SearchInput!): DocumentConnection @auth
    "Documents whose meaning is nearest to a text or a vector."
    vectorSearch(input: VectorSearchInput!): VectorSearchResponse @auth
    "State of the embeddings."
    vectorStats: VectorStats @auth
    "Full-text search."
    fts(input: FTSInput!): FTSResponse @auth
    "Symbols and files that refer to each other."
    codeGraph(input: CodeGraphInput!): CodeGraph @auth
    "Counts and sizes of the database and its collections."
    stats: Stats @auth
    webhooks(collection: String): [Webhook!]! @auth @hasRole(role: ADMIN)
    "The schema of a collection; null if it has none."
    schema(collection: String!): Schema @auth
    "The schemas of all collections that have one."
    schemas: [Schema!]! @auth
    "The account of the caller."
    me: User! @auth
    users: [User!]! @auth @hasRole(role: ADMIN)
    groups: [Group!]! @auth @hasRole(role: ADMIN)
    "The permissions of a user, without those of its groups."
    userPermissions(username: String!): [UserPermission!]! @auth @hasRole(role: ADMIN)
    groupPermissions(groupName: String!): [GroupPermission!]! @auth @hasRole(role: ADMIN)
  }

  type Mutation {
    "Writes a document, replacing an existing one of the same identity."
    addDocument(input: AddDocumentInput!): Document! @auth
    "Updates metadata and content, each independently of the other."
    updateDocument(input: UpdateDocumentInput!): Document! @auth
    deleteDocument(collection: String!, key: String!, lang: String!): Boolean! @auth
    "Deletes a collection. Answers the number of its documents."
    deleteCollection(collection: String!): Int! @auth
    "Writes many documents, each independently of the others."
    addBatch(collection: String!, documents: [AddBatchDocumentInput!]!): BatchAddResult! @auth
    ingestDocuments(collection: String!, documents: [IngestDocumentInput!]!, options: IngestOptionsInput): IngestResult! @auth
    "Embeds the documents of a collection that lack current vectors."
    vectorReindex(collection: String!, force: Boolean): VectorStats! @auth
    "Sets the expiry of a document in seconds from now; 0 removes it."
    setTTL(collection: String!, key: String!, lang: String!, ttl: Int!): Document! @auth
    importURL(collection: String!, url: String!, key: String, lang: String!, meta: [MetaInput!], ttl: Int): Document! @auth
    registerWebhook(input: RegisterWebhookInput!): Webhook! @auth @hasRole(role: ADMIN)
    deleteWebhook(id: ID!): Boolean! @auth @hasRole(role: ADMIN)
    setSchema(input: SetSchemaInput!): Boolean! @auth @hasRole(role: ADMIN)
    deleteSchema(collection: String!): Boolean! @auth @hasRole(role: ADMIN)
    "Validates metadata against the schema of a collection, without storing anything."
    validateDocument(collection: String!, meta: [MetaInput!]!): ValidationResult! @auth
    "Answers a token for a username and a password."
    login(username: String!, password: String!): AuthPayload!
    register(username: String!, password: String!): User! @auth @hasRole(role: ADMIN)
    "Creates an API key with the rights of the caller; it is shown once."
    createAPIKey(input: CreateAPIKeyInput!): APIKey! @auth
    setPermission(input: SetPermissionInput!): Boolean! @auth @hasRole(role: ADMIN)
    createGroup(input: CreateGroupInput!): Group! @auth @hasRole(role: ADMIN)
    "Replaces description and members."
    updateGroup(name: String!, description: String!, members: [String!]!): Group! @auth @hasRole(role: ADMIN)
    deleteGroup(name: String!): Boolean! @auth @hasRole(role: ADMIN)
    setGroupPermission(input: SetGroupPermissionInput!): Boolean! @auth @hasRole(role: ADMIN)
  }

  type Document {
    id: ID!
    key: String!
    lang: String!
    "Lists of values by key."
    meta: JSONObject!
    contentMd: String!
    addedAt: Time!
    updatedAt: Time!
    expiresAt: Time
  }
  type DocumentConnection {
    edges: [DocumentEdge!]!
    pageInfo: PageInfo!
    "Number of matching documents, before pagination."
    totalCount: Int!
  }
  type DocumentEdge {
    cursor: String!
    node: Document!
  }
  type PageInfo {
    hasNextPage: Boolean!
    hasPreviousPage: Boolean!
    startCursor: String
    endCursor: String
    "As that of the connection."
    totalCount: Int!
  }
  type VectorSearchResult {
    document: Document!
    score: Float!
    rank: Int!
  }
  type VectorSearchResponse {
    results: [VectorSearchResult!]!
    total: Int!
    model: String
    dimensions: Int
  }
  type FTSResult {
    document: Document!
    score: Float!
    matchedTerms: [String!]!
  }
  type FTSResponse {
    results: [FTSResult!]!
    total: Int!
  }
  type CollectionStats {
    name: String!
    documentCount: Int!
    revisionCount: Int!
    metaIndexCount: Int!
  }
  type Stats {
    databasePath: String!
    "In bytes; it may have more than 32 bits."
    databaseSize: Int!
    mode: String!
    collections: [CollectionStats!]!
    totalDocuments: Int!
    totalRevisions: Int!
    totalMetaIndices: Int!
  }
  type VectorCollectionStats {
    collection: String!
    totalDocuments: Int!
    embeddedDocuments: Int!
  }
  type VectorStats {
    enabled: Boolean!
    provider: String
    model: String
    dimensions: Int
    collections: [VectorCollectionStats!]!
    indexReady: Boolean!
  }
  type Webhook {
    id: ID!
    url: String!
    events: [String!]!
    collection: String!
    createdAt: Time!
  }
  type Schema {
    collection: String!
    "JSON text, as it was set."
    schema: String!
    enabled: Boolean!
  }
  type ValidationResult {
    valid: Boolean!
    errors: [String!]!
    warnings: [String!]
  }
  type AuthPayload {
    token: String!
    expiresAt: Time!
  }
  type User {
    username: String!
    admin: Boolean!
    createdAt: Time!
  }
  type APIKey {
    key: String!
    description: String!
    "Absent: without end."
    expiresAt: Time
    createdAt: Time!
  }
  type Group {
    name: String!
    description: String!
    members: [String!]!
    createdAt: Time!
  }
  type UserPermission {
    username: String!
    collection: String!
    read: Boolean!
    write: Boolean!
    admin: Boolean!
  }
  type GroupPermission {
    groupName: String!
    collection: String!
    read: Boolean!
    write: Boolean!
    admin: Boolean!
  }
  type BatchAddResult {
    added: Int!
    updated: Int!
    failed: Int!
    errors: [String!]
  }
  type IngestResult {
    added: Int!
    updated: Int!
    skipped: Int!
    failed: Int!
    errors: [String!]
    collection: String!
    durationMs: Int!
  }
  type CodeGraph {
    collection: String!
    root: String!
    direction: String!
    depth: Int!
    nodes: [CodeGraphNode!]!
    edges: [CodeGraphEdge!]!
    truncated: Boolean!
  }
  type CodeGraphNode {
    key: String!
    docId: String!
    lang: String
    language: String
    depth: Int!
  }
  type CodeGraphEdge {
    from: String!
    to: String!
    kind: String!
    symbol: String!
    direction: String!
    fromLine: Int
    toLine: Int
  }

  "Values of a metadata key."
  input MetaInput {
    key: String!
    values: [String!]!
  }
  input AddDocumentInput {
    collection: String!
    key: String!
    lang: String!
    meta: [MetaInput!]
    contentMd: String!
    "Seconds."
    ttl: Int
  }
  input UpdateDocumentInput {
    collection: String!
    key: String!
    lang: String!
    "Replaces all metadata."
    meta: [MetaInput!]
    contentMd: String
  }
  input SearchInput {
    collection: String!
    "Documents must have one of the values of each key. A key without values selects no document."
    filterMeta: [MetaInput!]
    "addedAt, updatedAt or key."
    sort: String
    asc: Boolean
    limit: Int
    offset: Int
  }
  input VectorSearchInput {
    collection: String!
    query: String
    queryVector: [Float!]
    topK: Int
    threshold: Float
    filterMeta: [MetaInput!]
    includeContent: Boolean
  }
  input FTSInput {
    collection: String!
    query: String!
    limit: Int
  }
  input CodeGraphInput {
    collection: String!
    key: String!
    "in, out or both (default)."
    direction: String
    "1 (default) to 3."
    depth: Int
    "1 to 100 (default)."
    maxDegree: Int
    lines: Boolean
  }
  input RegisterWebhookInput {
    url: String!
    events: [String!]!
    "Empty: all collections."
    collection: String!
  }
  input SetSchemaInput {
    collection: String!
    "JSON text."
    schema: String!
  }
  input SetPermissionInput {
    username: String!
    "A name, or * for all collections."
    collection: String!
    read: Boolean!
    write: Boolean!
    admin: Boolean!
  }
  input SetGroupPermissionInput {
    groupName: String!
    "A name, or * for all collections."
    collection: String!
    read: Boolean!
    write: Boolean!
    admin: Boolean!
  }
  input CreateGroupInput {
    name: String!
    description: String!
    members: [String!]!
  }
  input CreateAPIKeyInput {
    description: String!
    "Absent: without end."
    expiresAt: Time
  }
  input AddBatchDocumentInput {
    key: String!
    lang: String!
    contentMd: String!
    meta: [MetaInput!]
    saveRevision: Boolean
  }
  input IngestDocumentInput {
    url: String
    key: String
    lang: String!
    contentMd: String!
    meta: [MetaInput!]
    extractFrontmatter: Boolean
    scrapedAt: Int
    scraper: String
    ttl: Int
  }
  input IngestOptionsInput {
    skipDuplicates: Boolean
    skipEmbeddings: Boolean
    skipFts: Boolean
    skipWebhooks: Boolean
    autoConfigureCollection: Boolean
    saveRevision: Boolean
  }
`
