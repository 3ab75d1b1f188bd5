// Writes a document, reads it, changes it, looks at its versions, and removes it.
import { MdsClient, MdsError } from '@mds/client'

const client = new MdsClient({ baseUrl: process.env.MDS_URL ?? 'http://127.0.0.1:11023' })
const hello = { collection: 'example-documents', key: 'hello', lang: 'en' }

await client.documents.add({ ...hello, contentMd: '# Hello\n\nA first document.', meta: { tags: ['example'] } })
await client.documents.update({ ...hello, meta: { tags: ['example', 'changed'] } })
const document = await client.documents.get(hello)
console.log(`${document.id} has the tags ${document.meta.tags?.join(', ')}`)

const { total } = await client.revisions.list(hello)
console.log(`${total} versions`)

await client.documents.delete(hello)
try {
  await client.documents.get(hello)
} catch (error) {
  if (!(error instanceof MdsError) || error.status !== 404) throw error
  console.log(`after the deletion: ${error.text}`)
}
