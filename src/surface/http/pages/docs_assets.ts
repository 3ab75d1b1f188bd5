/**
 * Style and script of the reference page. They are constants, so that the page's Content-Security-Policy can
 * list their hashes and allow nothing else.
 */
export const DOCS_STYLE = `
:root { color-scheme: light dark; --ink: #1c2024; --dim: #60646c; --line: #e0e3e8; --paper: #fff; --soft: #f6f7f9; --accent: #0b68cb; --get: #0a7f4f; --post: #0b68cb; --patch: #a15c07; --delete: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --dim: #9ba1a6; --line: #2c3136; --paper: #131518; --soft: #1b1e22; --accent: #6cb2ff; --get: #4cc38a; --post: #6cb2ff; --patch: #f1a10d; --delete: #ff8f87; } }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; }
body { margin: 0; display: grid; grid-template-columns: 20rem minmax(0, 1fr); font: 15px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.25rem 1rem; border-right: 1px solid var(--line); background: var(--soft); font-size: 13.5px; }
nav h2 { margin: 1.1rem 0 .25rem; font-size: 12px; color: var(--dim); text-transform: uppercase; letter-spacing: .05em; }
nav .head { position: sticky; top: -1.25rem; margin: -1.25rem -1rem .5rem; padding: 1rem; background: var(--soft); display: flex; gap: .5rem; }
nav input { flex: 1; min-width: 0; font: inherit; padding: .4rem .6rem; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: 6px; }
#menu { display: none; }
nav a .method { flex: none; width: 3.6rem; text-align: center; font-size: 10px; padding: .05rem 0; }
[hidden] { display: none !important; }
nav a { display: flex; gap: .45rem; align-items: baseline; padding: .12rem .4rem; border-radius: 4px; color: inherit; text-decoration: none; overflow-wrap: anywhere; }
nav a:hover, nav a:focus-visible { background: var(--line); }
main { max-width: 62rem; padding: 1.5rem 2.5rem 5rem; }
h1 { font-size: 1.6rem; margin: 0 0 .5rem; }
section { border-top: 1px solid var(--line); padding: 1.6rem 0 .4rem; }
section h3 { margin: 0; font-size: 1.05rem; display: flex; flex-wrap: wrap; gap: .6rem; align-items: baseline; }
code, pre, textarea { font: 13px/1.5 ui-monospace, monospace; }
.method { font: 600 12px ui-monospace, monospace; padding: .1rem .45rem; border: 1px solid currentColor; border-radius: 4px; }
.GET { color: var(--get); } .POST { color: var(--post); } .PATCH, .PUT { color: var(--patch); } .DELETE { color: var(--delete); }
p { margin: .4rem 0 .8rem; } .dim { color: var(--dim); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; margin: .3rem 0 1rem; font-size: 14px; }
th { text-align: left; font-weight: 600; color: var(--dim); font-size: 12.5px; } th, td { padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td:first-child { white-space: nowrap; } .depth1 td:first-child { padding-left: 1rem; } .depth2 td:first-child { padding-left: 2rem; } .depth3 td:first-child { padding-left: 3rem; } a { color: var(--accent); } td a { text-decoration: none; } .required { color: var(--delete); font-size: 12px; }
pre { position: relative; margin: .3rem 0 1rem; padding: .7rem .9rem; background: var(--soft); border: 1px solid var(--line); border-radius: 6px; overflow-x: auto; }
textarea { width: 100%; min-height: 6rem; padding: .6rem; color: inherit; background: var(--soft); border: 1px solid var(--line); border-radius: 6px; }
button { font: inherit; font-size: 13px; padding: .2rem .8rem; color: var(--paper); background: var(--accent); border: 0; border-radius: 5px; cursor: pointer; }
button.copy { position: sticky; float: right; color: var(--dim); background: var(--line); padding: 0 .5rem; }
details { margin: 0 0 1rem; } summary { cursor: pointer; color: var(--accent); } .answer { max-height: 24rem; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
@media (max-width: 50rem) {
  html { scroll-padding-top: 4.5rem; }
  body { display: block; }
  nav { position: sticky; top: 0; z-index: 1; height: auto; padding: 0; border-right: 0; border-bottom: 1px solid var(--line); }
  nav .head { position: static; margin: 0; padding: .6rem 1rem; }
  nav input { font-size: 16px; }
  #menu { display: block; font-size: 15px; }
  #links { display: none; max-height: 65vh; overflow-y: auto; padding: 0 1rem 1rem; }
  nav.open #links { display: block; }
  nav a { padding: .45rem .4rem; }
  main { padding: 1rem; }
  table, thead, tbody, tr, th, td { display: block; }
  th:not(:first-child) { display: none; }
  tr { padding: .5rem 0; border-bottom: 1px solid var(--line); }
  td { padding: 0; border: 0; }
  td:first-child { white-space: normal; overflow-wrap: anywhere; }
  td:nth-child(2) { font-size: 13px; }
  .depth1 { padding-left: 1rem; } .depth2 { padding-left: 2rem; } .depth3 { padding-left: 3rem; } .depth1 td:first-child, .depth2 td:first-child, .depth3 td:first-child { padding-left: 0; }
  section h3 code { overflow-wrap: anywhere; }
}
`

export const DOCS_SCRIPT = `
document.addEventListener('click', async (event) => {
  const button = event.target
  if (button.matches('button.copy')) {
    await navigator.clipboard.writeText(button.parentElement.querySelector('code').textContent)
    button.textContent = 'copied'
  }
  if (button.matches('button.send')) {
    const form = button.closest('details')
    const answer = form.querySelector('.answer')
    const { method, path } = form.dataset
    const text = form.querySelector('textarea').value
    const options = method === 'GET' ? {} : { method, body: text, headers: { 'content-type': 'application/json' } }
    const url = method === 'GET' && text.trim() !== '' ? path + '?' + text.trim() : path
    answer.hidden = false
    try {
      const response = await fetch(url, options)
      const body = await response.text()
      let shown = body
      try { shown = JSON.stringify(JSON.parse(body), null, 2) } catch { shown = body }
      answer.textContent = response.status + ' ' + response.statusText + '\\n' + shown.slice(0, 100000)
    } catch (problem) {
      answer.textContent = String(problem)
    }
  }
})
const nav = document.querySelector('nav')
const menu = document.getElementById('menu')
const find = document.getElementById('find')
function open(isOpen) {
  nav.classList.toggle('open', isOpen)
  menu.setAttribute('aria-expanded', String(isOpen))
}
menu.addEventListener('click', () => open(!nav.classList.contains('open')))
document.getElementById('links').addEventListener('click', (event) => { if (event.target.closest('a')) open(false) })
find.addEventListener('focus', () => open(true))
find.addEventListener('input', () => {
  const words = find.value.toLowerCase().split(/\\s+/).filter((word) => word !== '')
  let found = 0
  for (const item of document.querySelectorAll('[data-find]')) {
    item.hidden = !words.every((word) => item.dataset.find.includes(word))
    if (!item.hidden) found++
  }
  for (const group of document.querySelectorAll('.group')) group.hidden = group.querySelector('[data-find]:not([hidden])') === null
  document.getElementById('none').hidden = found > 0
})
for (const example of document.querySelectorAll('code.curl')) example.textContent = example.textContent.replaceAll('{base_url}', location.origin)
`
