/** Fields that control which part of its document a result contains. Pure data. */
import { Type } from './json_schema.js'
import { optional, wholeNumber, word } from './schema.js'

export const retrievalFields = {
  retrievalMode: optional(
    word(
      ['parent', 'chunk', 'window'],
      'What of its document a result shows: all of it, the passage that matched, or that with its neighbours.',
      'parent',
    ),
  ),
  windowSize: optional(wholeNumber('Passages on either side, in mode `window`.', { default: 1 })),
}

/** Results that contain a passage omit the content of their document by default. */
export const includeContent = optional(
  Type.Boolean({ description: 'Documents come with their content; without it `contentMd` is empty.', default: false }),
)
export const contentBesidePassage = optional(
  Type.Boolean({
    description: 'In the modes `chunk` and `window`: documents come with their content as well; without it `contentMd` is empty.',
    default: false,
  }),
)

/** Fields of a result that describe its passage. */
export const passageFields = {
  chunkIndex: Type.Optional(Type.Integer({ description: 'Number of the passage in the document, from 0.' })),
  chunkText: Type.Optional(Type.String({ description: 'The passage, in the modes `chunk` and `window`.' })),
}
