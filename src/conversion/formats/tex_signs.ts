/** Macros of LaTeX that stand for characters, accents, and the quotes and dashes of its text. Pure data. */

const SIGNS: Readonly<Record<string, string>> = {
  ...{
    '{': '{',
    '}': '}',
    '%': '%',
    '&': '&',
    $: '$',
    '#': '#',
    _: '_',
    ' ': ' ',
    '\n': ' ',
    ',': ' ',
    ';': ' ',
    ':': ' ',
    '/': '',
    '-': '',
    '!': '',
  },
  ...{ ldots: '…', dots: '…', textellipsis: '…', textbackslash: '\\', textasciitilde: '~', textasciicircum: '^', textasciigrave: '`' },
  ...{ textgreater: '>', textless: '<', textbar: '|', textbraceleft: '{', textbraceright: '}', textunderscore: '_', textdollar: '$' },
  ...{ textquotesingle: "'", textquotedblleft: '“', textquotedblright: '”', textquoteleft: '‘', textquoteright: '’', textemdash: '—' },
  ...{ textendash: '–', textbullet: '•', textdegree: '°', texteuro: '€', euro: '€', pounds: '£', copyright: '©', textcopyright: '©' },
  ...{ texttrademark: '™', textregistered: '®', S: '§', P: '¶', dag: '†', ddag: '‡', ss: 'ß', ae: 'æ', AE: 'Æ', oe: 'œ', OE: 'Œ' },
  ...{ o: 'ø', O: 'Ø', l: 'ł', L: 'Ł', aa: 'å', AA: 'Å', i: 'ı', j: 'ȷ', TeX: 'TeX', LaTeX: 'LaTeX', quad: ' ', qquad: ' ', enspace: ' ' },
  ...{ space: ' ', slash: '/', lq: '‘', rq: '’', textperiodcentered: '·', textmu: 'µ', guillemotleft: '«', guillemotright: '»' },
}
/** Combining characters. */
const ACCENTS: Readonly<Record<string, string>> = {
  ...{ "'": '\u0301', '`': '\u0300', '^': '\u0302', '"': '\u0308', '~': '\u0303', '=': '\u0304', '.': '\u0307' },
  ...{ c: '\u0327', v: '\u030c', H: '\u030b', u: '\u0306', k: '\u0328', r: '\u030a', d: '\u0323', b: '\u0331' },
}

export function signOf(name: string): string | undefined {
  return Object.hasOwn(SIGNS, name) ? SIGNS[name] : undefined
}

export function accentOf(name: string): string | undefined {
  return Object.hasOwn(ACCENTS, name) ? ACCENTS[name] : undefined
}

/** @param letter source of the argument of an accent: a letter, or `\i` */
export function accented(letter: string, accent: string): string {
  const plain = letter.replace(/^\\(?=[ij]\b)/, '')
  return plain === '' ? '' : (plain[0]! + accent).normalize('NFC') + plain.slice(1)
}

export function typeset(text: string): string {
  return text
    .replaceAll('---', '—')
    .replaceAll('--', '–')
    .replaceAll('``', '“')
    .replaceAll("''", '”')
    .replaceAll('`', '‘')
    .replaceAll("'", '’')
    .replaceAll('~', ' ')
}
