/** Fields that control which part of its document a result contains. Pure data. */
import { Type } from './json_schema.js'
import { optional, wholeNumber, word } from './schema.js'

export const retrievalFields = {
  retrievalMode: optional(
    word(
      ['parent', 'chunk', 'window', 'auto'],
      'Part of the document that a result contains: the whole document, the matching passage, or that passage with its neighbours. `auto`: as the collection is configured, else short documents whole and the matching passage of longer ones.',
      'parent',
    ),
  ),
  windowSize: optional(wholeNumber('In mode `window`: number of passages on either side.', { default: 1 })),
}

/** Results that contain a passage omit the content of their document by default. */
export const includeContent = optional(
  Type.Boolean({ description: 'Includes the content of documents; otherwise `contentMd` is empty.', default: false }),
)
export const contentBesidePassage = optional(
  Type.Boolean({
    description: 'In the modes `chunk`, `window` and `auto`: also includes the content of documents; otherwise `contentMd` is empty.',
    default: false,
  }),
)

/** Fields of a result that describe its passage. */
export const passageFields = {
  chunkIndex: Type.Optional(Type.Integer({ description: 'Number of the passage in the document, from 0.' })),
  chunkText: Type.Optional(
    Type.String({ description: 'The passage, in the modes `chunk` and `window`, and in `auto` where the document is longer.' }),
  ),
}
