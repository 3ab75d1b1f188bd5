//! Chunks of prose. Starting at the end of the previous chunk, the best cut within the budget is chosen:
//! before a heading if the chunk is large enough, else between blocks, parts of a block, lines of a block,
//! sentences, words, characters. Of several positions of one kind the last is chosen. A finer kind is used
//! only if the unit of the coarser kind does not fit into a chunk. Two consecutive chunks together are
//! therefore longer than half the budget. This bounds the work: each chunk reads a few budgets of text.

use crate::lines::{Cut, Line, Lines};
use crate::text::{advance, count, last_space, retreat, sentence_end, skip_space, trim_end};
use crate::Chunk;
use std::collections::VecDeque;

pub fn chunk(text: &[u8], budget: u32, overlap: u32) -> Vec<Chunk> {
    let mut chunks: Vec<Chunk> = Vec::new();
    let mut packing = Packing::new(text, budget - overlap);
    while let Some(end) = packing.next_end() {
        let begin = match chunks.last() {
            Some(&before) if overlap > 0 => overlap_begin(text, before, packing.begin, overlap),
            _ => packing.begin,
        };
        chunks.push([begin as u32, end as u32]);
        packing.advance_to(end);
    }
    chunks
}

/// Start of the sentences that the chunk beginning at `begin` repeats from the previous chunk `before`. Only
/// whole sentences are repeated, and never the whole previous chunk. Returns `begin` if there are none.
fn overlap_begin(text: &[u8], before: Chunk, begin: usize, overlap: u32) -> usize {
    let [first, end] = before.map(|at| at as usize);
    let reach = retreat(text, first, begin, overlap);
    // The search for sentence ends starts a little earlier, because the relevant end may be there, followed
    // by white space.
    let mut at = retreat(text, first, reach, overlap);
    while let Some(sentence) = sentence_end(text, at, end) {
        let start = skip_space(text, sentence, end);
        if start >= reach && start > first && start < end {
            return start;
        }
        at = sentence;
    }
    begin
}

struct Packing<'t> {
    text: &'t [u8],
    budget: u32,
    lines: Lines<'t>,
    /// The lines from `begin` on, as many as the choice of a cut needs, or all remaining lines.
    window: VecDeque<Line>,
    is_all: bool,
    /// Start of the chunk, and number of characters of the text before it.
    begin: usize,
    first: u32,
}

impl<'t> Packing<'t> {
    fn new(text: &'t [u8], budget: u32) -> Self {
        let mut packing = Packing { text, budget, lines: Lines::new(text), window: VecDeque::new(), is_all: false, begin: 0, first: 0 };
        packing.pull();
        packing.begin_line();
        packing
    }

    /// Returns the end of the chunk that begins at `begin`. `None` after the last chunk.
    fn next_end(&mut self) -> Option<usize> {
        self.fill_window();
        let end = self.window.back()?.end;
        if self.is_all && self.fits(self.window.len()) {
            return Some(end);
        }
        Some(match self.before_line() {
            Some(index) => self.window[index - 1].end,
            None => self.inside_line(),
        })
    }

    /// Continues after the chunk that ended at `end`.
    fn advance_to(&mut self, end: usize) {
        while self.window.front().is_some_and(|line| line.end <= end) {
            self.window.pop_front();
        }
        if self.window.is_empty() {
            self.pull();
        }
        if self.window.front().is_some_and(|line| line.begin < end) {
            let begin = skip_space(self.text, end, self.text.len());
            self.first += count(&self.text[self.begin..begin]);
            self.begin = begin;
        } else {
            self.begin_line();
        }
    }

    fn begin_line(&mut self) {
        if let Some(line) = self.window.front() {
            (self.begin, self.first) = (line.begin, line.first);
        }
    }

    fn pull(&mut self) -> Option<Line> {
        let line = self.lines.next();
        self.is_all |= line.is_none();
        self.window.extend(line);
        line
    }

    /// A chunk is cut before the first line that exceeds the budget, or earlier. The text that begins there
    /// is needed for one more budget.
    fn fill_window(&mut self) {
        let beyond = |line: &Line| line.last - self.first > self.budget;
        let mut crossing = self.window.iter().find(|line| beyond(line)).copied();
        while !self.is_all && crossing.zip(self.window.back()).is_none_or(|(crossing, back)| back.last - crossing.first <= self.budget) {
            let (first, budget) = (self.first, self.budget);
            let line = self.pull();
            crossing = crossing.or(line.filter(|line| line.last - first > budget));
        }
    }

    /// Number of characters of the chunk if it is cut before the line at `index` of the window.
    fn fill(&self, index: usize) -> u32 {
        self.window[index - 1].last - self.first
    }

    fn fits(&self, index: usize) -> bool {
        self.fill(index) <= self.budget
    }

    /// Returns the line before which to cut, if there is a suitable one.
    fn before_line(&self) -> Option<usize> {
        let within = (1..self.window.len()).take_while(|&index| self.fits(index)).count();
        self.before_heading(within)
            .or_else(|| [Cut::Block, Cut::Part, Cut::Line].into_iter().find_map(|kind| self.before_kind(within, kind)))
    }

    /// A cut before a heading is used if the chunk before it fills at least half of its budget; the highest
    /// heading level is preferred. A quarter suffices if the whole section then fits into a chunk.
    fn before_heading(&self, within: usize) -> Option<usize> {
        let headings = || (1..=within).filter(|&index| matches!(self.window[index].cut, Cut::Section(_)));
        // Of equal ones the last one is wanted. `min_by_key` returns the first, so the iteration is reversed.
        let best = headings().rev().filter(|&index| self.fill(index) * 2 >= self.budget).min_by_key(|&index| self.window[index].cut);
        let pays = |&index: &usize| self.fill(index) * 4 >= self.budget && self.piece_fits(index, self.window[index].cut);
        best.or_else(|| headings().next_back().filter(pays))
    }

    /// The last line of this kind or a better one within the budget, if the unit that it begins fits into a
    /// chunk, or if the chunk is at least half full.
    fn before_kind(&self, within: usize, kind: Cut) -> Option<usize> {
        let index = (1..=within).rev().find(|&index| self.window[index].cut <= kind)?;
        (self.piece_fits(index, kind) || self.fill(index) * 2 >= self.budget).then_some(index)
    }

    /// Returns whether the unit that begins with the line, up to the next line of this kind or a better one,
    /// fits into a chunk.
    fn piece_fits(&self, index: usize, kind: Cut) -> bool {
        let next = (index + 1..self.window.len()).find(|&next| self.window[next].cut <= kind);
        let last = next.unwrap_or(self.window.len()) - 1;
        (next.is_some() || self.is_all) && self.window[last].last - self.window[index].first <= self.budget
    }

    /// Position of a cut in running text: after a sentence, a word, or a character.
    fn inside_line(&self) -> usize {
        let limit = advance(self.text, self.begin, self.budget);
        self.sentence(limit).or_else(|| self.word(limit)).unwrap_or_else(|| trim_end(self.text, self.begin, limit))
    }

    /// After the last sentence, if the next one fits into a chunk or this chunk is at least half full.
    fn sentence(&self, limit: usize) -> Option<usize> {
        // Leading headings are not searched for sentences.
        let floor = self.window.iter().find(|line| !line.is_heading).map_or(self.begin, |line| line.begin.max(self.begin));
        let mut best = None;
        let mut at = floor;
        while let Some(end) = sentence_end(self.text, at, limit) {
            best = Some(end);
            at = end;
        }
        let best = best?;
        let next = skip_space(self.text, best, self.text.len());
        let reach = advance(self.text, next, self.budget);
        let is_whole = reach == self.text.len() || sentence_end(self.text, next, reach).is_some();
        (is_whole || count(&self.text[self.begin..best]) * 2 >= self.budget).then_some(best)
    }

    /// After the last word, if the next one fits into a chunk or this chunk is at least half full.
    fn word(&self, limit: usize) -> Option<usize> {
        let space = last_space(self.text, self.begin, limit)?;
        let end = trim_end(self.text, self.begin, space);
        let next = skip_space(self.text, space, self.text.len());
        let reach = advance(self.text, next, self.budget);
        let is_whole = reach == self.text.len() || last_space(self.text, next, reach).is_some();
        (is_whole || count(&self.text[self.begin..end]) * 2 >= self.budget).then_some(end)
    }
}
