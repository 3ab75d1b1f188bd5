//! Highlights: the passages of a document that show best why it matched, as JSON text. The input is the
//! escaped JSON text in which the document is stored. There are two methods with the same result. Either the
//! document is analyzed as for the index, and only the positions of the requested terms are kept. Or they are
//! read from its term vector, which was produced once by the same analysis. Rules: docs/decisions on
//! highlights.

mod fragments;
mod json;
mod query;
mod term_vector;
mod text;
mod unescape;

use crate::record::{Found, Purpose, FOUND_MAX};
use crate::scanner::{Analyzer, Options, Status, Text as Reading, WINDOW_BYTES_MAX};
use fragments::{choose, Marks};
use json::{Lines, List};
pub use query::{Query, Term};
use term_vector::{content_of, TermVector};
use text::{resolve_blocks, Source, Text};
use unescape::unescape;

/// Capacity of the text buffer that is kept for the next document.
const TEXT_BYTES_KEPT: usize = 1 << 20;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    Done,
    /// A window has been read, and there are more.
    More,
    /// A run of Han characters is waiting for its words (`Analyzer::place_words`).
    NeedsWords,
}

#[derive(Default)]
pub struct Highlighter {
    query: Query,
    /// Terms that the current document matched.
    matched: Vec<u32>,
    text: Vec<u8>,
    /// Positions in the stored form where the text's blocks begin. Used while a term vector is built.
    jumps: Vec<u32>,
    is_code: bool,
    /// Every token is listed for a term vector, instead of only the requested terms.
    lists: bool,
    /// The text has more tokens than a term vector can contain.
    is_too_long: bool,
    /// Range of the window that is in the analyzer.
    window_begin: usize,
    window_end: usize,
    is_loaded: bool,
    /// Scratch buffers: positions of the requested terms; which blocks of the text are resolved; which terms
    /// of a vector have been used.
    found: Vec<Found>,
    resolved: Vec<bool>,
    taken: Vec<bool>,
    output: Vec<u8>,
}

impl Highlighter {
    pub fn ask(&mut self, query: Query) {
        self.query = query;
    }

    /// Starts a document. `matched` contains indexes of the query's terms. Other terms are not marked.
    pub fn begin(&mut self, analyzer: &mut Analyzer, options: Options, matched: impl Iterator<Item = u32>) {
        self.matched.clear();
        self.matched.extend(matched.filter(|&index| (index as usize) < self.query.terms.len()));
        self.text.clear();
        self.text.shrink_to(TEXT_BYTES_KEPT);
        self.start(analyzer, Options { purpose: Purpose::Find, ..options });
        self.mark(analyzer);
    }

    /// Starts the term vector of a document.
    pub fn begin_vector(&mut self, analyzer: &mut Analyzer, options: Options, escaped: &[u8]) {
        resolve_blocks(escaped, &mut self.text, &mut self.jumps);
        self.start(analyzer, Options { purpose: Purpose::List, ..options });
    }

    fn start(&mut self, analyzer: &mut Analyzer, options: Options) {
        self.is_code = options.text == Reading::Code;
        self.lists = options.purpose == Purpose::List;
        self.is_too_long = false;
        self.window_begin = 0;
        self.window_end = 0;
        self.is_loaded = false;
        analyzer.begin(Options { folds: true, asks: false, ..options });
    }

    fn mark(&self, analyzer: &mut Analyzer) {
        let terms = self.matched.iter().filter_map(|&index| Some((index, self.query.terms.get(index as usize)?.indexed.as_slice())));
        analyzer.look_for(terms);
    }

    /// Appends escaped JSON text. Returns the number of bytes consumed. The caller passes the rest, part of
    /// an escape, again together with the following text.
    pub fn append(&mut self, escaped: &[u8], is_last: bool) -> usize {
        unescape(escaped, is_last, &mut self.text)
    }

    /// Continues reading, at most one window.
    pub fn run(&mut self, analyzer: &mut Analyzer) -> Progress {
        if !self.is_loaded {
            self.window_end = self.text.len().min(self.window_begin + WINDOW_BYTES_MAX);
            let window = self.text.get(self.window_begin..self.window_end).unwrap_or_default();
            if let Some(space) = analyzer.window_mut().get_mut(..window.len()) {
                space.copy_from_slice(window);
            }
            analyzer.load(window.len(), self.window_end == self.text.len());
            self.is_loaded = true;
        }
        loop {
            match analyzer.run() {
                Status::NeedsWords => return Progress::NeedsWords,
                Status::NeedsFinish if self.lists => {
                    self.is_too_long = true;
                    return Progress::Done;
                }
                Status::NeedsFinish => {
                    analyzer.empty();
                    self.mark(analyzer);
                }
                Status::NeedsWindow => break,
            }
        }
        if self.window_end == self.text.len() || analyzer.has_found_enough() {
            return Progress::Done;
        }
        self.window_begin += analyzer.cursor();
        self.is_loaded = false;
        Progress::More
    }

    /// The highlights of the document that was read, as the JSON text of a list.
    pub fn finish(&mut self, analyzer: &Analyzer) -> &[u8] {
        let Self { text, found, .. } = self;
        found.clear();
        found.extend(analyzer.found().iter().filter(|found| found.end as usize <= text.len()));
        let content = content_of(text);
        let lines = self.is_code.then(|| Lines::new(&[]));
        show(&self.query, &mut Text::whole(text), found, content, lines, &mut self.output);
        &self.output
    }

    /// The term vector of the document that was read. Empty if it would be too large.
    pub fn finish_vector(&mut self, analyzer: &Analyzer) -> &[u8] {
        self.output.clear();
        if !self.is_too_long {
            let (record, lexicon) = analyzer.listed();
            term_vector::write(&mut self.output, &self.text, &self.jumps, self.is_code, record, lexicon);
        }
        &self.output
    }

    /// The highlights of a document, computed from its term vector. The result equals that of `finish`.
    /// `None` if the document must be analyzed instead, because it has more positions than `finish`
    /// considers.
    pub fn show_known(&mut self, vector: &[u8], escaped: &[u8], matched: impl Iterator<Item = u32>) -> Option<&[u8]> {
        let vector = TermVector::read(vector)?;
        let Self { text, found, resolved, taken, .. } = self;
        found.clear();
        taken.clear();
        taken.resize(vector.terms(), false);
        for mark in matched {
            // Of several terms with the same indexed form, the first one is marked.
            let known = self.query.terms.get(mark as usize).and_then(|term| vector.find(&term.indexed));
            let Some((index, taken)) = known.and_then(|index| Some((index, taken.get_mut(index)?))) else { continue };
            if !core::mem::replace(taken, true) {
                vector.positions(index, mark, found);
            }
        }
        if found.len() >= FOUND_MAX {
            return None;
        }
        let content = (vector.content_begin, vector.content_end);
        let lines = vector.is_code.then(|| Lines::new(vector.lines));
        let source = Source { escaped, jumps: vector.jumps, resolved };
        show(&self.query, &mut Text::stored(text, vector.text_bytes, source), found, content, lines, &mut self.output);
        Some(&self.output)
    }

    pub fn output(&self) -> &[u8] {
        &self.output
    }
}

/// Writes the highlights of a text in which these positions were found, in any order.
fn show(query: &Query, text: &mut Text, found: &mut [Found], content: (usize, usize), lines: Option<Lines>, output: &mut Vec<u8>) {
    found.sort_unstable_by_key(|found| (found.begin, found.end, found.term));
    let marks = Marks::of(text, found, &query.phrases);
    let fragments = choose(text, &marks, query.fragment_bytes, query.fragments_max);
    output.clear();
    json::write(output, text, List { content, fragments: &fragments, found, marks: &marks, lines }, query);
}
