/**
 * Checks whether a document still matches a query after it has changed. A commit is visible in the store
 * shortly before the write lane publishes it to the engine. Without this check, documents that are being
 * updated would be missing from the results of concurrent searches. Read lanes.
 */
import { readPlanTerms } from '../../engine/text/term_positions.js'
import type { PlanNode, SearchPlan } from '../../engine/types.js'
import { unescapeContent } from '../../store/body.js'
import { type Head, HEAD_FLAGS, textOfHead } from '../../store/head.js'
import type { View } from '../../store/view.js'
import { type AnalysisTools, indexedTexts, type TextsOfDocument } from '../documents/analysis.js'
import { passesFilter } from '../documents/metadata.js'

/** Positions by term index, of one field. */
type FieldTerms = ReadonlyMap<number, readonly number[]>

/**
 * Indexes of the plan's terms that occur in the document as the view shows it. The plan must be expanded.
 * Undefined when the document does not match.
 */
export function recheckHit(tools: AnalysisTools, view: View, head: Head, plan: SearchPlan): number[] | undefined {
  const text = textOfHead(head)
  if (!passesFilter(text.metaValues, plan.filters)) return undefined
  const isSkipped = (head.flags & HEAD_FLAGS.textSkipped) !== 0
  const fields = isSkipped
    ? []
    : analyzeScoredFields(tools, plan, {
        key: text.key,
        lang: text.lang,
        values: Object.entries(text.metaValues),
        contentMd: unescapeContent(view.escapedContent(head)),
      })
  if (!nodeMatches(plan.root, fields)) return undefined
  return plan.terms.flatMap((_, index) => (fields.some((field) => field.has(index)) ? [index] : []))
}

function analyzeScoredFields({ analyzer, config }: AnalysisTools, plan: SearchPlan, document: TextsOfDocument): FieldTerms[] {
  const fieldIndexes = new Map(plan.fields.map(([name], field) => [name, field]))
  return indexedTexts(config, document).flatMap(({ name, text, options }): FieldTerms[] => {
    const field = fieldIndexes.get(name)
    return field === undefined ? [] : [readPlanTerms(analyzer.analyze(Buffer.from(text, 'utf8'), options), plan, field)]
  })
}

/** The engine's rules (docs/formats/search-plan.md) for one document. */
export function nodeMatches(node: PlanNode, fields: readonly FieldTerms[]): boolean {
  switch (node.kind) {
    case 'term':
      return fields.some((field) => field.has(node.term))
    case 'phrase':
      return fields.some((field) => phraseMatches(node.terms, field))
    case 'and':
      return node.children.every((child) => nodeMatches(child, fields))
    case 'or':
      return node.children.some((child) => nodeMatches(child, fields))
    case 'andNot':
      return nodeMatches(node.wanted, fields) && !nodeMatches(node.excluded, fields)
    case 'proximity':
      return fields.some((field) => proximityMatches(node, field))
    case 'all':
      return true
    case 'none':
    case 'fuzzy': // already expanded by expandPlan
    case 'wildcard':
      return false
  }
}

function proximityMatches({ terms, distance }: Extract<PlanNode, { kind: 'proximity' }>, field: FieldTerms): boolean {
  const [first, ...others] = terms.map((term) => field.get(term) ?? [])
  const last = others.pop()
  if (first === undefined || last === undefined) return false
  const isSame = terms[0] === terms.at(-1)
  return first.some((left) =>
    last.some((right) => {
      const [begin, end] = left < right ? [left, right] : [right, left]
      const isNear = end - begin <= distance && !(isSame && begin === end)
      return isNear && others.every((positions) => positions.some((position) => position >= begin && position <= end))
    }),
  )
}

function phraseMatches(terms: Extract<PlanNode, { kind: 'phrase' }>['terms'], field: FieldTerms): boolean {
  const [first] = terms
  if (first === undefined) return false
  const positions = new Map(terms.map(({ term }) => [term, new Set(field.get(term))]))
  const starts = field.get(first.term) ?? []
  return starts.some((start) => terms.every(({ term, offset }) => positions.get(term)?.has(start - first.offset + offset) === true))
}
