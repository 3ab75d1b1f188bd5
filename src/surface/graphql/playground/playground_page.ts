/**
 * GraphiQL as one page that needs nothing from elsewhere: scripts/build-playground.mjs makes it, compressed,
 * and its policy (policy.ts). Main thread, on its first request.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../../../base/installation.js'
import type { Answer } from '../../../wire/answer.js'

export function playgroundPage(): Answer {
  const body = readFileSync(join(projectFolder(), 'src/surface/graphql/playground/playground.html.gz'))
  return { body, contentType: 'text/html; charset=utf-8', isPage: true }
}
