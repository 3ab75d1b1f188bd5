/**
 * Reads XML as events, without a tree. Entities that a document declares itself are refused, so none expands.
 * Runs in a child process.
 */
import { SaxesParser } from 'saxes'

/** Open elements in each other. Word processors nest some dozens. */
const XML_DEPTH_MAX = 2000
/** Characters that the parser gets at once: its buffers stay small. */
const XML_SLICE_CHARACTERS = 65_536

export type XmlAttributes = Readonly<Record<string, string>>
interface XmlHandler {
  open(name: string, attributes: XmlAttributes): void
  /** Each open element is closed, in order. */
  close(name: string): void
  text(text: string): void
}

/** @throws Error with the position of the first error */
export function readXml(xml: string, handler: XmlHandler): void {
  const parser = new SaxesParser()
  let depth = 0
  let failure: Error | undefined
  parser.on('error', (error) => (failure ??= error))
  // Entities and rules of a document's own. Writers of office documents have none.
  parser.on('doctype', (doctype) => {
    if (doctype.includes('[')) failure ??= new Error('a DOCTYPE with declarations of its own')
  })
  parser.on('opentag', ({ name, attributes }) => {
    if (failure !== undefined) return
    if (++depth > XML_DEPTH_MAX) failure = new Error(`XML nested deeper than ${XML_DEPTH_MAX} elements`)
    else handler.open(name, attributes)
  })
  parser.on('closetag', ({ name }) => {
    if (failure !== undefined) return
    depth--
    handler.close(name)
  })
  const text = (part: string): void => {
    if (failure === undefined) handler.text(part)
  }
  parser.on('text', text)
  parser.on('cdata', text)
  for (let at = 0; at < xml.length && failure === undefined; at += XML_SLICE_CHARACTERS)
    parser.write(xml.slice(at, at + XML_SLICE_CHARACTERS))
  if (failure === undefined) parser.close()
  if (failure !== undefined) throw failure
}
