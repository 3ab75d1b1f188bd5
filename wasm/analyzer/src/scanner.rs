//! The scanner. It reads a window of text, skips markup, and adds words to the record. A decision at a byte
//! reads at most `LOOKAHEAD` bytes ahead and depends only on them and on the carried state. Window boundaries
//! therefore never change a token. Time is linear in the text, because failed searches are not repeated.

mod finding;
mod identifiers;
mod markup;
mod skim;

use crate::bytes::{Class, Mode, Table, CODE, FENCE, PLAIN, SPAN, TEXT};
use crate::characters::{decode, is_han, kind, Kind};
use crate::fold::has_yo;
use crate::lanes::{keep, load, lower, word_mask, Block, LANES};
use crate::languages::Profile;
use crate::lexicon::{Lexicon, NOTHING};
use crate::markdown::LOOKAHEAD;
use crate::record::{Purpose, Record};
use crate::words::{cluster_end, contraction_end, is_unspaced_at, word_end, Words};

/// Maximum number of bytes per window. It is so large that the lookahead tail, which is copied twice, is 6 %,
/// and small enough to stay in the level 2 cache.
pub const WINDOW_BYTES_MAX: usize = 64 << 10;
/// Maximum number of bytes of a Han run that is passed to segmentation at once: 340 characters of three
/// bytes.
const HAN_RUN_BYTES_MAX: usize = 1020;
/// Maximum number of words of one run: at each character a word of two characters, one of three and one of
/// any length may begin.
pub const CUTS_MAX: usize = HAN_RUN_BYTES_MAX;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// The window has been processed as far as possible. Load the next one, starting at `cursor()`.
    NeedsWindow,
    /// The record or the lexicon is full. Take the record with `finish`, then continue.
    NeedsFinish,
    /// A run of Han characters (`han_run`) is waiting for its words (`place_words`).
    NeedsWords,
}

/// How text is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Text {
    /// Words without markup.
    Plain,
    Markdown,
    /// Identifiers and their parts. They are neither stemmed nor dropped as stop words.
    Code,
}

#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Index into `CODES`.
    pub language: u32,
    pub stem: bool,
    pub text: Text,
    /// Words with accents also produce their accent-free terms at the same position. Used for documents.
    pub folds: bool,
    /// For queries: scripts without spaces produce only pairs, and single characters only where they are
    /// isolated. The Cyrillic ё becomes е.
    pub asks: bool,
    pub purpose: Purpose,
}

pub struct Analyzer {
    window: Vec<u8>,
    window_bytes: usize,
    is_last: bool,
    /// Next byte to read, and the first byte that must not be processed before the next window.
    cursor: usize,
    limit: usize,
    /// Offset of the window in the text.
    base: u64,
    mode: Mode,
    at_line_start: bool,
    line_is_definition: bool,
    /// Offsets in the text before which no link target begins and no comment ends, known from earlier
    /// searches.
    no_target_before: u64,
    no_comment_end_before: u64,
    han_run_end: usize,
    /// End of the last pair in the text, and whether single characters that belong to a pair are omitted.
    pair_end: u64,
    asks: bool,
    folds: bool,
    /// Whether only words that begin like a wanted term are read. `skimmed`: the set of their first letters.
    /// `seconds`: by first letter (6 bits, ignoring case), the set of the second letters in lower case.
    skims: bool,
    skimmed: Block,
    seconds: [u128; 64],
    profile: Profile,
    lexicon: Lexicon,
    words: Words,
    /// Scratch buffer: terms of the current identifier.
    parts_seen: Vec<u32>,
    record: Record,
}

impl Analyzer {
    pub fn new(seed: u64) -> Self {
        Self {
            window: vec![0; WINDOW_BYTES_MAX + 2 * LANES],
            window_bytes: 0,
            is_last: true,
            cursor: 0,
            limit: 0,
            base: 0,
            mode: Mode::Plain,
            at_line_start: false,
            line_is_definition: false,
            no_target_before: 0,
            no_comment_end_before: 0,
            han_run_end: 0,
            pair_end: 0,
            asks: false,
            folds: false,
            skims: false,
            skimmed: Block::default(),
            seconds: [0; 64],
            profile: Profile::new(u32::MAX, false),
            lexicon: Lexicon::new(seed),
            words: Words::default(),
            parts_seen: Vec::new(),
            record: Record::default(),
        }
    }

    /// Starts a text. Discards the rest of the previous text.
    pub fn begin(&mut self, options: Options) {
        self.profile = match options.text {
            Text::Code => Profile::of_code(options.language),
            Text::Plain | Text::Markdown => Profile::new(options.language, options.stem),
        };
        self.lexicon.forget_locals();
        self.lexicon.empty_if_full();
        self.record.begin(options.purpose);
        self.mode = match options.text {
            Text::Plain => Mode::Plain,
            Text::Markdown => Mode::Text,
            Text::Code => Mode::Code,
        };
        self.at_line_start = options.text == Text::Markdown;
        self.asks = options.asks;
        self.folds = options.folds && options.text != Text::Code;
        self.skims = false;
        self.pair_end = 0;
        self.line_is_definition = false;
        self.no_target_before = 0;
        self.no_comment_end_before = 0;
        self.base = 0;
        self.cursor = 0;
        self.limit = 0;
        self.window_bytes = 0;
    }

    /// The buffer to which the caller writes the next window, up to `WINDOW_BYTES_MAX` bytes.
    pub fn window_mut(&mut self) -> &mut [u8] {
        self.window.get_mut(..WINDOW_BYTES_MAX).unwrap_or_default()
    }

    /// Accepts a window that continues the text at the cursor. A window that is not the last one must be
    /// longer than `LOOKAHEAD`.
    pub fn load(&mut self, bytes: usize, is_last: bool) {
        self.base += self.cursor as u64;
        self.cursor = 0;
        self.window_bytes = bytes.min(WINDOW_BYTES_MAX);
        self.is_last = is_last;
        self.limit = if is_last { self.window_bytes } else { self.window_bytes.saturating_sub(LOOKAHEAD) };
        if let Some(padding) = self.window.get_mut(self.window_bytes..self.window_bytes + 2 * LANES) {
            padding.fill(0);
        }
    }

    /// Number of bytes of the window that have been processed.
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    pub fn run(&mut self) -> Status {
        while self.cursor < self.limit {
            if self.at_line_start {
                self.line_start();
                continue;
            }
            let status = match self.mode {
                Mode::Plain => self.tokens(&PLAIN),
                Mode::Code => self.identifiers(&CODE),
                Mode::Text => self.tokens(&TEXT),
                Mode::Span(_) => self.tokens(&SPAN),
                Mode::Fence(..) => self.tokens(&FENCE),
                Mode::Comment => self.skip_comment(),
                Mode::Raw(element) => self.skip_raw(element),
                Mode::Target => self.skip_target(),
            };
            if let Some(status) = status {
                return status;
            }
        }
        Status::NeedsWindow
    }

    /// Reads words until the line, the mode or the window ends, or the caller must act.
    fn tokens(&mut self, table: &Table) -> Option<Status> {
        while self.cursor < self.limit {
            if self.skims && self.skim() {
                continue;
            }
            let at = self.cursor;
            let byte = self.byte(at);
            match table.get(byte as usize).copied().unwrap_or(Class::Dull) {
                Class::Dull => self.cursor += 1,
                Class::Word => {
                    if self.record.is_full() || self.lexicon.is_full() {
                        return Some(Status::NeedsFinish);
                    }
                    self.ascii_word(at);
                }
                Class::Newline => {
                    self.cursor += 1;
                    self.at_line_start = true;
                    return None;
                }
                Class::Mark => {
                    self.mark(at, byte);
                    return None;
                }
                Class::High => {
                    if self.record.is_full() || self.lexicon.is_full() {
                        return Some(Status::NeedsFinish);
                    }
                    if let Some(status) = self.high(at) {
                        return Some(status);
                    }
                }
            }
        }
        None
    }

    #[inline(always)]
    fn byte(&self, at: usize) -> u8 {
        self.window.get(at).copied().unwrap_or(0)
    }

    /// The text that a decision at `at` may read.
    fn view(&self, at: usize) -> &[u8] {
        self.window.get(at..self.window_bytes.min(at + LOOKAHEAD)).unwrap_or_default()
    }

    fn sees_end(&self, at: usize) -> bool {
        self.is_last && at + LOOKAHEAD >= self.window_bytes
    }

    fn offset(&self, at: usize) -> u64 {
        self.base + at as u64
    }

    /// Handles the common case first: a word of at most 15 ASCII letters and digits.
    #[inline(always)]
    fn ascii_word(&mut self, at: usize) {
        let block = load(&self.window, at);
        let length = (!word_mask(block)).trailing_zeros() as usize;
        let next = self.byte(at + length);
        if length >= LANES || next >= 0x80 || next == b'&' || self.profile.is_turkish {
            self.wide_word(at);
            return;
        }
        let lowered = keep(lower(block), length);
        let key = self.lexicon.short_key(lowered, length, self.profile.number);
        let term = match self.lexicon.find_short(&key) {
            Some(term) => term,
            None => self.words.term(&mut self.lexicon, &self.profile, self.window.get(at..at + length).unwrap_or_default(), true),
        };
        self.put(term, at, at + length);
        self.cursor = at + length;
        if next == b'\'' {
            self.contraction();
        }
    }

    /// A word with letters beyond ASCII, with entities, or a long one.
    fn wide_word(&mut self, at: usize) {
        let (length, is_ascii) = word_end(self.view(at), 0, self.mode == Mode::Text);
        let end = at + length.max(1);
        let word = self.window.get(at..end).unwrap_or_default();
        let mut term = self.words.term(&mut self.lexicon, &self.profile, word, is_ascii);
        if (!is_ascii || self.profile.is_turkish) && term < NOTHING {
            if self.folds {
                let folded = self.words.folded_term(&mut self.lexicon, &self.profile, word);
                if folded != term {
                    self.place(folded, at, end);
                }
            } else if self.asks && has_yo(word) {
                term = self.words.folded_term(&mut self.lexicon, &self.profile, word);
            }
        }
        self.put(term, at, end);
        self.cursor = end;
        self.contraction();
    }

    /// Skips `'s` and similar suffixes after a word. They count as one stop word.
    fn contraction(&mut self) {
        if self.profile.has_contractions {
            if let Some(length) = contraction_end(self.view(self.cursor), 0) {
                self.cursor += length;
                self.record.advance(1);
            }
        }
    }

    #[inline(always)]
    fn put(&mut self, term: u32, begin: usize, end: usize) {
        self.place(term, begin, end);
        if term != NOTHING {
            self.record.advance(1);
        }
    }

    /// Adds a term at the current position without advancing it.
    #[inline(always)]
    fn place(&mut self, term: u32, begin: usize, end: usize) {
        if term < NOTHING {
            let base = self.base as u32;
            self.record.put(&mut self.lexicon, term, (base.wrapping_add(begin as u32), base.wrapping_add(end as u32)));
        }
    }

    fn high(&mut self, at: usize) -> Option<Status> {
        let Some((character, length)) = decode(self.view(at), 0) else {
            self.cursor += 1;
            return None;
        };
        match kind(character) {
            Kind::Letter => self.wide_word(at),
            Kind::Unspaced if self.profile.segments_han && is_han(character) => {
                self.han_run_end = at + han_run_bytes(self.view(at));
                return Some(Status::NeedsWords);
            }
            Kind::Unspaced => self.unspaced(at),
            Kind::Mark | Kind::Ignorable | Kind::Other => self.cursor += length,
        }
        None
    }

    /// Adds one character of a script without spaces and, at the same position, the pair that it forms with
    /// the next one. Both a single character and any sequence of characters can then be searched for.
    fn unspaced(&mut self, at: usize) {
        let view = self.view(at);
        let first = cluster_end(view, 0);
        let has_next =
            is_unspaced_at(view, first) && !(self.profile.segments_han && decode(view, first).is_some_and(|(next, _)| is_han(next)));
        let second = if has_next { cluster_end(view, first) } else { first };
        let is_said_by_pair = has_next || self.offset(at) < self.pair_end;
        for (end, is_wanted) in [(first, !(self.asks && is_said_by_pair)), (second, has_next)] {
            if is_wanted {
                let word = self.window.get(at..at + end).unwrap_or_default();
                let term = self.words.unspaced_term(&mut self.lexicon, &self.profile, word);
                self.place(term, at, at + end);
            }
        }
        if has_next {
            self.pair_end = self.offset(at + second);
        }
        self.record.advance(1);
        self.cursor = at + first;
    }

    /// The run of Han characters at the cursor: its offset in the window and its length in bytes.
    pub fn han_run(&self) -> (usize, usize) {
        (self.cursor, self.han_run_end.saturating_sub(self.cursor))
    }

    /// Adds the words of the run. Each is given as its first byte, its end (exclusive) and the number of
    /// characters before it, ascending by these. Invalid ones are skipped.
    pub fn place_words(&mut self, cuts: &[[u32; 3]]) {
        let (begin, bytes) = self.han_run();
        let run = self.window.get(begin..begin + bytes).unwrap_or_default();
        let characters = run.iter().filter(|&&byte| byte & 0xc0 != 0x80).count() as u32;
        let base = (self.base as u32).wrapping_add(begin as u32);
        let mut before = None;
        for &[first, end, position] in cuts {
            let run = self.window.get(begin..begin + bytes).unwrap_or_default();
            let Some(word) = run.get(first as usize..end as usize).filter(|word| !word.is_empty()) else { continue };
            if position >= characters || before >= Some((position, end)) {
                continue;
            }
            before = Some((position, end));
            let term = self.words.unspaced_term(&mut self.lexicon, &self.profile, word);
            if term < NOTHING {
                self.record.put_ahead(&mut self.lexicon, term, position, (base.wrapping_add(first), base.wrapping_add(end)));
            }
        }
        self.record.advance(characters);
        self.cursor = self.han_run_end.max(self.cursor);
    }

    /// Closes the record and returns its words. The next tokens are added to a new record.
    pub fn finish(&mut self) -> &[u32] {
        self.record.finish(&mut self.lexicon);
        self.lexicon.empty_if_full();
        self.record.output()
    }

    /// The record that `finish` closed.
    pub fn output(&self) -> &[u32] {
        self.record.output()
    }
}

/// Number of bytes of the run of Han characters at the start of `text`.
fn han_run_bytes(text: &[u8]) -> usize {
    let mut end = 0;
    while let Some((character, length)) = decode(text, end) {
        if !is_han(character) || end + length > HAN_RUN_BYTES_MAX {
            break;
        }
        end += length;
    }
    end
}
