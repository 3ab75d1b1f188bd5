//! Cuts text into chunks, each of which is embedded as one vector. Prose is cut by its markdown structure,
//! code where its brackets balance. Chunks are ascending byte ranges that neither begin nor end with white
//! space. Together they cover everything except white space. Sizes are counted in characters (Unicode scalar
//! values). Pure. Never panics on any bytes. Takes time linear in the text and memory linear in the budget.
//! Rules and reasons: docs/decisions/search/chunks-and-models.md.
#![forbid(unsafe_code)]
#![warn(clippy::pedantic)]
// Casts: offsets are below 2^32, which the 32-bit address space of the instance bounds.
#![allow(clippy::cast_possible_truncation, clippy::module_name_repetitions, clippy::must_use_candidate)]
// The compiler vectorizes the byte-by-byte count of characters.
#![allow(clippy::naive_bytecount)]

mod code;
mod lines;
mod prose;
mod text;
mod tokens;

/// Maximum budget. It bounds the memory for the structure of the text (10 MB).
pub const BUDGET_MAX: u32 = 1 << 17;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Prose,
    Code,
}

/// A chunk: a half-open range of byte offsets.
pub type Chunk = [u32; 2];

/// Returns the chunks of a text. `budget`: maximum number of characters of a chunk, clamped to
/// 1..=`BUDGET_MAX`. Only brackets in code produce longer chunks. `overlap`: maximum number of characters of
/// whole sentences that a chunk of prose repeats from the previous chunk. They count towards its budget and
/// take at most half of it.
pub fn chunk(text: &[u8], mode: Mode, budget: u32, overlap: u32) -> Vec<Chunk> {
    let budget = budget.clamp(1, BUDGET_MAX);
    match mode {
        Mode::Prose => prose::chunk(text, budget, overlap.min(budget / 2)),
        Mode::Code => code::chunk(text, budget),
    }
}
