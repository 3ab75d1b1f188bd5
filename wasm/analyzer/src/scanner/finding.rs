//! The scanner where only the places of a few terms are wanted: which terms, and by which first letters their
//! words can be told from others.

use super::Analyzer;
use crate::lanes::set_of;
use crate::lexicon::Lexicon;
use crate::record::{Found, Record, FOUND_MAX};

impl Analyzer {
    /// Marks the terms that are looked for, each by its index, after `begin` with `Purpose::Find` and again
    /// after `empty`.
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

    /// A word goes on as its term does, but for what stands for a letter with an accent, for `y` and `i`
    /// (dying, die), and for a doubled first letter. A term of one letter may be any word's.
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

    /// Forgets all words, and the marks with them.
    pub fn empty(&mut self) {
        self.lexicon.forget_locals();
        self.lexicon.empty_if_full();
    }

    /// Places of marked terms.
    pub fn found(&self) -> &[Found] {
        self.record.found()
    }

    /// The tokens listed so far, and what their terms are.
    pub fn listed(&self) -> (&Record, &Lexicon) {
        (&self.record, &self.lexicon)
    }

    pub fn has_found_enough(&self) -> bool {
        self.record.found().len() >= FOUND_MAX
    }
}
