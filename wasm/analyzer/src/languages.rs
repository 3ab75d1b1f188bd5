//! The languages by number. The order is part of the interface with src/engine/text/languages.ts. A profile
//! is a language with stemming on or off.

use crate::stem::Stemmer;
use crate::stop_words::STOP_WORDS;

/// Base codes in the order of their numbers. The last three have neither stop words nor a stemmer.
pub const CODES: [&str; 21] =
    ["en", "pl", "de", "fr", "es", "it", "pt", "nl", "ru", "sv", "no", "da", "fi", "hu", "ro", "tr", "ar", "ta", "zh", "ja", "ko"];

/// First profile number after those of the languages and of no language.
const CODE: u8 = 2 * CODES.len() as u8 + 2;

/// All language-dependent settings of a text.
pub struct Profile {
    /// Part of the lexicon key: 2 x language + stem.
    pub number: u8,
    pub stemmer: Stemmer,
    stop_words: &'static [&'static str],
    /// `I` and `İ` have their own lower-case forms.
    pub is_turkish: bool,
    /// `'s`, `n't` and similar suffixes are stop words.
    pub has_contractions: bool,
    /// The caller segments Han runs into words. Otherwise they become single characters and pairs.
    pub segments_han: bool,
    /// Umlauts are also written as two letters.
    pub is_german: bool,
    /// A word of ASCII letters and its term begin with the same letter, ignoring case.
    pub keeps_first_letter: bool,
}

impl Profile {
    /// `language` is an index into `CODES`. An unknown language has neither stop words nor a stemmer.
    pub fn new(language: u32, stems: bool) -> Self {
        let index = (language as usize).min(CODES.len());
        let code = CODES.get(index).copied().unwrap_or_default();
        Self {
            number: (index as u8) * 2 + u8::from(stems),
            stemmer: if stems { Stemmer::of(code) } else { Stemmer::none() },
            stop_words: STOP_WORDS.get(index).copied().unwrap_or_default(),
            is_turkish: code == "tr",
            has_contractions: code == "en",
            segments_han: code == "zh",
            is_german: code == "de",
            // Polish removes `naj`, and the lower-case form of a Turkish `I` is not an ASCII letter.
            keeps_first_letter: !matches!(code, "pl" | "tr"),
        }
    }

    /// For source code: no stop words, no stemming, only the common lower-case conversion. The language
    /// determines only how Han runs are segmented.
    pub fn of_code(language: u32) -> Self {
        let is_chinese = CODES.get(language as usize) == Some(&"zh");
        Self { segments_han: is_chinese, number: CODE + u8::from(is_chinese), ..Self::new(u32::MAX, false) }
    }

    pub fn is_stop_word(&self, word: &str) -> bool {
        self.stop_words.binary_search(&word).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_sorted_and_found() {
        for (language, list) in STOP_WORDS.iter().enumerate() {
            assert!(list.windows(2).all(|pair| pair[0] < pair[1]), "{}", CODES[language]);
            let profile = Profile::new(language as u32, true);
            assert!(list.iter().all(|word| profile.is_stop_word(word)));
            assert!(!profile.is_stop_word("zebra"));
        }
    }

    #[test]
    fn a_language_out_of_range_is_plain() {
        let profile = Profile::new(u32::MAX, true);
        assert!(!profile.is_stop_word("the"));
        assert_eq!(profile.stemmer.stem("running"), "running");
    }
}
