/** Tools that the operator declares in the file that SVC_MCP_CONFIG names: a search with fixed defaults. */

export interface CustomTool {
  readonly name: string
  readonly description: string
  readonly action: CustomAction
  /** By the field of the search: collection, topK, filterMeta … */
  readonly defaults: Readonly<Record<string, unknown>>
  readonly parameters: readonly CustomParameter[]
}

export type CustomAction = 'semantic_search' | 'search_documents' | 'full_text_search' | 'fts_languages'

export interface CustomParameter {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'object'
  readonly required: boolean
  readonly description: string
}
