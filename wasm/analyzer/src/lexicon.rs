//! The instance's word cache: source word -> term. Lower-casing, stop words and stemming are computed once
//! per distinct word, not once per token. It persists across calls and contains words of all languages (the
//! profile is part of the key). Limits: `WORDS_MAX` and `BYTES_MAX`. A full lexicon must be emptied between
//! two records (`is_full`, `empty_if_full`). Results never depend on its contents or on its hash seed.

use crate::lanes::{Block, LANES};

/// Maximum number of cached distinct words: 2^16 entries in 2^17 slots of 32 B = 4 MB.
const WORDS_MAX: usize = 1 << 16;
/// Maximum bytes of long words, and of terms: 65 536 words of 64 bytes.
const BYTES_MAX: usize = 4 << 20;
const SLOTS_FIRST: usize = 1 << 12;

/// Values in place of a term: the word is a stop word, or it is empty after normalization.
pub const STOP: u32 = u32::MAX;
pub const NOTHING: u32 = u32::MAX - 1;

/// A word as written in the text (ASCII words in lower case), prepared for lookup.
#[derive(Clone, Copy)]
pub struct Key {
    low: u64,
    high: u64,
    hash: u64,
    bytes: u16,
    profile: u8,
}

#[derive(Clone, Copy, Default)]
struct Word {
    low: u64,
    high: u64,
    term: u32,
    /// Position in `long` of a word with more than 16 bytes.
    long_at: u32,
    /// 0 marks a free slot.
    bytes: u16,
    profile: u8,
}

#[derive(Clone, Copy)]
struct Term {
    begin: u32,
    end: u32,
    /// `local` is valid only in the record of this generation.
    generation: u32,
    local: u32,
}

pub struct Lexicon {
    seed: u64,
    words: Vec<Word>,
    word_count: usize,
    long: Vec<u8>,
    terms: Vec<Term>,
    term_bytes: Vec<u8>,
    /// Index into `terms` plus one. 0 is free.
    term_slots: Vec<u32>,
    generation: u32,
}

impl Lexicon {
    /// The `seed` prevents lookups from being slowed down by texts with deliberate hash collisions.
    pub fn new(seed: u64) -> Self {
        Self {
            seed: mix(seed ^ 0x9e37_79b9_7f4a_7c15),
            words: vec![Word::default(); SLOTS_FIRST],
            word_count: 0,
            long: Vec::new(),
            terms: Vec::new(),
            term_bytes: Vec::new(),
            term_slots: vec![0; SLOTS_FIRST],
            generation: 1,
        }
    }

    /// Key of a word of 1 to 16 bytes, padded with zeros.
    #[inline(always)]
    pub fn short_key(&self, block: Block, bytes: usize, profile: u8) -> Key {
        let tag = (bytes as u64) << 8 | u64::from(profile);
        let hash = mix(mix(block.low ^ self.seed).wrapping_add(block.high).wrapping_add(tag.wrapping_mul(0xff51_afd7_ed55_8ccd)));
        Key { low: block.low, high: block.high, hash, bytes: bytes as u16, profile }
    }

    /// Key of a word of any length up to 255 bytes.
    pub fn key(&self, word: &[u8], profile: u8) -> Key {
        let bytes = word.len().min(usize::from(u16::MAX));
        if bytes <= LANES {
            return self.short_key(Block { low: read_word(word), high: read_word(word.get(8..).unwrap_or_default()) }, bytes, profile);
        }
        let low = self.hash(word);
        let high = read_word(word);
        let hash = mix(low ^ u64::from(profile));
        Key { low, high, hash, bytes: bytes as u16, profile }
    }

    /// The term of a word of at most 16 bytes.
    #[inline(always)]
    pub fn find_short(&self, key: &Key) -> Option<u32> {
        let mask = self.words.len() - 1;
        let mut at = key.hash as usize & mask;
        loop {
            let word = self.words.get(at)?;
            if word.low == key.low && word.high == key.high && word.bytes == key.bytes && word.profile == key.profile {
                return Some(word.term);
            }
            if word.bytes == 0 {
                return None;
            }
            at = (at + 1) & mask;
        }
    }

    /// The term of a word of any length. `bytes` are the bytes that the key was computed from.
    pub fn find(&self, key: &Key, bytes: &[u8]) -> Option<u32> {
        if usize::from(key.bytes) <= LANES {
            return self.find_short(key);
        }
        let mask = self.words.len() - 1;
        let mut at = key.hash as usize & mask;
        loop {
            let word = self.words.get(at)?;
            if word.bytes == 0 {
                return None;
            }
            if word.low == key.low && word.high == key.high && word.bytes == key.bytes && word.profile == key.profile {
                let begin = word.long_at as usize;
                if self.long.get(begin..begin + bytes.len()) == Some(bytes) {
                    return Some(word.term);
                }
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds a word that `find` did not find.
    pub fn remember(&mut self, key: &Key, bytes: &[u8], term: u32) {
        if self.word_count * 2 >= self.words.len() {
            self.grow_words();
        }
        let long_at = self.long.len() as u32;
        if bytes.len() > LANES {
            self.long.extend_from_slice(bytes);
        }
        let slot = free_slot(&self.words, key.hash);
        if let Some(word) = self.words.get_mut(slot) {
            *word = Word { low: key.low, high: key.high, term, long_at, bytes: key.bytes, profile: key.profile };
            self.word_count += 1;
        }
    }

    fn grow_words(&mut self) {
        let old = core::mem::take(&mut self.words);
        let mut grown = vec![Word::default(); old.len() * 2];
        for word in old.into_iter().filter(|word| word.bytes != 0) {
            let hash = if usize::from(word.bytes) <= LANES {
                self.short_key(Block { low: word.low, high: word.high }, usize::from(word.bytes), word.profile).hash
            } else {
                mix(word.low ^ u64::from(word.profile))
            };
            let slot = free_slot(&grown, hash);
            if let Some(target) = grown.get_mut(slot) {
                *target = word;
            }
        }
        self.words = grown;
    }

    /// The number of the term with these bytes. Adds the term if it is new.
    pub fn intern(&mut self, bytes: &[u8]) -> u32 {
        let mask = self.term_slots.len() - 1;
        let mut at = self.hash(bytes) as usize & mask;
        while let Some(&slot) = self.term_slots.get(at) {
            if slot == 0 {
                break;
            }
            if self.term(slot - 1) == bytes {
                return slot - 1;
            }
            at = (at + 1) & mask;
        }
        let begin = self.term_bytes.len() as u32;
        self.term_bytes.extend_from_slice(bytes);
        self.terms.push(Term { begin, end: self.term_bytes.len() as u32, generation: 0, local: 0 });
        let number = self.terms.len() as u32;
        if let Some(slot) = self.term_slots.get_mut(at) {
            *slot = number;
        }
        if self.terms.len() * 2 >= self.term_slots.len() {
            self.grow_term_slots();
        }
        number - 1
    }

    fn grow_term_slots(&mut self) {
        let mut grown = vec![0u32; self.term_slots.len() * 2];
        let mask = grown.len() - 1;
        for number in 0..self.terms.len() as u32 {
            let mut at = self.hash(self.term(number)) as usize & mask;
            while grown.get(at).is_some_and(|&slot| slot != 0) {
                at = (at + 1) & mask;
            }
            if let Some(slot) = grown.get_mut(at) {
                *slot = number + 1;
            }
        }
        self.term_slots = grown;
    }

    pub fn term(&self, number: u32) -> &[u8] {
        let range = self.terms.get(number as usize).map_or(0..0, |term| term.begin as usize..term.end as usize);
        self.term_bytes.get(range).unwrap_or_default()
    }

    /// The term's number in the current record: the existing one, or `next` if the term is new there.
    #[inline(always)]
    pub fn local(&mut self, number: u32, next: u32) -> u32 {
        match self.terms.get_mut(number as usize) {
            Some(term) => {
                if term.generation != self.generation {
                    term.generation = self.generation;
                    term.local = next;
                }
                term.local
            }
            None => next,
        }
    }

    /// The number that `local` assigned to the term in the current record, if any.
    #[inline(always)]
    pub fn marked(&self, number: u32) -> Option<u32> {
        self.terms.get(number as usize).filter(|term| term.generation == self.generation).map(|term| term.local)
    }

    /// Ends a record and clears all local numbers.
    pub fn forget_locals(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.generation = 1;
            self.terms.iter_mut().for_each(|term| term.generation = 0);
        }
    }

    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.word_count >= WORDS_MAX || self.terms.len() >= WORDS_MAX || self.term_bytes.len() >= BYTES_MAX || self.long.len() >= BYTES_MAX
    }

    /// Must be called only between records, because it invalidates term numbers.
    pub fn empty_if_full(&mut self) {
        if self.is_full() {
            self.words.fill(Word::default());
            self.word_count = 0;
            self.long.clear();
            self.terms.clear();
            self.term_bytes.clear();
            self.term_slots.fill(0);
        }
    }

    fn hash(&self, bytes: &[u8]) -> u64 {
        bytes.chunks(8).fold(self.seed ^ bytes.len() as u64, |hash, chunk| mix(hash ^ read_word(chunk)))
    }
}

fn free_slot(words: &[Word], hash: u64) -> usize {
    let mask = words.len() - 1;
    let mut at = hash as usize & mask;
    while words.get(at).is_some_and(|word| word.bytes != 0) {
        at = (at + 1) & mask;
    }
    at
}

#[inline(always)]
fn mix(value: u64) -> u64 {
    let product = value.wrapping_mul(0x9fb2_1c65_1e98_df25);
    product ^ (product >> 35)
}

/// Up to eight bytes as a little-endian number, padded with zeros.
fn read_word(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_finds_its_own_term_while_tables_grow() {
        let mut lexicon = Lexicon::new(7);
        let words: Vec<String> = (0..20_000).map(|i| format!("word{}{}", i, "x".repeat(i % 40))).collect();
        for (i, word) in words.iter().enumerate() {
            let key = lexicon.key(word.as_bytes(), (i % 3) as u8);
            assert_eq!(lexicon.find(&key, word.as_bytes()), None);
            let term = lexicon.intern(word.as_bytes());
            assert_eq!(term, i as u32);
            lexicon.remember(&key, word.as_bytes(), term);
        }
        for (i, word) in words.iter().enumerate() {
            let key = lexicon.key(word.as_bytes(), (i % 3) as u8);
            assert_eq!(lexicon.find(&key, word.as_bytes()), Some(i as u32));
            assert_eq!(lexicon.intern(word.as_bytes()), i as u32);
            assert_eq!(lexicon.term(i as u32), word.as_bytes());
            let other = lexicon.key(word.as_bytes(), 9);
            assert_eq!(lexicon.find(&other, word.as_bytes()), None);
        }
    }

    #[test]
    fn a_full_lexicon_empties_and_works_on() {
        let mut lexicon = Lexicon::new(1);
        let mut number = 0u64;
        while !lexicon.is_full() {
            let bytes = number.to_le_bytes();
            let key = lexicon.key(&bytes, 0);
            let term = lexicon.intern(&bytes);
            lexicon.remember(&key, &bytes, term);
            number += 1;
        }
        assert_eq!(number, WORDS_MAX as u64);
        lexicon.empty_if_full();
        assert!(!lexicon.is_full());
        let key = lexicon.key(b"again", 0);
        assert_eq!(lexicon.find(&key, b"again"), None);
        assert_eq!(lexicon.intern(b"again"), 0);
    }
}
