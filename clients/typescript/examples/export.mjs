// Reads all documents of a collection one by one. Memory stays small, however many there are.
import { MdsClient } from '@mds/client'

const client = new MdsClient({ baseUrl: process.env.MDS_URL ?? 'http://127.0.0.1:11023' })
const collection = 'example-export'

const documents = Array.from({ length: 100 }, (_, at) => ({ key: `page-${at}`, lang: 'en', contentMd: `Page ${at}` }))
await client.documents.addBatch({ collection, documents })

let characters = 0
let count = 0
for await (const document of client.documents.export({ collection })) {
  count += 1
  characters += document.contentMd.length
}
console.log(`${count} documents with ${characters} characters`)
