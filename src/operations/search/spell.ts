/** Rows of spell correction, offered only if it is enabled. Pure data; rules in src/domain/spell. */
import { DEADLINE_SEARCH_MS } from '../../limits/lanes.js'
import { named } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { collection, HTTP_ONLY, lang, operation, optional, shape, text, wholeNumber } from '../row/schema.js'
import { asked, changed } from '../settings/settings_common.js'

const common = { group: 'Full-text search', collections: named('collection'), feature: 'spell' } as const
const corrected = { effect: 'read', permission: 'read', cost: 'search', deadlineMs: DEADLINE_SEARCH_MS, audit: null } as const

const misspelled = text('Text to correct, at most 64 KB.', 'markdwon serach')
const knowing = Type.String({
  description: 'Collection whose words and dictionary count as correct. Without it, only the stop words of the language are known.',
  examples: ['blog'],
})

export const spellSuggest = operation({
  ...common,
  ...corrected,
  name: 'spellSuggest',
  client: 'spelling.suggest',
  boundedBy: ['SPELL_WORDS_MAX', 'SPELL_TEXT_BYTES_MAX', 'SPELL_DICTIONARY_WORDS_MAX'],
  protocols: { grpc: 'SpellSuggest', graphql: null, mcp: null },
  description: 'Suggests corrections for the words of a text that are unknown in a collection',
  http: { routes: [{ method: 'POST', path: '/v1/spell-suggest' }] },
  input: Type.Object({
    collection: optional(knowing),
    text: misspelled,
    lang,
    maxSuggestions: optional(wholeNumber('Maximum number of suggestions per word. Values above 20 count as 20.', { default: 5 })),
  }),
  output: shape('Suggestions.', {
    originalText: Type.String(),
    suggestedText: Type.String({ description: 'The text with each unknown word replaced by its first suggestion.' }),
    tokenSuggestions: Type.Array(
      Type.Object({
        token: Type.String({ description: 'Unknown word of the text.' }),
        suggestions: Type.Array(Type.String(), { description: 'Best first.' }),
        original: Type.String({ description: 'Same as `token`.' }),
        corrected: Type.String({ description: 'The first suggestion; the word itself if there is none.' }),
        confidence: Type.Number({ description: '0 to 1.' }),
      }),
    ),
  }),
})

export const spellCleanup = operation({
  ...common,
  ...corrected,
  name: 'spellCleanup',
  client: 'spelling.cleanup',
  boundedBy: ['SPELL_WORDS_MAX', 'SPELL_TEXT_BYTES_MAX', 'SPELL_DICTIONARY_WORDS_MAX'],
  protocols: { grpc: 'SpellCleanup', graphql: null, mcp: null },
  description: 'Corrects the words of a text that are unknown in a collection',
  http: { routes: [{ method: 'POST', path: '/v1/spell-cleanup' }] },
  input: Type.Object({ collection: optional(knowing), text: misspelled, lang }),
  output: shape('The corrected text.', {
    original: Type.String(),
    cleaned: Type.String(),
    correctionsApplied: Type.Integer(),
  }),
})

const words = Type.Array(Type.String(), { description: 'Words, at most 5 000.', examples: [['kubernetes', 'etcd']] })

export const getSpellDictionary = operation({
  ...common,
  ...asked,
  name: 'getSpellDictionary',
  client: 'spelling.getDictionary',
  boundedBy: ['SPELL_WORDS_MAX', 'SPELL_TEXT_BYTES_MAX', 'SPELL_DICTIONARY_WORDS_MAX'],
  protocols: HTTP_ONLY,
  description: 'Lists the words that count as correct in a collection in addition to those of its documents',
  cost: 'point',
  http: { routes: [{ method: 'GET', path: '/v1/spell-dictionary' }] },
  input: Type.Object({ collection, lang }),
  output: shape('Words, sorted.', { collection: Type.String(), lang: Type.String(), words: Type.Array(Type.String()) }),
})

export const addSpellWords = operation({
  ...common,
  ...changed,
  name: 'addSpellWords',
  client: 'spelling.addWords',
  boundedBy: ['SPELL_WORDS_MAX', 'SPELL_TEXT_BYTES_MAX', 'SPELL_DICTIONARY_WORDS_MAX'],
  protocols: HTTP_ONLY,
  description: 'Adds words to the dictionary of a collection. Takes effect with the next search.',
  http: { routes: [{ method: 'PUT', path: '/v1/spell-dictionary' }] },
  input: Type.Object({
    collection,
    lang,
    words,
    frequency: optional(wholeNumber('Number of documents that each word counts for.', { default: 100 })),
  }),
  output: shape('Done.', { added: Type.Integer({ description: 'Number of words that were not in the dictionary before.' }) }),
  audit: 'write./v1/spell-dictionary',
})

export const deleteSpellWords = operation({
  ...common,
  ...changed,
  name: 'deleteSpellWords',
  client: 'spelling.deleteWords',
  boundedBy: ['SPELL_WORDS_MAX', 'SPELL_TEXT_BYTES_MAX', 'SPELL_DICTIONARY_WORDS_MAX'],
  protocols: HTTP_ONLY,
  description: 'Removes words from the dictionary of a collection',
  http: { routes: [{ method: 'DELETE', path: '/v1/spell-dictionary' }] },
  input: Type.Object({ collection, lang, words }),
  output: shape('Done.', { removed: Type.Integer({ description: 'Number of words that were in the dictionary.' }) }),
  audit: 'write./v1/spell-dictionary',
})

export const spellOperations = [spellSuggest, spellCleanup, getSpellDictionary, addSpellWords, deleteSpellWords] as const
