//! The WASM face of the static embedding model: one model per instance, numbers as arguments, bytes through
//! linear memory at the addresses that are told. An address is valid until the next call that may allocate.
//! The host's side: src/engine/static_model.ts.

use mds_static_model::StaticModel;
use std::cell::RefCell;
use wasm_bindgen::prelude::wasm_bindgen;

#[derive(Default)]
struct Host {
    model: Option<StaticModel>,
    /// Where the caller writes the model, then texts.
    input: Vec<u8>,
    tokens: Vec<u16>,
    vector: Vec<f32>,
}

thread_local! {
    static HOST: RefCell<Host> = RefCell::default();
}

fn with<T>(action: impl FnOnce(&mut Host) -> T) -> T {
    HOST.with_borrow_mut(action)
}

/// Address of so many bytes for what the next call takes in.
#[wasm_bindgen]
pub fn model_input(bytes: u32) -> u32 {
    with(|host| {
        host.input.resize(bytes as usize, 0);
        host.input.as_ptr() as u32
    })
}

/// Opens the model in the input. Its dimensions, 0 where it is none.
#[wasm_bindgen]
pub fn model_open() -> u32 {
    with(|host| {
        host.model = StaticModel::open(std::mem::take(&mut host.input));
        host.model.as_ref().map_or(0, |model| model.dimensions() as u32)
    })
}

/// The vector of the text in the input, at the address that is returned.
#[wasm_bindgen]
pub fn model_embed() -> u32 {
    with(|host| {
        if let Some(model) = host.model.as_mut() {
            host.vector.clear();
            host.vector.extend_from_slice(model.embed(&host.input));
        }
        host.vector.as_ptr() as u32
    })
}

/// Tokens of the text in the input, two bytes each, at `model_tokens_address()`: how many.
#[wasm_bindgen]
pub fn model_tokens() -> u32 {
    with(|host| {
        if let Some(model) = host.model.as_mut() {
            host.tokens.clear();
            host.tokens.extend_from_slice(model.tokens(&host.input));
        }
        host.tokens.len() as u32
    })
}

#[wasm_bindgen]
pub fn model_tokens_address() -> u32 {
    with(|host| host.tokens.as_ptr() as u32)
}
