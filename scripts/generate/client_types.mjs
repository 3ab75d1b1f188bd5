/**
 * TypeScript declarations from the schemas of the rows. A schema with a title, and the input and the answer
 * of an operation, become named types; everything else stays where it is used. Lists of known values are
 * closed in inputs and open in answers, because a newer server may have more of them.
 */

/** 110 less the marks of a comment in one line, and eight columns of indentation. */
const COMMENT_COLUMNS = 110 - '/**  */'.length - 8

export class ClientTypes {
  #declarations = new Map()

  /** In the order in which they were first used. */
  get declarations() {
    return [...this.#declarations.values()]
  }

  /** Declares the schema under its own title, or under `name` if it has none, and returns the name. */
  named(name, schema, isInput) {
    if (schema.title === undefined) return this.#declare(name, schema, isInput)
    return this.#declare(schema.title, schema, isInput)
  }

  #declare(name, schema, isInput) {
    const rest = { ...schema }
    delete rest.title
    const type = this.#inline(rest, isInput)
    const isInterface = rest.type === 'object' && rest.properties !== undefined
    const text = `${comment(rest.description)}export ${isInterface ? `interface ${name} ${type}` : `type ${name} = ${type}`}`
    const known = this.#declarations.get(name)
    if (known === undefined) this.#declarations.set(name, text)
    else if (known !== text) throw new Error(`two types are named ${name}`)
    return name
  }

  #typeOf(schema, isInput) {
    return schema.title === undefined ? this.#inline(schema, isInput) : this.#declare(schema.title, schema, isInput)
  }

  #inline(schema, isInput) {
    if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
    if (schema.anyOf !== undefined) return this.#union(schema.anyOf, isInput)
    if (Array.isArray(schema.type)) return schema.type.map((type) => this.#inline({ ...schema, type }, isInput)).join(' | ')
    switch (schema.type) {
      case 'string':
      case 'boolean':
      case 'number':
      case 'null':
        return schema.type
      case 'integer':
        return 'number'
      case 'array':
        return `readonly (${this.#typeOf(schema.items ?? {}, isInput)})[]`
      case 'object':
        return this.#object(schema, isInput)
      case undefined:
        return 'unknown'
      default:
        throw new Error(`no TypeScript type for ${schema.type}`)
    }
  }

  /** The branch that accepts everything is the server's own way to refuse a value later. */
  #union(branches, isInput) {
    const known = branches.filter((branch) => Object.keys(branch).length > 0)
    if (known.length === 0) return 'unknown'
    const types = known.map((branch) => this.#typeOf(branch, isInput))
    const isOpenList = !isInput && known.length === 1 && known[0].enum !== undefined
    return [...new Set([...types, ...(isOpenList ? ['(string & {})'] : [])])].join(' | ')
  }

  #object(schema, isInput) {
    if (schema.properties === undefined) {
      const values = schema.additionalProperties === undefined ? 'unknown' : this.#typeOf(schema.additionalProperties, isInput)
      return `Readonly<Record<string, ${values}>>`
    }
    const required = new Set(schema.required ?? [])
    const fields = Object.entries(schema.properties).map(([name, field]) => {
      // Callers under exactOptionalPropertyTypes may pass undefined; an answer has the field or lacks it.
      const mark = required.has(name) ? '' : '?'
      const orAbsent = mark !== '' && isInput ? ' | undefined' : ''
      return `${comment(describe(field))}readonly ${name}${mark}: ${this.#typeOf(field, isInput)}${orAbsent}`
    })
    return `{\n${fields.join('\n')}\n}`
  }
}

function describe({ description, default: standard }) {
  const known = standard === undefined ? '' : `Default: \`${JSON.stringify(standard)}\`.`
  return [description, known].filter((part) => part !== undefined && part !== '').join(' ')
}

/** @returns a comment of lines that fit into 110 columns, also where a type is nested deeply */
export function comment(text) {
  if (text === undefined || text === '') return ''
  const safe = text.replaceAll('*/', '* /')
  if (safe.length <= COMMENT_COLUMNS) return `/** ${safe} */\n`
  const lines = ['']
  for (const word of safe.split(' ')) {
    const last = lines.at(-1)
    if (last !== '' && last.length + word.length >= COMMENT_COLUMNS) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return `/**\n${lines.map((line) => ` * ${line}\n`).join('')} */\n`
}
