//! The WASM interface of analyzer and chunker: one of each per instance. Arguments are numbers. Bytes are
//! passed through linear memory at the addresses that the `*_address` functions return. An address is valid
//! until the next call that may allocate. Host side: src/engine/wasm.ts.

use mds_analyzer::{Analyzer, Highlighter, Options, Progress, Purpose, Query, Status, Text, CUTS_MAX, LOOKAHEAD, WINDOW_BYTES_MAX};
use mds_chunker::{Chunk, Mode};
use std::cell::RefCell;
use wasm_bindgen::prelude::wasm_bindgen;

const FLAG_STEM: u32 = 1;
const FLAG_MARKDOWN: u32 = 2;
const FLAG_SPANS: u32 = 4;
const FLAG_CODE: u32 = 8;
const FLAG_FOLDS: u32 = 16;
const FLAG_ASKS: u32 = 32;

struct Host {
    analyzer: Analyzer,
    cuts: Vec<[u32; 3]>,
    highlighter: Highlighter,
    /// The buffer to which the caller writes the input of highlights and chunks.
    input: Vec<u8>,
    chunks: Vec<Chunk>,
}

thread_local! {
    static HOST: RefCell<Host> = RefCell::new(Host {
        analyzer: Analyzer::new(0),
        cuts: vec![[0; 3]; CUTS_MAX],
        highlighter: Highlighter::default(),
        input: Vec::new(),
        chunks: Vec::new(),
    });
}

fn with<T>(action: impl FnOnce(&mut Host) -> T) -> T {
    HOST.with_borrow_mut(action)
}

/// Sets the seed of the hash tables. Must be called once, before any other function.
#[wasm_bindgen]
pub fn analyzer_seed(low: u32, high: u32) {
    with(|host| host.analyzer = Analyzer::new(u64::from(high) << 32 | u64::from(low)));
}

#[wasm_bindgen]
pub fn analyzer_window_bytes() -> u32 {
    WINDOW_BYTES_MAX as u32
}

/// A window that is not the last one must be longer than this.
#[wasm_bindgen]
pub fn analyzer_lookahead_bytes() -> u32 {
    LOOKAHEAD as u32
}

#[wasm_bindgen]
pub fn analyzer_window_address() -> u32 {
    with(|host| host.analyzer.window_mut().as_ptr() as u32)
}

/// Buffer for `analyzer_cuts_max()` triples of u32.
#[wasm_bindgen]
pub fn analyzer_cuts_address() -> u32 {
    with(|host| host.cuts.as_ptr() as u32)
}

#[wasm_bindgen]
pub fn analyzer_cuts_max() -> u32 {
    CUTS_MAX as u32
}

#[wasm_bindgen]
pub fn analyzer_begin(language: u32, flags: u32) {
    with(|host| host.analyzer.begin(options(language, flags)));
}

fn options(language: u32, flags: u32) -> Options {
    let has = |flag: u32| flags & flag != 0;
    Options {
        language,
        stem: has(FLAG_STEM),
        text: match (has(FLAG_CODE), has(FLAG_MARKDOWN)) {
            (true, _) => Text::Code,
            (false, true) => Text::Markdown,
            (false, false) => Text::Plain,
        },
        folds: has(FLAG_FOLDS),
        asks: has(FLAG_ASKS),
        purpose: if has(FLAG_SPANS) { Purpose::List } else { Purpose::Index },
    }
}

#[wasm_bindgen]
pub fn analyzer_load(bytes: u32, is_last: u32) {
    with(|host| host.analyzer.load(bytes as usize, is_last != 0));
}

/// Returns 0 if the next window is needed, 1 if `analyzer_finish` is needed, 2 if the words of a Han run are
/// needed.
#[wasm_bindgen]
pub fn analyzer_run() -> u32 {
    with(|host| match host.analyzer.run() {
        Status::NeedsWindow => 0,
        Status::NeedsFinish => 1,
        Status::NeedsWords => 2,
    })
}

/// Number of window bytes that have been processed.
#[wasm_bindgen]
pub fn analyzer_cursor() -> u32 {
    with(|host| host.analyzer.cursor() as u32)
}

/// Number of bytes of the Han run that begins at the cursor.
#[wasm_bindgen]
pub fn analyzer_han_run_bytes() -> u32 {
    with(|host| host.analyzer.han_run().1 as u32)
}

#[wasm_bindgen]
pub fn analyzer_place_words(count: u32) {
    with(|host| {
        let cuts = host.cuts.get(..count as usize).unwrap_or_default();
        host.analyzer.place_words(cuts);
    });
}

/// Closes the record. Returns its length in 4-byte words. The record is at `analyzer_output_address()`.
#[wasm_bindgen]
pub fn analyzer_finish() -> u32 {
    with(|host| host.analyzer.finish().len() as u32)
}

#[wasm_bindgen]
pub fn analyzer_output_address() -> u32 {
    with(|host| host.analyzer.output().as_ptr() as u32)
}

/// Returns the address of a buffer of at least `bytes` bytes for the input of the next call.
#[wasm_bindgen]
pub fn input_room(bytes: u32) -> u32 {
    with(|host| {
        if host.input.len() < bytes as usize {
            host.input.resize(bytes as usize, 0);
        }
        host.input.as_ptr() as u32
    })
}

/// Sets the query for all following documents. Format: `Query::read`. Returns 0 if the bytes are malformed.
#[wasm_bindgen]
pub fn highlight_query(bytes: u32) -> u32 {
    with(|host| match host.input.get(..bytes as usize).and_then(Query::read) {
        Some(query) => {
            host.highlighter.ask(query);
            1
        }
        None => 0,
    })
}

/// Starts a document that matched `count` terms. The input contains their indexes (four bytes each), followed
/// by `bytes` bytes of its escaped content. Returns the number of content bytes consumed. The caller passes
/// the rest again together with the following content.
#[wasm_bindgen]
pub fn highlight_begin(language: u32, flags: u32, count: u32, bytes: u32, is_last: u32) -> u32 {
    with(|host| {
        let [matched, content] = sections(&host.input, [count * 4, bytes]);
        host.highlighter.begin(&mut host.analyzer, options(language, flags), numbers(matched));
        host.highlighter.append(content, is_last != 0) as u32
    })
}

/// Splits the first bytes of the input into sections of the given lengths.
fn sections<const COUNT: usize>(input: &[u8], lengths: [u32; COUNT]) -> [&[u8]; COUNT] {
    let mut rest = input;
    lengths.map(|length| {
        let (section, after) = rest.split_at_checked(length as usize).unwrap_or_default();
        rest = after;
        section
    })
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes.chunks_exact(4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
}

/// Appends further content from the input. Returns the number of bytes consumed. The caller passes the rest
/// again together with the following content.
#[wasm_bindgen]
pub fn highlight_append(bytes: u32, is_last: u32) -> u32 {
    with(|host| host.highlighter.append(host.input.get(..bytes as usize).unwrap_or_default(), is_last != 0) as u32)
}

/// Returns 0 if everything has been read, 1 if there is more to read, 2 if the words of a Han run are needed.
#[wasm_bindgen]
pub fn highlight_run() -> u32 {
    with(|host| match host.highlighter.run(&mut host.analyzer) {
        Progress::Done => 0,
        Progress::More => 1,
        Progress::NeedsWords => 2,
    })
}

/// Starts the term vector of a document. The input contains its escaped content. Continue with
/// `highlight_run`.
#[wasm_bindgen]
pub fn highlight_begin_vector(language: u32, flags: u32, bytes: u32) {
    with(|host| {
        let [content] = sections(&host.input, [bytes]);
        host.highlighter.begin_vector(&mut host.analyzer, options(language, flags), content);
    });
}

/// Closes the term vector. Returns its length in bytes, or 0 if it would be too large. It is at
/// `highlight_output_address()`.
#[wasm_bindgen]
pub fn highlight_finish_vector() -> u32 {
    with(|host| host.highlighter.finish_vector(&host.analyzer).len() as u32)
}

/// Produces the list of highlights of a document from its term vector; the result equals that of
/// `highlight_finish`. The input contains the indexes of the `count` terms that it matched, its vector, and
/// its escaped content. Returns 0 if the document must be analyzed instead.
#[wasm_bindgen]
pub fn highlight_known(count: u32, vector_bytes: u32, bytes: u32) -> u32 {
    with(|host| {
        let [matched, vector, content] = sections(&host.input, [count * 4, vector_bytes, bytes]);
        host.highlighter.show_known(vector, content, numbers(matched)).map_or(0, |list| list.len() as u32)
    })
}

/// Produces the list of highlights as JSON text. Returns its length in bytes. It is at
/// `highlight_output_address()`.
#[wasm_bindgen]
pub fn highlight_finish() -> u32 {
    with(|host| host.highlighter.finish(&host.analyzer).len() as u32)
}

#[wasm_bindgen]
pub fn highlight_output_address() -> u32 {
    with(|host| host.highlighter.output().as_ptr() as u32)
}

/// Chunks the text in the first `bytes` bytes of the input. Returns the number of chunks. They are at
/// `chunk_output_address()`, one pair of u32 each. `code`: 0 for prose.
#[wasm_bindgen]
pub fn chunk_run(bytes: u32, code: u32, budget: u32, overlap: u32) -> u32 {
    with(|host| {
        let [text] = sections(&host.input, [bytes]);
        host.chunks = mds_chunker::chunk(text, if code == 0 { Mode::Prose } else { Mode::Code }, budget, overlap);
        host.chunks.len() as u32
    })
}

#[wasm_bindgen]
pub fn chunk_output_address() -> u32 {
    with(|host| host.chunks.as_ptr() as u32)
}
