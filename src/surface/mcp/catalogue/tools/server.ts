/** Tools of the whole server: statistics, indexes, export, backup. Pure data. */
import type { ToolDefinition } from '../tool.js'
import { maxTokens } from './common.js'

export const serverTools: readonly ToolDefinition[] = [
  {
    name: 'get_stats',
    title: 'Statistics of the server',
    description:
      'Returns the collections with their numbers of documents and revisions, and sizes and uptime of the server. Needs the rights of an administrator.',
    class: 'RO',
    answers: 'plain',
    isStructured: true,
  },
  {
    name: 'vector_reindex',
    title: 'Embed documents again',
    description:
      'Embeds the documents of a collection that lack current vectors, and returns when all are done. With an outside provider this can take long and cost money.',
    class: 'WO',
    answers: 'plain',
  },
  {
    name: 'fts_reindex',
    title: 'Index texts again',
    description: 'Indexes the text of every document of a collection again. Only needed after changes of language settings.',
    class: 'WN',
    answers: 'plain',
  },
  {
    name: 'export_documents',
    title: 'Export a collection',
    description:
      'Returns all documents of a collection, or those with the given metadata: as NDJSON, one document a line, or as a ZIP file in base64. Large exports are cut off and say so; prefer a search tool to look something up.',
    class: 'RO',
    answers: 'parts',
    own: [maxTokens],
  },
  {
    name: 'create_backup',
    title: 'Back up the server',
    description:
      'Copies the whole store to a file in the backup directory of the server, while reads and writes continue. Returns the name of the file.',
    class: 'WN',
    answers: 'plain',
  },
  {
    name: 'restore_backup',
    title: 'Restore a backup',
    description: 'Replaces everything that the server stores by a backup. Later changes are lost. The backup is verified first.',
    class: 'DN',
    answers: 'plain',
    without: ['withAccess'],
  },
]
