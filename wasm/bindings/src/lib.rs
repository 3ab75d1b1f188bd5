//! The WASM face of the analyzer: one analyzer per instance, numbers as arguments, bytes through linear memory at the addresses that the
//! `*_address` functions tell. An address is valid until the next call that may allocate. The host's side: src/engine/wasm_instance.ts.

use mds_analyzer::{Analyzer, Options, Status, CUTS_MAX, LOOKAHEAD, WINDOW_BYTES_MAX};
use std::cell::RefCell;
use wasm_bindgen::prelude::wasm_bindgen;

const FLAG_STEM: u32 = 1;
const FLAG_MARKDOWN: u32 = 2;
const FLAG_SPANS: u32 = 4;

struct Host {
    analyzer: Analyzer,
    cuts: Vec<[u32; 3]>,
}

thread_local! {
    static HOST: RefCell<Host> = RefCell::new(Host { analyzer: Analyzer::new(0), cuts: vec![[0; 3]; CUTS_MAX] });
}

fn with<T>(action: impl FnOnce(&mut Host) -> T) -> T {
    HOST.with_borrow_mut(action)
}

/// Once, before anything else: the seed of the hash tables.
#[wasm_bindgen]
pub fn analyzer_seed(low: u32, high: u32) {
    with(|host| host.analyzer = Analyzer::new(u64::from(high) << 32 | u64::from(low)));
}

#[wasm_bindgen]
pub fn analyzer_window_bytes() -> u32 {
    WINDOW_BYTES_MAX as u32
}

/// A window that is not the last must be longer than this.
#[wasm_bindgen]
pub fn analyzer_lookahead_bytes() -> u32 {
    LOOKAHEAD as u32
}

#[wasm_bindgen]
pub fn analyzer_window_address() -> u32 {
    with(|host| host.analyzer.window_mut().as_ptr() as u32)
}

/// Room for `analyzer_cuts_max()` triples of u32.
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
    let options = Options { language, stem: flags & FLAG_STEM != 0, markdown: flags & FLAG_MARKDOWN != 0, spans: flags & FLAG_SPANS != 0 };
    with(|host| host.analyzer.begin(options));
}

#[wasm_bindgen]
pub fn analyzer_load(bytes: u32, is_last: u32) {
    with(|host| host.analyzer.load(bytes as usize, is_last != 0));
}

/// 0 needs the next window, 1 needs `analyzer_finish`, 2 needs the words of a Han run.
#[wasm_bindgen]
pub fn analyzer_run() -> u32 {
    with(|host| match host.analyzer.run() {
        Status::NeedsWindow => 0,
        Status::NeedsFinish => 1,
        Status::NeedsWords => 2,
    })
}

/// Bytes of the window that are done with.
#[wasm_bindgen]
pub fn analyzer_cursor() -> u32 {
    with(|host| host.analyzer.cursor() as u32)
}

/// Bytes of the Han run that begins at the cursor.
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

/// Closes the record; its length in 4-byte words, at `analyzer_output_address()`.
#[wasm_bindgen]
pub fn analyzer_finish() -> u32 {
    with(|host| host.analyzer.finish().len() as u32)
}

#[wasm_bindgen]
pub fn analyzer_output_address() -> u32 {
    with(|host| host.analyzer.output().as_ptr() as u32)
}
