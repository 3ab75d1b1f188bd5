//! The scanner's fast path for finding only the positions of a few terms. It skips from one relevant byte to
//! the next, sixteen bytes at a time. Relevant are the mode's marks and line breaks, bytes beyond ASCII,
//! apostrophes, and words that begin like a wanted term.

use super::Analyzer;
use crate::bytes::Mode;
use crate::lanes::{high_mask, load, set_masks, set_of, word_mask, Block, LANES};
use crate::markdown::entity;
use crate::words::{word_end, WORD_BYTES_MAX};

/// Relevant bytes of each mode except words, with and without the apostrophe of contractions.
static TEXT: Block = set_of(b"'\n<&\\`]");
static TEXT_ALONE: Block = set_of(b"\n<&\\`]");
static SPAN: Block = set_of(b"'\n`");
static SPAN_ALONE: Block = set_of(b"\n`");
static FENCE: Block = set_of(b"'\n");
static FENCE_ALONE: Block = set_of(b"\n");
static PLAIN: Block = set_of(b"'");
static PLAIN_ALONE: Block = set_of(b"");

impl Analyzer {
    /// Moves the cursor to the next relevant byte. Returns true if that byte was skipped as well; call it
    /// again then.
    #[inline(always)]
    pub(super) fn skim(&mut self) -> bool {
        let from = self.cursor;
        let marks = match (self.mode, self.profile.has_contractions) {
            (Mode::Text, true) => TEXT,
            (Mode::Text, false) => TEXT_ALONE,
            (Mode::Span(_), true) => SPAN,
            (Mode::Span(_), false) => SPAN_ALONE,
            (Mode::Fence(..), true) => FENCE,
            (Mode::Fence(..), false) => FENCE_ALONE,
            (_, true) => PLAIN,
            (_, false) => PLAIN_ALONE,
        };
        self.cursor = self.next_of_interest(from, marks);
        if self.cursor >= self.limit {
            self.finish_word(from);
            return true;
        }
        let at = self.cursor;
        let byte = self.byte(at);
        if byte == b'\'' {
            if at > from && self.byte(at - 1).is_ascii_alphanumeric() {
                self.contraction();
            }
            self.cursor = self.cursor.max(at + 1);
            return true;
        }
        if byte >= 0x80 || byte == b'&' {
            return self.wide_word_around(from, at);
        }
        false
    }

    fn next_of_interest(&self, from: usize, marks: Block) -> usize {
        let mut at = from;
        let mut is_inside = u32::from(from > 0 && self.byte(from - 1).is_ascii_alphanumeric());
        while at < self.limit {
            let block = load(&self.window, at);
            let words = word_mask(block);
            let begins = words & !(words << 1 | is_inside);
            let [firsts, marked] = set_masks(block, [self.skimmed, marks]);
            let mut wanted = begins & firsts;
            let mut stops = high_mask(block) | marked;
            while stops != 0 && self.is_idle(at + stops.trailing_zeros() as usize) {
                stops &= stops - 1;
            }
            while wanted != 0 {
                let index = wanted.trailing_zeros();
                if stops & ((1 << index) - 1) != 0 || self.may_begin(at + index as usize) {
                    break;
                }
                wanted &= wanted - 1;
            }
            let matters = wanted | stops;
            if matters != 0 {
                return self.limit.min(at + matters.trailing_zeros() as usize);
            }
            is_inside = words >> (LANES - 1) & 1;
            at += LANES;
        }
        self.limit
    }

    /// Returns whether the mark at `at` has no effect: in text, a line break before text; or a bracket that
    /// closes no link.
    #[inline(always)]
    fn is_idle(&self, at: usize) -> bool {
        let next = self.byte(at + 1);
        match self.byte(at) {
            b'\n' => {
                self.mode == Mode::Text
                    && !self.line_is_definition
                    && at + 1 < self.limit
                    && (next.is_ascii_alphabetic() || matches!(next, b'\n' | b'#' | b'|'))
            }
            b']' => !matches!(next, b'(' | b':'),
            _ => false,
        }
    }

    /// Returns whether the word at `at`, whose first letter is wanted, has the second letter of a wanted
    /// term.
    #[inline(always)]
    fn may_begin(&self, at: usize) -> bool {
        let first = usize::from((self.byte(at) | 0x20) & 0x3f);
        let second = self.byte(at + 1);
        !second.is_ascii_alphanumeric() || self.seconds.get(first).is_some_and(|seconds| seconds >> (second | 0x20) & 1 == 1)
    }

    /// At the limit of the window: a word that continues there is skipped as a whole.
    fn finish_word(&mut self, from: usize) {
        let at = self.limit;
        self.cursor = at;
        if at > from && self.byte(at - 1).is_ascii_alphanumeric() {
            self.cursor += word_end(self.view(at), 0, self.mode == Mode::Text).0;
        }
    }

    /// The byte at `at` may belong to a word that began before it; that word is then processed as a whole.
    /// Returns false if the byte begins a word or is isolated.
    fn wide_word_around(&mut self, from: usize, at: usize) -> bool {
        let letters = self.window.get(from..at).unwrap_or_default().iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        // A longer run is split into several words.
        let letters = letters % WORD_BYTES_MAX;
        if letters == 0 {
            return false;
        }
        if self.byte(at) == b'&' && (self.mode != Mode::Text || entity::letter(self.view(at), 0).is_none()) {
            return false;
        }
        let begin = at - letters;
        let (length, _) = word_end(self.view(begin), 0, self.mode == Mode::Text);
        if begin + length <= at {
            self.contraction();
            return self.cursor > at;
        }
        // A combining mark can change the first letter into another letter. Otherwise the first letter
        // decides.
        if letters == 1 || self.seconds.get(usize::from((self.byte(begin) | 0x20) & 0x3f)).is_some_and(|&seconds| seconds != 0) {
            self.wide_word(begin);
        } else {
            self.cursor = begin + length;
            self.contraction();
        }
        true
    }
}
