/** Rows of spell correction, offered only if it is enabled. Pure data; rules in src/domain/spell. */
import { DEADLINE_SEARCH_MS } from '../limits/deadlines.js'
import { named } from './collection_access.js'
import { Type } from './json_schema.js'
import { collection, lang, operation, optional, shape, text, wholeNumber } from './schema.js'
import { asked, changed } from './settings_common.js'

const common = { group: 'Full-text search', collections: named('collection'), feature: 'spell' } as const
const corrected = { effect: 'read', permission: 'read', cost: 'search', deadlineMs: DEADLINE_SEARCH_MS, audit: null } as const

const misspelled = text('What to correct, at most 64 KB.', 'markdwon serach')
const knowing = Type.String({
  description: 'Collection whose words and dictionary count as right. Without it only the stop words of the language are known.',
  examples: ['blog'],
})

export const spellSuggest = operation({
  ...common,
  ...corrected,
  name: 'spellSuggest',
  description: 'Suggests corrections for the words of a text that a collection does not know',
  http: { routes: [{ method: 'POST', path: '/v1/spell-suggest' }] },
  input: Type.Object({
    collection: optional(knowing),
    text: misspelled,
    lang,
    maxSuggestions: optional(wholeNumber('Most suggestions for each word. Above 20 counts as 20.', { default: 5 })),
  }),
  output: shape('Suggestions.', {
    originalText: Type.String(),
    suggestedText: Type.String({ description: 'The text with the first suggestion of each word.' }),
    tokenSuggestions: Type.Array(
      Type.Object({
        token: Type.String({ description: 'A word of the text that is not known.' }),
        suggestions: Type.Array(Type.String(), { description: 'Best first.' }),
        original: Type.String({ description: 'As `token`.' }),
        corrected: Type.String({ description: 'The first suggestion; the word itself where there is none.' }),
        confidence: Type.Number({ description: '0 to 1.' }),
      }),
    ),
  }),
})

export const spellCleanup = operation({
  ...common,
  ...corrected,
  name: 'spellCleanup',
  description: 'Corrects the words of a text that a collection does not know',
  http: { routes: [{ method: 'POST', path: '/v1/spell-cleanup' }] },
  input: Type.Object({ collection: optional(knowing), text: misspelled, lang }),
  output: shape('The corrected text.', {
    original: Type.String(),
    cleaned: Type.String(),
    correctionsApplied: Type.Integer(),
  }),
})

const words = Type.Array(Type.String(), { description: 'At most 5 000.', examples: [['kubernetes', 'etcd']] })

export const getSpellDictionary = operation({
  ...common,
  ...asked,
  name: 'getSpellDictionary',
  description: 'Words that a collection counts as right beside those of its documents',
  cost: 'point',
  http: { routes: [{ method: 'GET', path: '/v1/spell-dictionary' }] },
  input: Type.Object({ collection, lang }),
  output: shape('Words, sorted.', { collection: Type.String(), lang: Type.String(), words: Type.Array(Type.String()) }),
})

export const addSpellWords = operation({
  ...common,
  ...changed,
  name: 'addSpellWords',
  description: 'Adds words to the dictionary of a collection. Holds from the next search on.',
  http: { routes: [{ method: 'PUT', path: '/v1/spell-dictionary' }] },
  input: Type.Object({
    collection,
    lang,
    words,
    frequency: optional(wholeNumber('As if so many documents had each of them.', { default: 100 })),
  }),
  output: shape('Done.', { added: Type.Integer({ description: 'Words that were not in it before.' }) }),
  audit: 'write./v1/spell-dictionary',
})

export const deleteSpellWords = operation({
  ...common,
  ...changed,
  name: 'deleteSpellWords',
  description: 'Takes words out of the dictionary of a collection',
  http: { routes: [{ method: 'DELETE', path: '/v1/spell-dictionary' }] },
  input: Type.Object({ collection, lang, words }),
  output: shape('Done.', { removed: Type.Integer({ description: 'Words that were in it.' }) }),
  audit: 'write./v1/spell-dictionary',
})

export const spellOperations = [spellSuggest, spellCleanup, getSpellDictionary, addSpellWords, deleteSpellWords] as const
