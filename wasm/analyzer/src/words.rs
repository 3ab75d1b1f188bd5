//! Converts a range of the window to a term: where a word ends, what its lexicon key is, and which term a new
//! word produces.

use crate::characters::{decode, is_tail, kind, Kind};
use crate::fold::{fold, may_fold};
use crate::languages::Profile;
use crate::lexicon::{Lexicon, NOTHING, STOP};
use crate::markdown::entity;
use crate::normalise::{cut, normalise, TERM_BYTES_MAX};

/// Maximum bytes of one word as written. A longer run of letters becomes several words.
pub const WORD_BYTES_MAX: usize = 255;
/// Maximum bytes of one cluster of an unspaced script: base character and marks.
const CLUSTER_BYTES_MAX: usize = 24;
/// Profile number in the lexicon key for text that is neither stemmed nor a stop word: characters and words
/// of unspaced scripts.
const UNSPACED: u8 = u8::MAX;
/// Added to a profile's number for the accent-free form of a word.
const FOLDED: u8 = 0x40;

/// End of the word that begins at `at`, and whether it is all ASCII.
pub fn word_end(text: &[u8], at: usize, decodes_entities: bool) -> (usize, bool) {
    let stop = text.len().min(at + WORD_BYTES_MAX);
    let mut end = at;
    let mut is_ascii = true;
    while let Some(&byte) = text.get(end).filter(|_| end < stop) {
        let length = if byte.is_ascii_alphanumeric() {
            1
        } else if byte == b'&' && decodes_entities {
            is_ascii = false;
            entity::letter(text, end).map_or(0, |(_, length)| length)
        } else if byte >= 0x80 {
            continuation(text, end)
        } else {
            0
        };
        if length == 0 || end + length > stop {
            break;
        }
        is_ascii &= byte < 0x80;
        end += length;
    }
    (end, is_ascii)
}

/// Number of bytes of the character at `at` if it continues a word, else 0.
pub fn continuation(text: &[u8], at: usize) -> usize {
    match decode(text, at) {
        Some((character, length)) if matches!(kind(character), Kind::Letter | Kind::Mark | Kind::Ignorable) => length,
        _ => 0,
    }
}

/// End of the character of an unspaced script that begins at `at`, including its vowel signs, jamo and other
/// marks.
pub fn cluster_end(text: &[u8], at: usize) -> usize {
    let mut end = at + decode(text, at).map_or(1, |(_, length)| length);
    while let Some((character, length)) = decode(text, end) {
        if !is_tail(character) || end + length - at > CLUSTER_BYTES_MAX {
            break;
        }
        end += length;
    }
    end
}

/// Returns whether an unspaced character begins at `at`.
pub fn is_unspaced_at(text: &[u8], at: usize) -> bool {
    decode(text, at).is_some_and(|(character, _)| kind(character) == Kind::Unspaced)
}

/// End of an English contraction after a word (`'s`, `n't`, `'ll`), if one is at `at`.
pub fn contraction_end(text: &[u8], at: usize) -> Option<usize> {
    let begin = match text.get(at)? {
        b'\'' => at + 1,
        _ if text.get(at..at + 3)? == "’".as_bytes() => at + 3,
        _ => return None,
    };
    let rest = text.get(begin..)?;
    let length = rest.iter().take(3).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let suffix = rest.get(..length)?.to_ascii_lowercase();
    let is_contraction = matches!(suffix.as_slice(), b"s" | b"t" | b"d" | b"m" | b"ll" | b"re" | b"ve");
    (is_contraction && continuation(text, begin + length) == 0).then_some(begin + length)
}

/// Converts words to terms. Owns the scratch buffers, so that no token causes an allocation.
#[derive(Default)]
pub struct Words {
    lowered: Vec<u8>,
    normal: String,
    folded: String,
}

impl Words {
    /// Term of a word of any length. Returns `STOP` or `NOTHING` if it has no term.
    pub fn term(&mut self, lexicon: &mut Lexicon, profile: &Profile, word: &[u8], is_ascii: bool) -> u32 {
        if !is_ascii || profile.is_turkish {
            return self.look_up(lexicon, profile, word, profile.number);
        }
        let mut lowered = core::mem::take(&mut self.lowered);
        lowered.clear();
        lowered.extend(word.iter().map(u8::to_ascii_lowercase));
        let term = self.look_up(lexicon, profile, &lowered, profile.number);
        self.lowered = lowered;
        term
    }

    /// Term of a cluster, a pair of clusters or a segmented word of an unspaced script.
    pub fn unspaced_term(&mut self, lexicon: &mut Lexicon, profile: &Profile, word: &[u8]) -> u32 {
        self.look_up(lexicon, profile, word, UNSPACED)
    }

    /// Term of the accent-free form of the word. Returns `NOTHING` if there is none, `STOP` if it is a stop
    /// word.
    pub fn folded_term(&mut self, lexicon: &mut Lexicon, profile: &Profile, word: &[u8]) -> u32 {
        // A Turkish `I` has no dot. The missing dot is treated like a missing accent.
        if !(may_fold(word) || profile.is_turkish && word.contains(&b'I')) {
            return NOTHING;
        }
        let key = lexicon.key(word, profile.number | FOLDED);
        if let Some(term) = lexicon.find(&key, word) {
            return term;
        }
        normalise(word, profile.is_turkish, &mut self.normal);
        let term = if fold(&self.normal, profile.is_german, &mut self.folded) {
            core::mem::swap(&mut self.normal, &mut self.folded);
            cut(&mut self.normal, TERM_BYTES_MAX);
            self.stem(lexicon, profile)
        } else {
            NOTHING
        };
        lexicon.remember(&key, word, term);
        term
    }

    fn look_up(&mut self, lexicon: &mut Lexicon, profile: &Profile, word: &[u8], number: u8) -> u32 {
        let key = lexicon.key(word, number);
        if let Some(term) = lexicon.find(&key, word) {
            return term;
        }
        let term = self.resolve(lexicon, profile, word, number == UNSPACED);
        lexicon.remember(&key, word, term);
        term
    }

    /// Term of a word that is not in the lexicon yet. The slow path: runs once per distinct word.
    pub fn resolve(&mut self, lexicon: &mut Lexicon, profile: &Profile, word: &[u8], is_unspaced: bool) -> u32 {
        normalise(word, profile.is_turkish, &mut self.normal);
        if self.normal.is_empty() {
            return NOTHING;
        }
        if is_unspaced {
            return lexicon.intern(self.normal.as_bytes());
        }
        self.stem(lexicon, profile)
    }

    /// Term of the word in `normal`.
    fn stem(&mut self, lexicon: &mut Lexicon, profile: &Profile) -> u32 {
        if profile.is_stop_word(&self.normal) {
            return STOP;
        }
        let mut stem = profile.stemmer.stem(&self.normal);
        if stem.len() > TERM_BYTES_MAX {
            cut(stem.to_mut(), TERM_BYTES_MAX);
        }
        lexicon.intern(stem.as_bytes())
    }
}
