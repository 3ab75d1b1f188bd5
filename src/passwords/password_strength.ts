/**
 * What makes a new password easy to guess: it is short, it is the username, or it is one of the most used.
 * Those are not listed one by one: they are a common word, once or more, in any case, with digits in place of
 * letters and with digits and signs around it, or a walk along the alphabet, the digits or one key. In
 * production a weak password is refused, elsewhere it is a warning. Pure; any thread.
 */
import { PASSWORD_BYTES_MAX } from '../limits/access.js'

/** Characters that a new password needs in production. Otherwise it must not be empty. */
const PASSWORD_CHARS_MIN_PRODUCTION = 12

/** Signs that are typed for a letter. */
const LETTER_OF: Readonly<Record<string, string>> = {
  '0': 'o', '1': 'i', '!': 'i', '3': 'e', '4': 'a', '@': 'a', '5': 's', '$': 's', '7': 't', '8': 'b', '9': 'g',
} // prettier-ignore
/** Digits and signs before and behind a word, as in `Password2024!`. */
const AROUND = /^[\d\W_]+|[\d\W_]+$/gu
/** Digits in a row of the keyboard count as neighbours, also 9 and 0. */
const ROWS = ['0123456789012345678901234567890123456789', 'abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz']

/** @returns why the password is weak, without the password; null if it is not weak */
export function weaknessOf(password: string, username: string): string | null {
  if (password.toLowerCase() === username.toLowerCase()) return 'it is the username'
  if ([...password].length < PASSWORD_CHARS_MIN_PRODUCTION) return `at least ${PASSWORD_CHARS_MIN_PRODUCTION} characters are needed`
  return isCommon(password) ? 'it is one of the most used passwords' : null
}

export function isCommon(password: string): boolean {
  const text = password.slice(0, PASSWORD_BYTES_MAX).toLowerCase()
  if (isWalk(text)) return true
  const bare = text.replaceAll(AROUND, '')
  // Digits are letters within the word, and may be so at its ends.
  return [bare, text, text.replace(/[\d\W_]+$/u, '')].some((form) => isOfCommonWords(lettersOf(form)))
}

function lettersOf(text: string): string {
  return [...text].map((sign) => LETTER_OF[sign] ?? sign).join('').replaceAll(/[\W\d_]/gu, '') // prettier-ignore
}

/** Whether the text is one common word, or the same one again and again. */
function isOfCommonWords(letters: string): boolean {
  if (letters === '') return false
  for (let length = 1; length <= letters.length; length++) {
    if (letters.length % length !== 0) continue
    const word = letters.slice(0, length)
    if (COMMON_WORDS.has(word) && word.repeat(letters.length / length) === letters) return true
  }
  return false
}

/** One sign or group of four signs again and again, or signs in their order, forwards or backwards. */
function isWalk(text: string): boolean {
  for (let length = 1; length <= 4; length++) {
    const group = text.slice(0, length)
    if (text.length > length && group.repeat(Math.ceil(text.length / length)).startsWith(text)) return true
  }
  const backwards = [...text].reverse().join('')
  return text.length > 3 && ROWS.some((row) => row.includes(text) || row.includes(backwards))
}

/**
 * Words from which the most used passwords are made: names, affections, games, keyboard walks, defaults of
 * devices. The list was written for this server from well-known patterns. Lower case, without digits in place
 * of letters.
 */
const COMMON_WORDS: ReadonlySet<string> = new Set(
  `
  password passwort passwd passphrase motdepasse contrasena parola haslo wachtwoord senha salasana heslo
  admin administrator root toor user guest test tester testing demo default login logon master superuser
  welcome willkommen bienvenue letmein letmeinnow openup access secret secrets private changeme changeit
  changethis temporary temp sample example unknown nothing whatever blank none null empty
  server database backup service system network router cisco oracle mysql postgres redis mongo elastic
  company office internet computer laptop windows linux ubuntu debian apple google facebook amazon github
  qwerty qwertz azerty qwertyui qwertyuiop qwertzuiop azertyuiop asdf asdfgh asdfghjkl zxcv zxcvbn zxcvbnm
  yxcvbnm poiuytrewq lkjhgfdsa mnbvcxz qazwsx qazwsxedc zaqxsw wsxedc qweasd qweasdzxc asdzxc poiuy
  abc abcd abcde abcdef abcdefg abcdefgh abcdefghijkl abcdefghijklmnopqrstuvwxyz xyz xyzzy aabbcc abcabc
  iloveyou iloveu loveyou loveme lovely lover loves love ilove mylove forever always together hello helloworld
  princess prince king queen angel angels baby babygirl babyboy sweetie sweetheart honey darling cutie beautiful
  sunshine moonlight starlight rainbow flower flowers butterfly diamond crystal silver golden summer winter
  autumn spring monday tuesday wednesday thursday friday saturday sunday january february march april june july
  august september october november december christmas birthday holiday
  dragon monkey tiger lion eagle falcon panther wolf bear horse dolphin shark snake phoenix unicorn kitty puppy
  doggy banana orange cookie chocolate cheese coffee pepper ginger cinnamon peanut butter pizza burger
  football soccer baseball basketball hockey tennis golf rugby cricket running racing player winner champion
  superman batman spiderman ironman pokemon pikachu naruto starwars startrek matrix gandalf hobbit zelda mario
  minecraft fortnite warcraft counterstrike playstation nintendo xbox gamer gaming hunter killer ninja samurai
  pirate wizard magic merlin shadow ghost demon devil lucifer hell heaven jesus christ god bless blessed faith
  trustno trustnoone nobody someone anybody everybody stupid idiot fuckyou fuckoff asshole bitch shit sexy hottie
  michael michelle jennifer jessica jordan ashley amanda daniel andrew anthony thomas robert william richard
  charlie matthew joshua nicholas alexander christopher elizabeth victoria samantha stephanie nicole natasha
  maria anna peter paul john george david joseph martin stefan andreas julia laura sarah sophie emma lucas
  mercedes ferrari porsche bmw audi toyota honda harley yamaha mustang corvette camaro
  barcelona realmadrid liverpool arsenal chelsea juventus manchester yankees cowboys lakers steelers
  germany france england america canada australia london paris berlin newyork california texas
  blink metallica nirvana slipknot eminem beatles rockstar guitar music dancer
  freedom liberty peace victory power energy future destiny spirit dreams dreamer lucky money dollar million
  `
    .trim()
    .split(/\s+/),
)
