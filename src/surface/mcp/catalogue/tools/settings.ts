/** Tools of collections and their settings: configuration, schema, words, curation. Pure data. */
import { argument, camelCase, required } from '../arguments/argument.js'
import type { Arguments } from '../arguments/argument_values.js'
import type { ToolDefinition } from '../tool.js'

/** The nested names of the block in camelCase, as the operation has them. */
const withTarget = ({ wordpress }: Arguments) =>
  wordpress === undefined
    ? {}
    : { wordpress: Object.fromEntries(Object.entries(wordpress as object).map(([name, value]) => [camelCase(name), value as unknown])) }

export const settingsTools: readonly ToolDefinition[] = [
  {
    name: 'get_meta_keys',
    title: 'List metadata keys',
    description:
      'Lists the metadata keys of a collection, each with its values. Call it before you filter: it tells what filter_meta and facets can name.',
    class: 'RO',
    answers: 'text',
    isStructured: true,
  },
  {
    name: 'get_checksum',
    title: 'Checksum of a collection',
    description:
      'Returns number of documents and two checksums of a collection: checksum changes with keys, languages, metadata and contents, checksum64 also with times.',
    class: 'RO',
    answers: 'plain',
  },
  {
    name: 'delete_collection',
    title: 'Delete a collection',
    description: 'Deletes a whole collection with all documents, revisions and settings. This cannot be undone.',
    class: 'DN',
    answers: 'plain',
  },
  {
    name: 'get_collection_config',
    title: 'Read the configuration of a collection',
    description: 'Returns the configuration of a collection: type, description, defaults of searches and more. Credentials are not shown.',
    class: 'RO',
    answers: 'plain',
  },
  {
    name: 'set_collection_config',
    title: 'Configure a collection',
    description: 'Changes the configuration of a collection. What is not given stays as it is.',
    class: 'WI',
    answers: 'plain',
    without: [
      ...['storageBackend', 'storageConfig', 'retrieval', 'responsePrompt', 'trackAccess', 'trackHot', 'spellCorrect', 'spellLang'],
      ...['quantization', 'disk_only_vectors', 'diskOnlyVectors', 'encrypted', 'cms'],
    ],
    own: [
      argument('wordpress', 'object', 'External content-management system: {url, api_key}. An empty api_key keeps the stored one.', {
        field: null,
      }),
    ],
    keepsRest: true,
    input: withTarget,
  },
  {
    name: 'list_collection_configs',
    title: 'List configured collections',
    description: 'Lists the configurations of all collections that have one, e.g. to find a collection by its description.',
    class: 'RO',
    answers: 'plain',
  },
  {
    name: 'set_schema',
    title: 'Set the schema of a collection',
    description: 'Sets rules for the metadata of a collection, which every later write must keep. Existing documents are not checked.',
    class: 'WI',
    answers: 'plain',
    own: [
      required(
        argument('schema', 'json', 'The schema as JSON text.', {
          examples: ['{"required":["status"],"properties":{"status":{"enum":["draft","published"],"maxItems":1}}}'],
        }),
      ),
    ],
  },
  {
    name: 'get_schema',
    title: 'Read the schema of a collection',
    description: 'Returns the rules for the metadata of a collection; null if there are none.',
    class: 'RO',
    answers: 'plain',
  },
  {
    name: 'delete_schema',
    title: 'Delete the schema of a collection',
    description: 'Removes the rules for the metadata of a collection. Documents are kept.',
    class: 'DI',
    answers: 'plain',
  },
  {
    name: 'list_schemas',
    title: 'List schemas',
    description: 'Lists the schemas of all collections that have one.',
    class: 'RO',
    answers: 'plain',
  },
  {
    name: 'list_synonyms',
    title: 'List synonyms',
    description: 'Lists the synonyms of a collection: a search for a term also finds its synonyms.',
    class: 'RO',
    answers: 'plain',
  },
  {
    name: 'add_synonym',
    title: 'Set synonyms',
    description: 'Sets the synonyms of a term, in place of its present ones. Takes effect with the next search.',
    class: 'WI',
    answers: 'plain',
  },
  {
    name: 'delete_synonym',
    title: 'Delete synonyms',
    description: 'Removes all synonyms of a term.',
    class: 'DI',
    answers: 'plain',
  },
  {
    name: 'list_stopwords',
    title: 'List stop words',
    description: 'Lists the words that searches of a collection ignore: those of the default language and its own.',
    class: 'RO',
    answers: 'plain',
  },
  {
    name: 'add_stopwords',
    title: 'Add stop words',
    description: 'Adds words that searches of a collection ignore. Takes effect with the next search.',
    class: 'WI',
    answers: 'plain',
  },
  {
    name: 'delete_stopwords',
    title: 'Remove stop words',
    description: "Removes a collection's own stop words. Those of the language stay.",
    class: 'DI',
    answers: 'plain',
  },
  {
    name: 'list_curation_rules',
    title: 'List curation rules',
    description: 'Lists the rules that pin documents to positions of search results or hide them.',
    class: 'RO',
    answers: 'plain',
    without: ['id'],
  },
  {
    name: 'create_curation_rule',
    title: 'Create a curation rule',
    description: 'Creates a rule for a search query: documents pinned to positions of its results, and documents hidden from them.',
    class: 'WN',
    answers: 'plain',
    own: [argument('enabled', 'boolean', 'Whether the rule applies.', { fallback: true })],
    input: ({ enabled }) => ({ enabled: enabled ?? true }),
  },
  {
    name: 'update_curation_rule',
    title: 'Change a curation rule',
    description: 'Changes a curation rule. What is not given stays as it is.',
    class: 'WI',
    answers: 'plain',
    own: [argument('query', 'string', 'Query to which the rule applies.')],
    keepsRest: true,
    before: {
      operation: 'listCuration',
      input: ({ id, collection: name }) => ({ id, ...(name === undefined ? {} : { collection: name }) }),
    },
  },
  {
    name: 'delete_curation_rule',
    title: 'Delete a curation rule',
    description: 'Deletes a curation rule. Its documents appear in search results again as they are found.',
    class: 'WI',
    answers: 'plain',
    without: ['collection'],
  },
  {
    name: 'register_webhook',
    title: 'Register a webhook',
    description:
      'Registers a URL that is told of each change of documents, of one collection or of all. Its answer has the secret of the signatures, which is not shown again.',
    class: 'WN',
    answers: 'plain',
    without: ['headers', 'includeSealed'],
  },
  {
    name: 'list_webhooks',
    title: 'List webhooks',
    description: 'Lists the registered webhooks, and says of each why nothing is sent to it, if so.',
    class: 'RO',
    answers: 'plain',
    without: ['collection'],
  },
  {
    name: 'delete_webhook',
    title: 'Delete a webhook',
    description: 'Deletes a webhook with what was not delivered yet.',
    class: 'DI',
    answers: 'plain',
  },
]
