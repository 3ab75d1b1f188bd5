//! Classifies characters beyond ASCII for the tokenizer. Decodes UTF-8 without errors: invalid bytes separate
//! tokens.

use unicode_normalization::char::is_combining_mark;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Letter or digit of a script with spaces between words.
    Letter,
    /// Combining mark: continues a word but does not start one.
    Mark,
    /// Soft hyphen or zero-width character: part of the word around it, but omitted from the term.
    Ignorable,
    /// Character of a script without spaces between words (Chinese, Japanese, Korean, Thai, Lao, Khmer,
    /// Burmese).
    Unspaced,
    Other,
}

/// Returns the character at `at` and its length in bytes, or `None` if the bytes are not valid UTF-8.
pub fn decode(bytes: &[u8], at: usize) -> Option<(char, usize)> {
    let first = *bytes.get(at)?;
    let length = match first {
        0x00..=0x7f => return Some((first as char, 1)),
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return None,
    };
    let text = core::str::from_utf8(bytes.get(at..at + length)?).ok()?;
    text.chars().next().map(|character| (character, length))
}

pub fn kind(character: char) -> Kind {
    let code = character as u32;
    match code {
        0xd7 | 0xf7 => Kind::Other,
        0xc0..=0x24f | 0x400..=0x481 | 0x48a..=0x52f | 0x391..=0x3a1 | 0x3a3..=0x3ff => Kind::Letter,
        0xad | 0x180e | 0x200b..=0x200d | 0x2060 | 0xfeff => Kind::Ignorable,
        0x2000..=0x206f => Kind::Other,
        // Most Chinese, Japanese and Korean text, before the general check.
        0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xac00..=0xd7a3 | 0x3041..=0x3096 | 0x30a1..=0x30fa => Kind::Unspaced,
        _ if is_unspaced(code) => {
            if character.is_alphanumeric() || is_combining_mark(character) {
                Kind::Unspaced
            } else {
                Kind::Other
            }
        }
        _ if character.is_alphanumeric() => Kind::Letter,
        _ if is_combining_mark(character) => Kind::Mark,
        _ => Kind::Other,
    }
}

/// Combining mark, or the vowel or final consonant of a decomposed Korean syllable: belongs to the preceding
/// character.
pub fn is_tail(character: char) -> bool {
    let code = character as u32;
    match code {
        0..=0x2ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xac00..=0xd7a3 | 0x3041..=0x3096 | 0x30a1..=0x30fa => false,
        // Vowels and final consonants; voicing marks of half-width kana.
        0x1160..=0x11ff | 0xff9e | 0xff9f => true,
        _ => is_combining_mark(character),
    }
}

pub fn is_han(character: char) -> bool {
    matches!(character as u32, 0x3005..=0x3007 | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x3fffd)
}

fn is_unspaced(code: u32) -> bool {
    matches!(
        code,
        0x0e00..=0x0eff   // Thai, Lao
        | 0x1000..=0x109f // Burmese
        | 0x1100..=0x11ff // Hangul jamo
        | 0x1780..=0x17ff // Khmer
        | 0x3005..=0x3007 | 0x3041..=0x31ff // kana, bopomofo, compatibility jamo
        | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x3fffd
        | 0xa960..=0xa97f | 0xac00..=0xd7ff // Hangul
        | 0xff66..=0xff9f // half-width katakana
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_by_example() {
        for (character, expected) in [
            ('é', Kind::Letter),
            ('ж', Kind::Letter),
            ('ß', Kind::Letter),
            ('٣', Kind::Letter),
            ('ª', Kind::Letter),
            ('\u{301}', Kind::Mark),
            ('\u{bcd}', Kind::Mark),
            ('\u{ad}', Kind::Ignorable),
            ('\u{200d}', Kind::Ignorable),
            ('中', Kind::Unspaced),
            ('カ', Kind::Unspaced),
            ('한', Kind::Unspaced),
            ('ไ', Kind::Unspaced),
            ('。', Kind::Other),
            ('’', Kind::Other),
            ('×', Kind::Other),
            ('😀', Kind::Other),
        ] {
            assert_eq!(kind(character), expected, "{character:?}");
        }
    }

    #[test]
    fn bytes_that_are_no_utf8_decode_to_nothing() {
        for bytes in [&b"\x80"[..], b"\xc0\x80", b"\xe2\x80", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xff"] {
            assert_eq!(decode(bytes, 0), None, "{bytes:?}");
        }
    }
}
