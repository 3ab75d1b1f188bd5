//! The form of a word without its accents. Documents are indexed under both forms. A query without accents
//! finds both, and a query with accents finds only the accented form. Rules: docs/decisions on analysis.

use unicode_normalization::char::decompose_canonical;

/// Returns whether a written word may have another form without accents. A fast check of its bytes without
/// false negatives. It covers Latin letters with accents, Greek, combining accents, the sign Å and other
/// letter-like signs, the Cyrillic ё, and entities.
pub fn may_fold(word: &[u8]) -> bool {
    word.iter().any(|byte| matches!(byte, b'&' | 0xc3..=0xcf | 0xe1 | 0xe2 | 0xea)) || has_yo(word)
}

/// Returns whether the word contains ё, which Russian may also write as е.
pub fn has_yo(word: &[u8]) -> bool {
    word.windows(2).any(|pair| pair == "Ё".as_bytes() || pair == "ё".as_bytes())
}

/// Replaces `out` with the accent-free form of a normalized word. Returns false if the word has no other
/// form.
pub fn fold(word: &str, is_german: bool, out: &mut String) -> bool {
    out.clear();
    for letter in word.chars() {
        match letter {
            '\u{300}'..='\u{36f}' => {}
            'ä' if is_german => out.push_str("ae"),
            'ö' if is_german => out.push_str("oe"),
            'ü' if is_german => out.push_str("ue"),
            'æ' => out.push_str("ae"),
            'œ' => out.push_str("oe"),
            'þ' => out.push_str("th"),
            'ø' => out.push('o'),
            'đ' | 'ð' => out.push('d'),
            'ł' => out.push('l'),
            'ħ' => out.push('h'),
            'ı' => out.push('i'),
            'ŧ' => out.push('t'),
            'ё' => out.push('е'),
            '\u{e0}'..='\u{24f}' | '\u{370}'..='\u{3ff}' | '\u{1e00}'..='\u{1fff}' => decompose_canonical(letter, |part| {
                if !matches!(part, '\u{300}'..='\u{36f}') {
                    out.push(part);
                }
            }),
            _ => out.push(letter),
        }
    }
    !out.is_empty() && out != word
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalise::normalise;

    #[test]
    fn accents_go_and_letters_stay() {
        for (word, is_german, expected) in [
            ("café", false, "cafe"),
            ("łódź", false, "lodz"),
            ("münchen", false, "munchen"),
            ("münchen", true, "muenchen"),
            ("smørrebrød", false, "smorrebrod"),
            ("sœur", false, "soeur"),
            ("ışık", false, "isik"),
            ("tiếng", false, "tieng"),
            ("ёлка", false, "елка"),
            ("за\u{301}мок", false, "замок"),
            ("άνθρωπος", false, "ανθρωπος"),
            ("ἄνθρωπος", false, "ανθρωπος"),
        ] {
            let mut out = String::new();
            assert!(may_fold(word.as_bytes()) && fold(word, is_german, &mut out), "{word}");
            assert_eq!(out, expected);
        }
    }

    #[test]
    fn what_has_no_accents_has_no_second_form() {
        for word in ["cafe", "йод", "їжак", "கோ", "ไทย", "كتاب", "中文"] {
            assert!(!fold(word, false, &mut String::new()), "{word}");
        }
    }

    #[test]
    fn the_quick_look_misses_nothing() {
        for letter in '\u{80}'..='\u{ffff}' {
            let mut word = String::new();
            normalise(letter.to_string().as_bytes(), false, &mut word);
            if fold(&word, true, &mut String::new()) {
                assert!(may_fold(letter.to_string().as_bytes()), "{letter:?}");
            }
        }
    }
}
