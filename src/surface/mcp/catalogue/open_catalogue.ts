/** TEMPORARY */
import { CatalogueError, type Catalogue, type CatalogueOptions, RESOURCE_NOT_FOUND } from './catalogue.js'
export function openCatalogue({ config }: CatalogueOptions): Catalogue {
  void config
  const text = (body: Uint8Array): string => Buffer.from(body).toString('utf8')
  return {
    tools: () => [
      { name: 'get_document', description: 'd', inputSchema: { type: 'object' } },
      { name: 'add_document', description: 'd', inputSchema: { type: 'object' } },
      { name: 'slow', description: 'd', inputSchema: { type: 'object' } },
    ],
    callTool: async (name, args, context) => {
      if (name === 'slow') {
        for (let i = 1; i <= 3; i++) {
          context.progress(i, 3, 'step')
          context.log('info', { i })
          await new Promise((r, j) => {
            const t = setTimeout(r, 50)
            context.signal.addEventListener('abort', () => {
              clearTimeout(t)
              j(new Error('cancelled'))
            })
          })
        }
        return { content: [{ type: 'text', text: 'done' }] }
      }
      const op = name === 'get_document' ? 'get' : name === 'add_document' ? 'add' : null
      if (op === null) throw new CatalogueError(-32602, `unknown tool: ${name}`)
      const answer = await context.ask(op, args)
      return { content: [{ type: 'text', text: text(answer.body) }], ...(answer.code === null ? {} : { isError: true }) }
    },
    resources: () => [],
    resourceTemplates: () => [],
    readResource: (uri) => Promise.reject(new CatalogueError(RESOURCE_NOT_FOUND, `resource not found`, { uri })),
    prompts: () => [],
    getPrompt: (name) => Promise.reject(new CatalogueError(-32602, `unknown prompt: ${name}`)),
    complete: () => Promise.resolve({ completion: { values: [], total: 0, hasMore: false } }),
  }
}
