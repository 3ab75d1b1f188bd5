//! The scanner in the mode that finds only the positions of a few terms: the wanted terms, and the first
//! letters that distinguish their words from others.

use super::Analyzer;
use crate::lanes::set_of;
use crate::lexicon::Lexicon;
use crate::record::{Found, Record, FOUND_MAX};

impl Analyzer {
    /// Marks the wanted terms, each with its index. Must be called after `begin` with `Purpose::Find`, and
    /// again after `empty`.
    pub fn look_for<'a>(&mut self, terms: impl Iterator<Item = (u32, &'a [u8])>) {
        self.seconds = [0; 64];
        let mut firsts = Vec::new();
        for (index, term) in terms {
            let number = self.lexicon.intern(term);
            self.lexicon.local(number, index);
            if let Some(&first) = term.first().filter(|first| first.is_ascii()) {
                firsts.extend([first.to_ascii_lowercase(), first.to_ascii_uppercase()]);
                self.want_second(first, term.get(1).copied());
            }
        }
        self.skims = self.profile.keeps_first_letter;
        self.skimmed = set_of(&firsts);
    }

    /// A word has the same second letter as its term, with three exceptions: a letter with an accent, `y` and
    /// `i` (dying, die), and a doubled first letter. A term of one letter may belong to any word.
    fn want_second(&mut self, first: u8, second: Option<u8>) {
        let wanted = match second {
            Some(b'i' | b'y') => 1 << b'i' | 1 << b'y',
            Some(letter @ 0..0x80) => 1 << (letter | 0x20),
            _ => u128::MAX,
        };
        if let Some(set) = self.seconds.get_mut(usize::from(first & 0x3f)) {
            *set |= wanted | 1 << (first | 0x20);
        }
    }

    /// Removes all words and their marks.
    pub fn empty(&mut self) {
        self.lexicon.forget_locals();
        self.lexicon.empty_if_full();
    }

    /// Positions of marked terms.
    pub fn found(&self) -> &[Found] {
        self.record.found()
    }

    /// The tokens listed so far, and the lexicon with their terms.
    pub fn listed(&self) -> (&Record, &Lexicon) {
        (&self.record, &self.lexicon)
    }

    pub fn has_found_enough(&self) -> bool {
        self.record.found().len() >= FOUND_MAX
    }
}
