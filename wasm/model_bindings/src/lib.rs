//! The WASM interface of the static embedding model: one model per instance. Arguments are numbers. Bytes are
//! passed through linear memory at the addresses that functions return. An address is valid until the next
//! call that may allocate. Host side: src/engine/models/static_model.ts.

use mds_static_model::StaticModel;
use std::cell::RefCell;
use wasm_bindgen::prelude::wasm_bindgen;

#[derive(Default)]
struct Host {
    model: Option<StaticModel>,
    /// The buffer to which the caller writes the model, then texts.
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

/// Returns the address of a buffer of `bytes` bytes for the input of the next call.
#[wasm_bindgen]
pub fn model_input(bytes: u32) -> u32 {
    with(|host| {
        host.input.resize(bytes as usize, 0);
        host.input.as_ptr() as u32
    })
}

/// Opens the model in the input. Returns its number of dimensions, or 0 if the input is not a model.
#[wasm_bindgen]
pub fn model_open() -> u32 {
    with(|host| {
        host.model = StaticModel::open(std::mem::take(&mut host.input));
        host.model.as_ref().map_or(0, |model| model.dimensions() as u32)
    })
}

/// Embeds the text in the input. Returns the address of the vector.
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

/// Tokenizes the text in the input. Returns the number of tokens. They are at `model_tokens_address()`, two
/// bytes each.
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
