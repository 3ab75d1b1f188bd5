/**
 * The editor writes its rules into style elements while it runs. The page's policy admits only the styles
 * whose hash it lists, so the text of such an element becomes an adopted style sheet, which no policy is
 * about. Imported before everything else.
 */
const sheets = new WeakMap()

function sheetOf(element) {
  let sheet = sheets.get(element)
  if (sheet === undefined) {
    sheet = new CSSStyleSheet()
    sheets.set(element, sheet)
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
  }
  return sheet
}

const texts = new WeakMap()
const property = {
  configurable: true,
  get() {
    return texts.get(this) ?? ''
  },
  set(text) {
    texts.set(this, text)
    sheetOf(this).replaceSync(text)
  },
}
for (const name of ['textContent', 'innerText', 'innerHTML']) Object.defineProperty(HTMLStyleElement.prototype, name, property)

HTMLStyleElement.prototype.appendChild = function (node) {
  this.textContent += node.textContent
  return node
}
