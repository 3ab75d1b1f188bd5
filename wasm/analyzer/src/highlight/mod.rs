//! Highlights: the places of a document that show best why it matched, as JSON text. The document comes as the escaped JSON text in which it is
//! stored, is analysed as it was for the index, and only the places of the terms asked for are kept. Rules: docs/decisions on highlights.

mod fragments;
mod json;
mod query;

use crate::record::{Found, Purpose};
use crate::scanner::{Analyzer, Options, Status, Text, WINDOW_BYTES_MAX};
use fragments::{choose, Marks};
use json::unescape;
pub use query::{Query, Term};

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
    is_code: bool,
    /// Of the window in the analyzer.
    window_begin: usize,
    window_end: usize,
    is_loaded: bool,
    output: Vec<u8>,
}

impl Highlighter {
    pub fn ask(&mut self, query: Query) {
        self.query = query;
    }

    /// Starts a document. `matched` are indexes of the query's terms; others are not marked.
    pub fn begin(&mut self, analyzer: &mut Analyzer, options: Options, matched: &[u32]) {
        self.matched.clear();
        self.matched.extend(matched.iter().filter(|&&index| (index as usize) < self.query.terms.len()));
        self.is_code = options.text == Text::Code;
        self.text.clear();
        self.text.shrink_to(TEXT_BYTES_KEPT);
        self.window_begin = 0;
        self.window_end = 0;
        self.is_loaded = false;
        analyzer.begin(Options { purpose: Purpose::Find, folds: true, asks: false, ..options });
        self.mark(analyzer);
    }

    fn mark(&self, analyzer: &mut Analyzer) {
        let terms = self.matched.iter().filter_map(|&index| Some((index, self.query.terms.get(index as usize)?.indexed.as_slice())));
        analyzer.look_for(terms);
    }

    /// Takes escaped JSON text. Returns how much of it: what is left at its end, part of an escape, comes again with what follows.
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

    /// The highlights of the document as the JSON text of a list.
    pub fn finish(&mut self, analyzer: &Analyzer) -> &[u8] {
        let mut found: Vec<Found> = analyzer.found().iter().filter(|found| found.end as usize <= self.text.len()).copied().collect();
        found.sort_by_key(|found| (found.begin, found.end));
        let marks = Marks::of(&self.text, &found, &self.query.phrases);
        let fragments = choose(&self.text, &marks, self.query.fragment_bytes, self.query.fragments_max);
        self.output.clear();
        json::write(&mut self.output, &self.text, &fragments, &found, &marks, &self.query, self.is_code);
        &self.output
    }

    pub fn output(&self) -> &[u8] {
        &self.output
    }
}
