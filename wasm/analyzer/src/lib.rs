//! Converts text to packed tokens in one pass over UTF-8 in bounded windows, for markdown, plain text or
//! code, in any of the languages of `languages::CODES`. Pure: no clock, no threads, no host calls. Never
//! panics on any input. Takes time linear in the input.
#![forbid(unsafe_code)]
#![warn(clippy::pedantic)]
// Casts: numbers here are bounded by the window (64 KiB) or by the 32-bit address space of the instance.
#![allow(clippy::cast_possible_truncation, clippy::cast_lossless)]
// Bools: the state of the scanner consists of several independent flags. The compiler vectorizes the
// byte-by-byte count of lines.
#![allow(clippy::struct_excessive_bools, clippy::naive_bytecount)]
// `inline(always)`: the per-token path is one loop, measured by bench/search/analyzer.ts.
#![allow(clippy::inline_always, clippy::module_name_repetitions, clippy::must_use_candidate, clippy::precedence)]

mod bytes;
mod characters;
mod code;
mod fold;
mod highlight;
mod lanes;
mod languages;
mod lexicon;
mod markdown;
mod normalise;
mod record;
mod scanner;
mod stem;
#[rustfmt::skip]
mod stop_words;
mod words;

pub use highlight::{Highlighter, Progress, Query, Term};
pub use languages::CODES;
pub use markdown::LOOKAHEAD;
pub use record::Purpose;
pub use scanner::{Analyzer, Options, Status, Text, CUTS_MAX, WINDOW_BYTES_MAX};
