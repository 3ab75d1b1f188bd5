//! Highlights: the places of a document that show best why it matched, as JSON text. The document comes as
//! the escaped JSON text in which it is stored. Either it is analysed as it was for the index, and only the
//! places of the terms asked for are kept; or its term vector, made once in the same way, tells them. Both
//! give the same answer. Rules: docs/decisions on highlights.

mod fragments;
mod json;
mod query;
mod term_vector;
mod text;

use crate::record::{Found, Purpose, FOUND_MAX};
use crate::scanner::{Analyzer, Options, Status, Text as Reading, WINDOW_BYTES_MAX};
use fragments::{choose, Marks};
use json::{unescape, Lines, List};
pub use query::{Query, Term};
use term_vector::{content_of, TermVector};
use text::{resolve_blocks, Source, Text};

/// Capacity for the text of a document that is kept for the next one.
const TEXT_BYTES_KEPT: usize = 1 << 20;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    Done,
    /// A window has been read; there are more.
    More,
    /// A run of Han characters waits for its words (`Analyzer::place_words`).
    NeedsWords,
}

#[derive(Default)]
pub struct Highlighter {
    query: Query,
    /// Terms that the document at hand matched.
    matched: Vec<u32>,
    text: Vec<u8>,
    /// Where the text's blocks begin in its stored form; of a term vector in the making.
    jumps: Vec<u32>,
    is_code: bool,
    /// Every token is listed for a term vector, instead of those found that are asked for.
    lists: bool,
    /// The text has more tokens than a term vector may have.
    is_too_long: bool,
    /// Of the window in the analyzer.
    window_begin: usize,
    window_end: usize,
    is_loaded: bool,
    /// Scratch space: places of the terms asked for; which blocks of the text are resolved; which terms of a
    /// vector have been taken.
    found: Vec<Found>,
    resolved: Vec<bool>,
    taken: Vec<bool>,
    output: Vec<u8>,
}

impl Highlighter {
    pub fn ask(&mut self, query: Query) {
        self.query = query;
    }

    /// Starts a document. `matched` are indexes of the query's terms; others are not marked.
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

    /// Takes escaped JSON text. Returns how much of it: what is left at its end, part of an escape, comes
    /// again with what follows.
    pub fn append(&mut self, escaped: &[u8], is_last: bool) -> usize {
        unescape(escaped, is_last, &mut self.text)
    }

    /// Reads on, a window at most.
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

    /// The term vector of the document that was read; empty where it would be too large.
    pub fn finish_vector(&mut self, analyzer: &Analyzer) -> &[u8] {
        self.output.clear();
        if !self.is_too_long {
            let (record, lexicon) = analyzer.listed();
            term_vector::write(&mut self.output, &self.text, &self.jumps, self.is_code, record, lexicon);
        }
        &self.output
    }

    /// The highlights of a document by its term vector, as `finish` tells them. `None` where it has to be
    /// read after all: it has more places than that looks at.
    pub fn show_known(&mut self, vector: &[u8], escaped: &[u8], matched: impl Iterator<Item = u32>) -> Option<&[u8]> {
        let vector = TermVector::read(vector)?;
        let Self { text, found, resolved, taken, .. } = self;
        found.clear();
        taken.clear();
        taken.resize(vector.terms(), false);
        for mark in matched {
            // Of terms that are the same in the index, the first one is marked.
            let place = self.query.terms.get(mark as usize).and_then(|term| vector.find(&term.indexed));
            let Some((index, taken)) = place.and_then(|index| Some((index, taken.get_mut(index)?))) else { continue };
            if !core::mem::replace(taken, true) {
                vector.places(index, mark, found);
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

/// Writes the highlights of a text in which these places were found, in any order.
fn show(query: &Query, text: &mut Text, found: &mut [Found], content: (usize, usize), lines: Option<Lines>, output: &mut Vec<u8>) {
    found.sort_unstable_by_key(|found| (found.begin, found.end, found.term));
    let marks = Marks::of(text, found, &query.phrases);
    let fragments = choose(text, &marks, query.fragment_bytes, query.fragments_max);
    output.clear();
    json::write(output, text, List { content, fragments: &fragments, found, marks: &marks, lines }, query);
}
