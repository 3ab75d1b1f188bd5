// Full-text search, step by step, with a filter, facets and highlighting.
import { MdsClient } from '@mds/client'

const client = new MdsClient({ baseUrl: process.env.MDS_URL ?? 'http://127.0.0.1:11023' })
const collection = 'example-search'

await client.documents.addBatch({
  collection,
  documents: [
    { key: 'tea', lang: 'en', contentMd: 'How to brew green tea', meta: { topic: ['drinks'], year: ['2024'] } },
    { key: 'coffee', lang: 'en', contentMd: 'Brewing coffee in a pot', meta: { topic: ['drinks'], year: ['2025'] } },
    { key: 'bread', lang: 'en', contentMd: 'How to bake bread', meta: { topic: ['food'], year: ['2025'] } },
  ],
})

const { results, facets } = await client.search
  .in(collection)
  .fulltext('brew')
  .where('topic', 'drinks')
  .range('year', { gte: 2024 })
  .facet('year')
  .highlight({ highlightTag: '**' })
  .limit(10)
  .run()
for (const { document, highlights } of results) console.log(`${document.key}: ${highlights?.[0]?.fragment}`)
console.log(`years: ${facets?.year?.map(({ value, count }) => `${value} (${count})`).join(', ')}`)
