/** What the reader of LaTeX knows of macros and environments. Pure data. */
import type { Marks } from '../markdown/inline.js'

/** The argument carries the marks. */
export const MARKING: ReadonlyMap<string, Partial<Marks>> = new Map<string, Partial<Marks>>([
  ['textbf', { strong: true }],
  ['emph', { emphasis: true }],
  ['textit', { emphasis: true }],
  ['textsl', { emphasis: true }],
  ['texttt', { code: true }],
  ['sout', { strike: true }],
  ['st', { strike: true }],
])
/** The rest of the group carries them. */
export const SWITCHING: ReadonlyMap<string, Partial<Marks>> = new Map<string, Partial<Marks>>([
  ['bf', { strong: true }],
  ['bfseries', { strong: true }],
  ['it', { emphasis: true }],
  ['em', { emphasis: true }],
  ['sl', { emphasis: true }],
  ['itshape', { emphasis: true }],
  ['slshape', { emphasis: true }],
  ['tt', { code: true }],
  ['ttfamily', { code: true }],
  ['normalfont', { strong: false, emphasis: false, code: false }],
  ['rm', { strong: false, emphasis: false, code: false }],
])
/** Below the highest that the document uses. */
export const SECTIONS = ['part', 'chapter', 'section', 'subsection', 'subsubsection', 'paragraph', 'subparagraph']

/** Macros that set nothing of the text, by the number of their arguments. Optional ones are dropped, too. */
export const IGNORED: ReadonlyMap<string, number> = new Map([
  ...words(
    'documentclass usepackage label vspace hspace pagestyle thispagestyle bibliographystyle bibliography input include pagenumbering ' +
      'graphicspath hypersetup index setmainfont setsansfont setmonofont color vskip hskip hypertarget phantom vphantom hphantom pdfbookmark ' +
      'PassOptionsToPackage RequirePackage cline cmidrule noalign geometry lstset selectlanguage glsadd nocite newlength linespread ' +
      'newcounter stepcounter refstepcounter theoremstyle allowdisplaybreaks real includeonly hyphenation',
    1,
  ),
  ...words(
    'setlength addtolength setcounter addtocounter newtheorem DeclareMathOperator textcolor@ resizebox@ captionsetup fontsize rule',
    2,
  ),
  ...words('addcontentsline definecolor newenvironment renewenvironment', 3),
  ...words(
    'hline toprule midrule bottomrule centering raggedright raggedleft noindent indent tableofcontents listoffigures listoftables newpage ' +
      'clearpage cleardoublepage pagebreak linebreak nopagebreak smallskip medskip bigskip vfill hfill appendix frontmatter mainmatter ' +
      'backmatter tightlist strut arraybackslash protect relax maketitle@ tiny scriptsize footnotesize small normalsize large Large LARGE huge ' +
      'Huge makeatletter makeatother leavevmode nobreak sloppy fussy onecolumn twocolumn samepage ignorespaces unskip boldmath printbibliography',
    0,
  ),
])

/** Arguments in front of the one that is text. */
export const LAST_IS_TEXT: ReadonlyMap<string, number> = new Map([
  ...words('textcolor colorbox foreignlanguage raisebox hyperref@ hyperlink scalebox rotatebox parbox makebox@ texorpdfstring@', 1),
  ...words('resizebox', 2),
])

/** Environments by the number of arguments that are no text. */
export const ENVIRONMENT_ARGUMENTS: ReadonlyMap<string, number> = new Map([
  ...words(
    'minipage thebibliography multicols adjustbox wrapfigure@ tabular longtable tabu array@ otherlanguage subfigure supertabular',
    1,
  ),
  ...words('tabularx tabular* tabulary wrapfigure', 2),
])
export const TABLES = new Set(['tabular', 'tabular*', 'tabularx', 'tabulary', 'longtable', 'tabu', 'supertabular'])
export const VERBATIM = new Set(['verbatim', 'verbatim*', 'Verbatim', 'lstlisting', 'minted', 'alltt', 'Highlighting', 'code'])
export const MATHS = new Set(
  'equation equation* align align* alignat alignat* gather gather* multline multline* eqnarray eqnarray* math displaymath flalign flalign*'.split(
    ' ',
  ),
)
export const QUOTES = new Set(['quote', 'quotation', 'verse', 'displayquote'])

function words(list: string, value: number): [string, number][] {
  return list.split(' ').map((word) => [word, value])
}
