/**
 * URIs of resources: `mddb://health`, `mddb://{collection}/{key}?lang={lang}` and
 * `mddb-search://{collection}?meta.{key}={value}&limit=10`. They are read here and not by `URL`, for which
 * the name of a collection would be a host: it would be refused or changed. Pure; any thread.
 */

/** Characters of the URI of a resource: three names of a document, each byte percent-encoded. */
const RESOURCE_URI_CHARS_MAX = 8_192

export type ResourceUri =
  | { readonly kind: 'health' }
  | { readonly kind: 'stats' }
  | { readonly kind: 'document'; readonly collection: string; readonly key: string; readonly lang: string }
  | { readonly kind: 'search'; readonly collection: string; readonly parameters: readonly (readonly [name: string, value: string])[] }

const LANG_DEFAULT = 'en'

/** @returns null for what is no URI of a resource of this server */
export function readResourceUri(uri: string): ResourceUri | null {
  if (uri.length > RESOURCE_URI_CHARS_MAX) return null
  const [, scheme = '', path = '', query = ''] = /^(mddb|mddb-search):\/\/([^?#]*)(?:\?([^#]*))?$/i.exec(uri) ?? []
  try {
    if (scheme.toLowerCase() === 'mddb') return documentOf(path, parametersOf(query))
    return scheme === '' ? null : searchOf(path, parametersOf(query))
  } catch {
    // A percent sign that begins no byte, or bytes that are no UTF-8.
    return null
  }
}

function documentOf(path: string, parameters: readonly (readonly [string, string])[]): ResourceUri | null {
  if (path === 'health' || path === 'stats') return { kind: path }
  // A key may contain slashes, encoded or not.
  const slash = path.indexOf('/')
  if (slash < 0) return null
  const [collection, key] = [decodeURIComponent(path.slice(0, slash)), decodeURIComponent(path.slice(slash + 1))]
  if (collection === '' || key === '') return null
  const lang = parameters.find(([name]) => name === 'lang')?.[1] ?? ''
  return { kind: 'document', collection, key, lang: lang === '' ? LANG_DEFAULT : lang }
}

function searchOf(path: string, parameters: readonly (readonly [string, string])[]): ResourceUri | null {
  const collection = decodeURIComponent(path.replace(/\/$/, ''))
  return collection === '' ? null : { kind: 'search', collection, parameters }
}

function parametersOf(query: string): readonly (readonly [string, string])[] {
  return query
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const equals = part.indexOf('=')
      return equals < 0
        ? [decodeURIComponent(part), '']
        : [decodeURIComponent(part.slice(0, equals)), decodeURIComponent(part.slice(equals + 1))]
    })
}
