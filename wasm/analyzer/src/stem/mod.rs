//! Stemmers by language: Snowball algorithms from the crate rust-stemmers, and `polish` for Polish. A word is
//! stemmed only if all its letters belong to the script of the algorithm. Names, identifiers and numbers are
//! unchanged.

mod polish;

use rust_stemmers::{Algorithm, Stemmer as Snowball};
use std::borrow::Cow;

/// Longer words are identifiers or noise. No word in the dictionaries of the 18 languages is longer,
/// including compounds.
const WORD_BYTES_MAX: usize = 96;

pub struct Stemmer {
    script: Script,
    algorithm: Option<Snowball>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    None,
    Latin,
    Polish,
    Cyrillic,
    Arabic,
    Tamil,
}

impl Stemmer {
    pub const fn none() -> Self {
        Self { script: Script::None, algorithm: None }
    }

    pub fn of(code: &str) -> Self {
        let (script, algorithm) = match code {
            "en" => (Script::Latin, Algorithm::English),
            "pl" => return Self { script: Script::Polish, algorithm: None },
            "de" => (Script::Latin, Algorithm::German),
            "fr" => (Script::Latin, Algorithm::French),
            "es" => (Script::Latin, Algorithm::Spanish),
            "it" => (Script::Latin, Algorithm::Italian),
            "pt" => (Script::Latin, Algorithm::Portuguese),
            "nl" => (Script::Latin, Algorithm::Dutch),
            "ru" => (Script::Cyrillic, Algorithm::Russian),
            "sv" => (Script::Latin, Algorithm::Swedish),
            "no" => (Script::Latin, Algorithm::Norwegian),
            "da" => (Script::Latin, Algorithm::Danish),
            "fi" => (Script::Latin, Algorithm::Finnish),
            "hu" => (Script::Latin, Algorithm::Hungarian),
            "ro" => (Script::Latin, Algorithm::Romanian),
            "tr" => (Script::Latin, Algorithm::Turkish),
            "ar" => (Script::Arabic, Algorithm::Arabic),
            "ta" => (Script::Tamil, Algorithm::Tamil),
            _ => return Self::none(),
        };
        Self { script, algorithm: Some(Snowball::create(algorithm)) }
    }

    /// The stem of a normalized word, or the word itself if no rule applies. Never empty for a non-empty
    /// word.
    pub fn stem<'a>(&self, word: &'a str) -> Cow<'a, str> {
        if word.len() > WORD_BYTES_MAX || !self.script.wrote(word) {
            return Cow::Borrowed(word);
        }
        let stem = match &self.algorithm {
            Some(snowball) => snowball.stem(word),
            None => polish::stem(word),
        };
        if stem.is_empty() {
            Cow::Borrowed(word)
        } else {
            stem
        }
    }
}

impl Script {
    fn wrote(self, word: &str) -> bool {
        let range = match self {
            Self::None => return false,
            Self::Latin | Self::Polish => return word.chars().all(|letter| matches!(letter, 'a'..='z' | '\u{df}'..='\u{24f}')),
            Self::Cyrillic => 0x430..=0x45f,
            Self::Arabic => 0x620..=0x652,
            Self::Tamil => 0xb80..=0xbe5,
        };
        word.chars().all(|letter| range.contains(&(letter as u32)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::languages::CODES;

    /// Small deterministic generator, so that a failure can be reproduced from its seed.
    fn next(state: &mut u64) -> u64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state
    }

    #[test]
    fn no_word_of_its_alphabet_makes_a_stemmer_panic() {
        let alphabets = [
            ("en de fr es it pt nl sv no da fi hu ro tr pl", "aeiouyäöåéèßñçığşüszxtnrlmbcdfghjkpqvwąęłóśźżćńîâțșőűæø"),
            ("ru", "абвгдежзийклмнопрстуфхцчшщъыьэюяё"),
            ("ar", "ابتثجحخدذرزسشصضطظعغفقكلمنهويءآأؤإئةىًٌٍَُِّْ"),
            ("ta", "அஆஇஈஉஊஎஏஐஒஓகஙசஞடணதநபமயரலவழளறன்ாிீுூெேைொோௌ"),
        ];
        for (codes, alphabet) in alphabets {
            let letters: Vec<char> = alphabet.chars().collect();
            for code in codes.split(' ') {
                assert!(CODES.contains(&code));
                let stemmer = Stemmer::of(code);
                let mut state = 0x5eed_0000 + code.len() as u64;
                for round in 0..200_000u32 {
                    let length = 1 + next(&mut state) % 12;
                    let word: String = (0..length).map(|_| letters[(next(&mut state) % letters.len() as u64) as usize]).collect();
                    let stem = stemmer.stem(&word);
                    assert!(!stem.is_empty() && stem.len() <= word.len() + 4, "{code} round {round}: {word} -> {stem}");
                    assert!(matches!(code, "pl" | "tr") || begins_alike(&word, &stem), "{code} round {round}: {word} -> {stem}");
                }
            }
        }
    }

    /// The property that `Analyzer::look_for` requires: leading ASCII letters are unchanged, except for `y`
    /// and `i` and a doubled first letter.
    fn begins_alike(word: &str, stem: &str) -> bool {
        if word.as_bytes().first() == word.as_bytes().get(1) {
            return word.as_bytes().first() == stem.as_bytes().first();
        }
        let as_one = |byte: u8| if byte == b'y' { b'i' } else { byte };
        word.bytes()
            .zip(stem.bytes())
            .take(2)
            .take_while(|(letter, _)| letter.is_ascii())
            .all(|(letter, kept)| as_one(letter) == as_one(kept))
    }

    #[test]
    fn irregular_words_begin_as_their_stems_do() {
        for word in
            "skis skies dying lying tying idly gently ugly early only singly sky news howe atlas cosmos bias andes inning outing".split(' ')
        {
            assert!(begins_alike(word, &Stemmer::of("en").stem(word)), "{word}");
        }
    }

    #[test]
    fn words_of_another_script_pass_unchanged() {
        assert_eq!(Stemmer::of("en").stem("книги"), "книги");
        assert_eq!(Stemmer::of("ru").stem("running"), "running");
        assert_eq!(Stemmer::of("en").stem("x86s"), "x86s");
        assert_eq!(Stemmer::of("en").stem(&"ings".repeat(40)), "ings".repeat(40));
    }
}
