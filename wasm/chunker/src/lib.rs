//! Cuts a text into chunks, each to be embedded as one vector: prose by the structure of markdown, code where
//! its brackets balance. Chunks are ascending byte ranges that begin and end with what is no white space, and
//! together cover all that is none. Sizes are counted in characters (Unicode scalar values). Pure; never
//! panics on any bytes, takes time linear in them and memory linear in the budget. Rules and reasons:
//! docs/decisions/0130-chunks.md.
#![forbid(unsafe_code)]
#![warn(clippy::pedantic)]
// Casts: offsets are below 2^32, which the 32-bit address space of the instance bounds.
#![allow(clippy::cast_possible_truncation, clippy::module_name_repetitions, clippy::must_use_candidate)]
// Counting characters byte by byte is what a vector unit is given anyway.
#![allow(clippy::naive_bytecount)]

mod code;
mod lines;
mod prose;
mod text;
mod tokens;

/// Highest budget: what a chunker holds of the structure of the text is bounded by it (10 MB).
pub const BUDGET_MAX: u32 = 1 << 17;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Prose,
    Code,
}

/// A chunk: byte offsets, half-open.
pub type Chunk = [u32; 2];

/// The chunks of a text. `budget`: characters of a chunk, clamped to 1..=`BUDGET_MAX`; only brackets of code
/// make longer ones. `overlap`: characters of whole sentences that a chunk of prose repeats of the one
/// before, inside its budget and at most half of it.
pub fn chunk(text: &[u8], mode: Mode, budget: u32, overlap: u32) -> Vec<Chunk> {
    let budget = budget.clamp(1, BUDGET_MAX);
    match mode {
        Mode::Prose => prose::chunk(text, budget, overlap.min(budget / 2)),
        Mode::Code => code::chunk(text, budget),
    }
}
