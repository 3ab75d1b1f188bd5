/**
 * What makes a new password easy to guess: it is short, it is the username, or it is one of the most used.
 * Those are not listed one by one: they are a common word, once or more, in any case, with digits in place of
 * letters and with digits and signs around it, or a walk along the alphabet, the digits or one key. In
 * production a weak password is refused, elsewhere it is a warning. Pure; any thread.
 */
import { PASSWORD_BYTES_MAX, PASSWORD_CHARS_MIN_PRODUCTION } from '../limits/access.js'
import { COMMON_WORDS } from './common_words.js'

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
