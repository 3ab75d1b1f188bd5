/** Dumps of wikis as MediaWiki exports them, made from pages; and bytes in chunks of a size. */
import { gzipSync } from 'node:zlib'

export interface DumpRevision {
  readonly id?: number
  readonly timestamp?: string
  readonly user?: string
  readonly ip?: string
  readonly text: string
}

export interface DumpPage {
  readonly title: string
  readonly ns?: number
  readonly id?: number
  readonly redirect?: string
  readonly revisions: readonly DumpRevision[]
}

export const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

export const DUMP_BEGIN = `<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" version="0.10" xml:lang="de">
  <siteinfo>
    <sitename>Wiki</sitename>
    <namespaces>
      <namespace key="0" case="first-letter" />
      <namespace key="6" case="first-letter">Ablage</namespace>
      <namespace key="14" case="first-letter">Fach</namespace>
    </namespaces>
  </siteinfo>
`
export const DUMP_END = '</mediawiki>\n'

export function pageXml({ title, ns = 0, id = 1, redirect, revisions }: DumpPage): string {
  return `  <page>
    <title>${escapeXml(title)}</title>
    <ns>${ns}</ns>
    <id>${id}</id>
${redirect === undefined ? '' : `    <redirect title="${escapeXml(redirect)}" />\n`}${revisions.map(revisionXml).join('')}  </page>
`
}

function revisionXml({ id = 2, timestamp = '2020-01-01T00:00:00Z', user, ip, text }: DumpRevision): string {
  const contributor = ip !== undefined ? `<ip>${ip}</ip>` : user !== undefined ? `<username>${escapeXml(user)}</username><id>9</id>` : ''
  return `    <revision>
      <id>${id}</id>
      <parentid>1</parentid>
      <timestamp>${timestamp}</timestamp>
      <contributor>${contributor}</contributor>
      <comment>a &lt;comment&gt;</comment>
      <model>wikitext</model>
      <format>text/x-wiki</format>
      <text bytes="${text.length}" xml:space="preserve">${escapeXml(text)}</text>
      <sha1>x</sha1>
    </revision>
`
}

/** A page with one revision. */
export const pageOf = (title: string, text: string, rest: Partial<DumpPage> = {}): DumpPage => ({
  title,
  revisions: [{ text, user: 'A user' }],
  ...rest,
})

export function dumpXml(pages: readonly DumpPage[]): string {
  return DUMP_BEGIN + pages.map(pageXml).join('') + DUMP_END
}

/**
 * A small gzip file, whose pages with text are read at once, and whose reader is then busy with `tailMb`
 * pages of 1 MB that leave nothing behind.
 */
export function slowDump(pages: readonly DumpPage[], tailMb: number): Buffer {
  const empty = gzipSync(pageXml(pageOf('Empty', '{{x}}\n'.repeat(170_000))))
  const head = gzipSync(DUMP_BEGIN + pages.map(pageXml).join(''))
  return Buffer.concat([head, ...Array.from({ length: tailMb }, () => empty), gzipSync(DUMP_END)])
}

export async function* inChunks(bytes: Uint8Array, size = 64 * 1024): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
