//! Converts a written word to its indexed form. Entities are decoded, letters are lower-cased and composed,
//! and ligatures and other typographic forms are replaced by their letters. Soft hyphens, zero-width
//! characters and Arabic vowel marks are removed. Rules: docs/decisions on analysis.

use crate::characters::{decode, kind, Kind};
use crate::markdown::entity;
use unicode_normalization::char::decompose_compatible;
use unicode_normalization::{is_nfc_quick, is_nfkc_quick, IsNormalized, UnicodeNormalization};

/// Maximum length of a term: docs/formats/packed-tokens.md.
pub const TERM_BYTES_MAX: usize = 255;

/// Replaces `out` with the normalized form of `word`, truncated to `TERM_BYTES_MAX`. `word` is one run of
/// letters, marks, ignorables and letter entities.
pub fn normalise(word: &[u8], is_turkish: bool, out: &mut String) {
    out.clear();
    let mut at = 0;
    while at < word.len() {
        let (character, length) = match entity::letter(word, at) {
            Some(found) => found,
            None => decode(word, at).unwrap_or(('\u{fffd}', 1)),
        };
        at += length;
        if is_variant(character) {
            push_letters_of(character, is_turkish, out);
        } else {
            push_lower(character, is_turkish, out);
        }
    }
    if is_nfc_quick(out.chars()) != IsNormalized::Yes {
        let composed: String = out.nfc().collect();
        *out = composed;
    }
    cut(out, TERM_BYTES_MAX);
}

/// Returns whether Unicode defines the character as a variant of other characters: ligatures, superscripts,
/// full and half width, mathematical letters, positional Arabic forms.
fn is_variant(character: char) -> bool {
    // Unicode decomposes Thai and Lao vowel signs and single Korean letters, but no writer does.
    let stays = matches!(character as u32, 0..=0xa9 | 0xe00..=0xeff | 0x3131..=0x318e);
    !stays && is_nfkc_quick(core::iter::once(character)) == IsNormalized::No
}

/// Appends the letters and digits of a variant. Appends the variant itself if it decomposes to anything else,
/// such as a fraction with its slash.
fn push_letters_of(variant: char, is_turkish: bool, out: &mut String) {
    let begin = out.len();
    decompose_compatible(variant, |part| push_lower(part, is_turkish, out));
    if out.get(begin..).is_some_and(|parts| parts.chars().any(|part| kind(part) == Kind::Other && !part.is_ascii_alphanumeric())) {
        out.truncate(begin);
        push_lower(variant, is_turkish, out);
    }
}

fn push_lower(character: char, is_turkish: bool, out: &mut String) {
    match character {
        // Soft hyphen and zero-width characters; Arabic tatweel, which stretches a word; harakat, which
        // vocalize it. Writers use them optionally.
        '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{640}' | '\u{64b}'..='\u{652}' | '\u{670}' => {}
        'I' if is_turkish => out.push('ı'),
        'İ' => out.push('i'),
        'ς' => out.push('σ'),
        // Unicode case folding. The upper-case form is SS.
        'ß' | 'ẞ' => out.push_str("ss"),
        _ => out.extend(character.to_lowercase()),
    }
}

/// Truncates `text` to at most `bytes` bytes at a character boundary.
pub fn cut(text: &mut String, bytes: usize) {
    if text.len() > bytes {
        let end = (0..=bytes).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
        text.truncate(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalised(word: &str, is_turkish: bool) -> String {
        let mut out = String::new();
        normalise(word.as_bytes(), is_turkish, &mut out);
        out
    }

    #[test]
    fn forms_of_one_word_become_one_term() {
        for (word, expected) in [
            ("É", "é"),
            ("e\u{301}", "é"),
            ("E\u{301}", "é"),
            ("a\u{323}\u{302}", "ậ"),
            ("co\u{ad}oper\u{200b}ate", "cooperate"),
            ("ΟΔΟΣ", "οδοσ"),
            ("οδος", "οδοσ"),
            ("İstanbul", "istanbul"),
            ("ＡＢＣ１", "abc1"),
            ("كِتَـاب", "كتاب"),
            ("caf&eacute;s", "cafés"),
            ("&Uuml;ber", "über"),
            ("Straße", "strasse"),
            ("STRASSE", "strasse"),
            ("ﬁnal", "final"),
            ("eﬃcient", "efficient"),
            ("Ĳssel", "ijssel"),
            ("x²", "x2"),
            ("CO₂", "co2"),
            ("½", "½"),
            ("Å", "å"),
            ("µm", "μm"),
            ("𝐁old", "bold"),
            ("ſee", "see"),
            ("ﻛﺘﺎﺏ", "كتاب"),
            ("ｶﾞ", "ガ"),
            ("ำ", "ำ"),
            ("ﷺ", "ﷺ"),
        ] {
            assert_eq!(normalised(word, false), expected, "{word}");
        }
    }

    #[test]
    fn turkish_has_two_letters_i() {
        assert_eq!(normalised("ISPARTA", true), "ısparta");
        assert_eq!(normalised("İzmir", true), "izmir");
    }

    #[test]
    fn a_long_word_is_cut_at_a_character() {
        let long = normalised(&"é".repeat(200), false);
        assert_eq!(long.len(), 254);
        assert_eq!(normalised("ـــ", false), "");
    }
}
