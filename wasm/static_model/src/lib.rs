//! A static embedding model. The vector of a text is the normalized mean of its tokens' rows in a table.
//! Tokens are those of a byte-pair encoding without a pre-tokenizer (`SentencePiece` style, with bytes for
//! unknown characters). Pure. Never panics on any model or text. Format of the model:
//! docs/formats/static-model.md.
#![forbid(unsafe_code)]
#![warn(clippy::pedantic)]
// Casts: tokens are below 2^16, offsets below 2^32, which the 32-bit address space of the instance bounds.
#![allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::module_name_repetitions, clippy::must_use_candidate)]

mod layout;
mod merges;
mod pieces;
mod pool;
mod tokenizer;

use layout::Layout;
use pool::Pool;
use tokenizer::Tokenizer;

pub struct StaticModel {
    tokenizer: Tokenizer,
    pool: Pool,
    tokens: Vec<u16>,
}

impl StaticModel {
    /// Returns `None` if the bytes are not a model of this version.
    pub fn open(bytes: Vec<u8>) -> Option<Self> {
        let layout = Layout::read(&bytes)?;
        let tokenizer = Tokenizer::new(&layout, &bytes)?;
        Some(StaticModel { tokenizer, pool: Pool::new(&layout, bytes), tokens: Vec::new() })
    }

    pub fn dimensions(&self) -> usize {
        self.pool.dimensions()
    }

    /// The tokens of a text. Equal to the output of the model authors' tokenizer without special tokens at
    /// the ends.
    pub fn tokens(&mut self, text: &[u8]) -> &[u16] {
        self.tokens.clear();
        self.tokenizer.encode(text, &mut self.tokens);
        &self.tokens
    }

    /// The vector of a text: of length one, or zero for a text without tokens.
    pub fn embed(&mut self, text: &[u8]) -> &[f32] {
        self.tokens(text);
        self.pool.mean(&self.tokens)
    }
}
