//! The scanner where only the places of a few terms are wanted: which terms, and by which first letters their words can be told from others.

use super::Analyzer;
use crate::lanes::set_of;
use crate::record::{Found, FOUND_MAX};

impl Analyzer {
    /// Marks the terms that are looked for, each by its index, after `begin` with `Purpose::Find` and again after `empty`.
    /// Without `with_positions`, which costs time, positions say nothing.
    pub fn look_for<'a>(&mut self, terms: impl Iterator<Item = (u32, &'a [u8])>, with_positions: bool) {
        self.firsts = [!self.profile.keeps_first_letter; 256];
        self.seconds = [0; 64];
        for (index, term) in terms {
            let number = self.lexicon.intern(term);
            self.lexicon.local(number, index);
            let first = term.first().copied().unwrap_or_default();
            for byte in [first.to_ascii_lowercase(), first.to_ascii_uppercase()] {
                if let Some(place) = self.firsts.get_mut(byte as usize) {
                    *place = true;
                }
            }
            self.want_second(first, term.get(1).copied());
        }
        self.skims = !with_positions && self.profile.keeps_first_letter;
        let firsts: Vec<u8> = (0..0x80u8).filter(|&byte| self.firsts.get(byte as usize) == Some(&true)).collect();
        self.skimmed = set_of(&firsts);
    }

    /// A word goes on as its term does, but for what stands for a letter with an accent, for `y` and `i` (dying, die), and for
    /// a doubled first letter. A term of one letter may be any word's.
    fn want_second(&mut self, first: u8, second: Option<u8>) {
        let wanted = match second {
            Some(b'i' | b'y') => 1 << b'i' | 1 << b'y',
            Some(letter @ 0..0x80) => 1 << (letter | 0x20),
            _ => u128::MAX,
        };
        if let Some(set) = self.seconds.get_mut(usize::from(first & 0x3f)).filter(|_| first < 0x80) {
            *set |= wanted | 1 << (first | 0x20);
        }
    }

    /// Forgets all words, and the marks with them.
    pub fn empty(&mut self) {
        self.lexicon.forget_locals();
        self.lexicon.empty_if_full();
    }

    /// Places of marked terms.
    pub fn found(&self) -> &[Found] {
        self.record.found()
    }

    pub fn has_found_enough(&self) -> bool {
        self.record.found().len() >= FOUND_MAX
    }
}
