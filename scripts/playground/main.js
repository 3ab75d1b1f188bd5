/** The playground: GraphiQL for the server that the page comes from. Bundled by scripts/build-playground.mjs. */
import './style_sheets.js'
import { createElement } from 'react'
import { createRoot } from 'react-dom/client'
import { createGraphiQLFetcher } from '@graphiql/toolkit'
import { GraphiQL } from 'graphiql'
import 'graphiql/style.css'
import './page.css'

/** The workers of the editor lie in the page, as text. */
const WORKERS = { json: 'worker-json', graphql: 'worker-graphql' }
globalThis.MonacoEnvironment = {
  getWorker(_, label) {
    const { textContent } = document.getElementById(WORKERS[label] ?? 'worker-editor')
    return new Worker(URL.createObjectURL(new Blob([textContent], { type: 'text/javascript' })))
  },
}

const fetcher = createGraphiQLFetcher({ url: new URL('graphql', location.href).href })
/** A link may bring a query: `/playground?query=…`. It is not run before its reader runs it. */
const initialQuery = new URLSearchParams(location.search).get('query') ?? undefined
const options = { fetcher, initialQuery, defaultEditorToolsVisibility: 'headers', shouldPersistHeaders: false }
createRoot(document.getElementById('graphiql')).render(createElement(GraphiQL, options))
