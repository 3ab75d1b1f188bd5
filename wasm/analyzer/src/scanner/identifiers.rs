//! The scanner for source code: identifiers instead of words, with their parts at the same position, and no
//! markup. Rules: `code`.

use super::{Analyzer, Status};
use crate::bytes::{Class, Table};
use crate::characters::{decode, kind, Kind};
use crate::code::{identifier_end, is_empty, next_part};
use crate::lexicon::NOTHING;

impl Analyzer {
    /// Reads identifiers until the window ends or the caller must act.
    pub(super) fn identifiers(&mut self, table: &Table) -> Option<Status> {
        while self.cursor < self.limit {
            let at = self.cursor;
            let class = table.get(self.byte(at) as usize).copied().unwrap_or(Class::Dull);
            if class == Class::Dull {
                self.cursor += 1;
                continue;
            }
            if self.record.is_full() || self.lexicon.is_full() {
                return Some(Status::NeedsFinish);
            }
            let letter =
                if class == Class::High { decode(self.view(at), 0).map(|(character, _)| kind(character)) } else { Some(Kind::Letter) };
            if letter == Some(Kind::Letter) {
                self.identifier(at);
            } else if let Some(status) = self.high(at) {
                return Some(status);
            }
        }
        None
    }

    fn identifier(&mut self, at: usize) {
        let (length, is_ascii) = identifier_end(self.view(at));
        let end = at + length.max(1);
        self.cursor = end;
        let identifier = self.window.get(at..end).unwrap_or_default();
        if is_empty(identifier) {
            return;
        }
        let whole = self.words.term(&mut self.lexicon, &self.profile, identifier, is_ascii);
        self.place(whole, at, end);
        self.parts(at, end, whole, is_ascii);
        if whole != NOTHING {
            self.record.advance(1);
        }
    }

    /// Adds the parts of the identifier that differ from it, each only once, because a term has a position
    /// only once.
    fn parts(&mut self, at: usize, end: usize, whole: u32, is_ascii: bool) {
        let mut seen = core::mem::take(&mut self.parts_seen);
        seen.clear();
        seen.push(whole);
        let mut from = 0;
        while let Some((first, last)) = next_part(self.window.get(at..end).unwrap_or_default(), from) {
            from = last;
            let part = self.window.get(at + first..at + last).unwrap_or_default();
            let term = self.words.term(&mut self.lexicon, &self.profile, part, is_ascii);
            if !seen.contains(&term) {
                seen.push(term);
                self.place(term, at + first, at + last);
            }
        }
        self.parts_seen = seen;
    }
}
