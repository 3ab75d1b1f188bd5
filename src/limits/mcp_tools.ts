/** Bounds of what MCP offers: tools, resources, prompts. */

/**
 * Tokens of an answer where the call does not name another number. A model with a context of 128 000 tokens
 * can read a dozen such answers beside its conversation.
 */
export const MCP_ANSWER_TOKENS_DEFAULT = 8_000
/**
 * The same for one document that a call names: a page of 60 KB is read whole. Some hosts of models refuse
 * results of more than 25 000 tokens.
 */
export const MCP_DOCUMENT_TOKENS_DEFAULT = 24_000
/** Lowest `max_tokens`: one result with a passage fits. */
export const MCP_ANSWER_TOKENS_MIN = 1_000
/**
 * Highest `max_tokens`: the largest context of a model. 2.5 MB of text, which is held three times while it is
 * written (answer of the core, JSON text, JSON-RPC message).
 */
export const MCP_ANSWER_TOKENS_MAX = 1_000_000
/** A text beside structured content takes at most one in so many tokens: by default 1 000. */
export const MCP_TEXT_SHARE = 8
/** Custom tools in the file of SVC_MCP_CONFIG: models choose badly among more than some dozens. */
export const CUSTOM_TOOLS_MAX = 256
/** Parameters of one of them. The tool with most arguments has 18. */
export const CUSTOM_PARAMETERS_MAX = 64
/** Characters of the name of a tool, as MCP recommends. */
export const TOOL_NAME_CHARS_MAX = 128
/** Characters of the description of a custom tool or a parameter. */
export const TOOL_DESCRIPTION_CHARS_MAX = 4_096
/** Values of a completion, as MCP sets it. */
export const COMPLETIONS_MAX = 100
/** Documents that a prompt shows the beginnings of, where nothing or more is asked for. */
export const PROMPT_DOCUMENTS_DEFAULT = 20
export const PROMPT_DOCUMENTS_MAX = 100
/** Characters of such a beginning. */
export const PROMPT_EXCERPT_CHARS = 400
/** Metadata keys and values of each that a prompt shows. */
export const PROMPT_META_KEYS_MAX = 50
export const PROMPT_META_VALUES_MAX = 10
/** Documents of a search resource that names no limit. */
export const SEARCH_RESOURCE_LIMIT = 10
/** Characters of the URI of a resource: three names of a document, each byte percent-encoded. */
export const RESOURCE_URI_CHARS_MAX = 8_192
