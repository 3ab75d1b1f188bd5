/**
 * Declarations of a TypeScript source by name, so that an edit can be anchored to a function: `name` of a
 * function, constant, class, interface, type or enum of the module, `Class.member` of a member of a class. Of
 * a proto: a message or a service.
 */
import ts from 'typescript'

/** Declarations by source text: the same few hundred sources are asked for again and again. */
const known = new Map()

/**
 * @param text of a .ts, .mjs or .proto source
 * @returns ranges of characters by name, without leading comments; several where a function has overloads
 */
export function declarationsOf(text) {
  let found = known.get(text)
  if (found === undefined) known.set(text, (found = /^syntax = /m.test(text) ? readProto(text) : read(text)))
  return found
}

function readProto(text) {
  const blocks = [...text.matchAll(/^(?:message|service) (\w+) \{(?:\}|[\s\S]*?^\})/gm)]
  return new Map(blocks.map(({ 0: block, 1: name, index }) => [name, [{ begin: index, end: index + block.length }]]))
}

function read(text) {
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.ESNext)
  const found = new Map()
  const add = (name, node) => found.set(name, [...(found.get(name) ?? []), { begin: node.getStart(source), end: node.end }])
  for (const statement of source.statements) {
    if (ts.isVariableStatement(statement)) {
      // Several names of one statement, or of one pattern, share its range.
      for (const { name } of statement.declarationList.declarations) for (const each of namesOf(name)) add(each, statement)
    } else if (statement.name !== undefined) {
      add(statement.name.text, statement)
      if (ts.isClassDeclaration(statement))
        for (const member of statement.members) add(`${statement.name.text}.${memberName(member)}`, member)
    }
  }
  return found
}

function namesOf(name) {
  return ts.isIdentifier(name) ? [name.text] : name.elements.flatMap((element) => (element.name === undefined ? [] : namesOf(element.name)))
}

function memberName(member) {
  return ts.isConstructorDeclaration(member) ? 'constructor' : (member.name?.text ?? '')
}

/**
 * The position of a phrase that occurs once: in the declaration `of`, or in the whole text if that is
 * undefined.
 * @throws Error that says what is missing, or there more than once
 */
export function positionOf(text, find, of) {
  const ranges = of === undefined ? [{ begin: 0, end: text.length }] : declarationsOf(text).get(of)
  if (ranges === undefined) throw new Error(`declares no ${of} any more`)
  const at = ranges.flatMap(({ begin, end }) => positions(text, find, begin, end))
  const where = of === undefined ? '' : ` in ${of}`
  if (at.length === 0) throw new Error(`has no ${JSON.stringify(find)}${where} any more`)
  if (at.length > 1) throw new Error(`has ${JSON.stringify(find)} more than once${where}`)
  return at[0]
}

function positions(text, find, begin, end) {
  const found = []
  for (let at = text.indexOf(find, begin); at >= 0 && at + find.length <= end; at = text.indexOf(find, at + 1)) found.push(at)
  return found
}
