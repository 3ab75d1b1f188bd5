/** The Content-Security-Policy of each HTML page. Each loop computes them on first use. */
import type { AnyOperation } from '../../../operations/row/operation.js'
import { playground } from '../../../operations/server/graphql.js'
import { docs } from '../../../operations/server/health.js'
import { PLAYGROUND_POLICY } from '../../graphql/playground/policy.js'
import { docsPolicy } from './docs_page.js'

const MAKERS: ReadonlyMap<AnyOperation, () => string> = new Map<AnyOperation, () => string>([
  [docs, docsPolicy],
  [playground, () => PLAYGROUND_POLICY],
])
const made = new Map<AnyOperation, string>()

/** @returns null for an operation whose page is no HTML */
export function policyOf(operation: AnyOperation): string | null {
  const known = made.get(operation) ?? MAKERS.get(operation)?.()
  if (known !== undefined) made.set(operation, known)
  return known ?? null
}
