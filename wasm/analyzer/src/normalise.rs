//! From a word as it is written to the form that is indexed: entities decoded, lower case, composed letters,
//! ligatures and other forms made for typesetting as the letters they stand for, no soft hyphens, zero-width
//! characters or Arabic vowel marks. Rules: docs/decisions on analysis.

use crate::characters::{decode, kind, Kind};
use crate::markdown::entity;
use unicode_normalization::char::decompose_compatible;
use unicode_normalization::{is_nfc_quick, is_nfkc_quick, IsNormalized, UnicodeNormalization};

/// Longest term; docs/formats/packed-tokens.md.
pub const TERM_BYTES_MAX: usize = 255;

/// Replaces `out` by the normalised form of `word` (one run of letters, marks, ignorables and entities of
/// letters), cut to `TERM_BYTES_MAX`.
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

/// Whether Unicode calls it a form of other characters: ligatures, superscripts, full and half width, letters
/// of formulas, Arabic forms by place.
fn is_variant(character: char) -> bool {
    // Thai and Lao vowel signs and lone Korean letters are taken apart by Unicode, but by nobody who writes
    // them.
    let stays = matches!(character as u32, 0..=0xa9 | 0xe00..=0xeff | 0x3131..=0x318e);
    !stays && is_nfkc_quick(core::iter::once(character)) == IsNormalized::No
}

/// The letters and digits that a variant stands for; itself where it stands for anything else, such as a
/// fraction with its stroke.
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
        // Soft hyphen and zero-width characters; then Arabic tatweel, which stretches a word, and harakat,
        // which vocalise it: writers leave them out or not as they like.
        '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{640}' | '\u{64b}'..='\u{652}' | '\u{670}' => {}
        'I' if is_turkish => out.push('ı'),
        'İ' => out.push('i'),
        'ς' => out.push('σ'),
        // Case folding, as Unicode has it: in capitals it is SS.
        'ß' | 'ẞ' => out.push_str("ss"),
        _ => out.extend(character.to_lowercase()),
    }
}

/// Shortens `text` to at most `bytes` bytes, at a character.
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
