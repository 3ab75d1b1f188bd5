//! A record of packed tokens under construction: occurrences in text order, which are then grouped by term
//! with a counting sort. Layout of the result: docs/formats/packed-tokens.md. A text with more than
//! `OCCURRENCES_MAX` tokens produces several records with absolute positions, which the caller merges.

use crate::lexicon::Lexicon;

/// Maximum number of occurrences in one record: 2^19 x (4 B term + 4 B position + 8 B span) = 8 MB. The
/// result takes at most as much again.
pub const OCCURRENCES_MAX: usize = 1 << 19;

/// Maximum number of found terms of one text: 2^16 x 16 B = 1 MB. The rest of a text with more is not read.
pub const FOUND_MAX: usize = 1 << 16;

/// The purpose for which tokens are collected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Purpose {
    /// Packed tokens.
    #[default]
    Index,
    /// A list of tokens with byte ranges.
    List,
    /// The positions of marked terms.
    Find,
}

/// A position of a wanted term: a byte range in the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Found {
    pub begin: u32,
    pub end: u32,
    /// The value with which the term is marked in the lexicon.
    pub term: u32,
}

const MAGIC: u32 = 0x314b_544d;
const HEADER_WORDS: usize = 5;

/// Byte ranges of a text's tokens, grouped by term.
pub struct SpansByTerm<'a> {
    terms: &'a [u32],
    ends: Vec<usize>,
    spans: Vec<(u32, u32)>,
}

impl SpansByTerm<'_> {
    /// Each term by its number in the lexicon, with its positions in text order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[(u32, u32)])> {
        let begins = core::iter::once(0).chain(self.ends.iter().copied());
        self.terms.iter().zip(begins.zip(&self.ends)).map(|(&term, (begin, &end))| (term, self.spans.get(begin..end).unwrap_or_default()))
    }
}

#[derive(Default)]
pub struct Record {
    /// Lexicon terms in order of first appearance.
    terms: Vec<u32>,
    tf: Vec<u32>,
    /// Index into `terms`, one per occurrence.
    occurrences: Vec<u32>,
    positions: Vec<u32>,
    /// Byte range in the whole text, one per occurrence. Filled only for a list.
    spans: Vec<(u32, u32)>,
    found: Vec<Found>,
    purpose: Purpose,
    position: u32,
    output: Vec<u32>,
    term_bytes: Vec<u8>,
}

impl Record {
    pub fn begin(&mut self, purpose: Purpose) {
        self.clear();
        self.found.clear();
        self.purpose = purpose;
        self.position = 0;
    }

    fn clear(&mut self) {
        self.terms.clear();
        self.tf.clear();
        self.occurrences.clear();
        self.positions.clear();
        self.spans.clear();
    }

    pub fn is_full(&self) -> bool {
        self.occurrences.len() >= OCCURRENCES_MAX
    }

    /// Positions in text order. Of those with the same begin, the whole term comes first.
    pub fn found(&self) -> &[Found] {
        &self.found
    }

    /// The positions of each term, while tokens are listed. Covers the tokens since the last closed record.
    pub fn spans_by_term(&self) -> SpansByTerm<'_> {
        let mut ends = Vec::with_capacity(self.tf.len());
        let mut end = 0;
        for tf in &self.tf {
            ends.push(end);
            end += *tf as usize;
        }
        let mut spans = vec![(0, 0); self.spans.len()];
        for (&local, &span) in self.occurrences.iter().zip(&self.spans) {
            if let Some(next) = ends.get_mut(local as usize) {
                if let Some(target) = spans.get_mut(*next) {
                    *target = span;
                }
                *next += 1;
            }
        }
        SpansByTerm { terms: &self.terms, ends, spans }
    }

    /// Adds a token at the current position. Does not advance the position.
    #[inline(always)]
    pub fn put(&mut self, lexicon: &mut Lexicon, term: u32, span: (u32, u32)) {
        self.put_at(lexicon, term, self.position, span);
    }

    /// Adds a token at `offset` positions after the current one. The positions of a term must be ascending;
    /// the caller drops duplicates.
    pub fn put_ahead(&mut self, lexicon: &mut Lexicon, term: u32, offset: u32, span: (u32, u32)) {
        self.put_at(lexicon, term, self.position + offset, span);
    }

    #[inline(always)]
    fn put_at(&mut self, lexicon: &mut Lexicon, term: u32, position: u32, span: (u32, u32)) {
        if self.purpose == Purpose::Find {
            if let Some(mark) = lexicon.marked(term) {
                self.found.push(Found { begin: span.0, end: span.1, term: mark });
            }
            return;
        }
        let next = self.terms.len() as u32;
        let local = lexicon.local(term, next);
        if local == next {
            self.terms.push(term);
            self.tf.push(0);
        }
        if let Some(tf) = self.tf.get_mut(local as usize) {
            *tf += 1;
        }
        self.occurrences.push(local);
        self.positions.push(position);
        if self.purpose == Purpose::List {
            self.spans.push(span);
        }
    }

    #[inline(always)]
    pub fn advance(&mut self, positions: u32) {
        self.position += positions;
    }

    /// Closes the record, stores its words in `output()` and begins the next record at the same position.
    pub fn finish(&mut self, lexicon: &mut Lexicon) {
        self.output.clear();
        self.term_bytes.clear();
        if self.purpose == Purpose::List {
            self.write_token_list(lexicon);
        } else {
            self.write_packed(lexicon);
        }
        self.clear();
        lexicon.forget_locals();
    }

    /// The closed record. Its words are little-endian in memory.
    pub fn output(&self) -> &[u32] {
        &self.output
    }

    fn write_packed(&mut self, lexicon: &Lexicon) {
        let length = self.occurrences.len();
        let count = self.terms.len();
        self.output.resize(HEADER_WORDS, 0);
        for &term in &self.terms {
            self.term_bytes.extend_from_slice(lexicon.term(term));
            self.output.push(self.term_bytes.len() as u32);
        }
        let header = [MAGIC, self.position, length as u32, count as u32, self.term_bytes.len() as u32];
        self.output[..HEADER_WORDS].copy_from_slice(&header);
        self.output.extend_from_slice(&self.tf);

        // `tf` is replaced by the next free position of each term in the output.
        let mut begin = self.output.len() as u32;
        for tf in &mut self.tf {
            begin += core::mem::replace(tf, begin);
        }
        self.output.resize(begin as usize, 0);
        for (&local, &position) in self.occurrences.iter().zip(&self.positions) {
            if let Some(next) = self.tf.get_mut(local as usize) {
                if let Some(target) = self.output.get_mut(*next as usize) {
                    *target = position;
                }
                *next += 1;
            }
        }
        self.write_term_bytes();
    }

    /// `count`, then for each token `start, end, position, first byte of its term, bytes of its term`, then
    /// the bytes of the terms.
    fn write_token_list(&mut self, lexicon: &Lexicon) {
        self.output.push(self.occurrences.len() as u32);
        let mut ranges = Vec::with_capacity(self.terms.len());
        for &term in &self.terms {
            let bytes = lexicon.term(term);
            ranges.push((self.term_bytes.len() as u32, bytes.len() as u32));
            self.term_bytes.extend_from_slice(bytes);
        }
        for ((&local, &position), &(start, end)) in self.occurrences.iter().zip(&self.positions).zip(&self.spans) {
            let (first, bytes) = ranges.get(local as usize).copied().unwrap_or_default();
            self.output.extend_from_slice(&[start, end, position, first, bytes]);
        }
        self.write_term_bytes();
    }

    fn write_term_bytes(&mut self) {
        self.term_bytes.resize(self.term_bytes.len().next_multiple_of(4), 0);
        self.output.extend(self.term_bytes.chunks_exact(4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]])));
    }
}
