//! Sixteen bytes at a time: which of them are ASCII letters or digits, and the same bytes in lower case.
//! On wasm32 these are SIMD instructions; elsewhere (the crate's own tests) plain loops with the same results.

/// Bytes in one block. Whoever reads a block near the end of a buffer pads the buffer with that many zeros.
pub const LANES: usize = 16;

/// A block as two little-endian words: byte `i` of the text is byte `i` of `low`, then of `high`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Block {
    pub low: u64,
    pub high: u64,
}

/// The block that begins at `at`, or zeros where the buffer ends too early (it never does: buffers are padded).
#[inline(always)]
pub fn load(bytes: &[u8], at: usize) -> Block {
    match bytes.get(at..at + LANES) {
        Some(slice) => {
            let (low, high) = slice.split_at(8);
            Block { low: word(low), high: word(high) }
        }
        None => Block::default(),
    }
}

#[inline(always)]
fn word(bytes: &[u8]) -> u64 {
    <[u8; 8]>::try_from(bytes).map_or(0, u64::from_le_bytes)
}

#[cfg(target_arch = "wasm32")]
mod imp {
    use super::Block;
    use core::arch::wasm32::{
        i8x16_bitmask, i8x16_splat, i8x16_sub, u64x2, u64x2_extract_lane, u8x16_lt, u8x16_splat, v128, v128_and, v128_or,
    };

    #[inline(always)]
    fn between(bytes: v128, first: u8, count: u8) -> v128 {
        u8x16_lt(i8x16_sub(bytes, u8x16_splat(first)), u8x16_splat(count))
    }

    #[inline(always)]
    pub fn word_mask(block: Block) -> u32 {
        let bytes = u64x2(block.low, block.high);
        let letters = between(v128_or(bytes, i8x16_splat(0x20)), b'a', 26);
        u32::from(i8x16_bitmask(v128_or(letters, between(bytes, b'0', 10))))
    }

    #[inline(always)]
    pub fn lower(block: Block) -> Block {
        let bytes = u64x2(block.low, block.high);
        let lowered = v128_or(bytes, v128_and(between(bytes, b'A', 26), i8x16_splat(0x20)));
        Block { low: u64x2_extract_lane::<0>(lowered), high: u64x2_extract_lane::<1>(lowered) }
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod imp {
    use super::Block;

    pub fn word_mask(block: Block) -> u32 {
        bytes(block).iter().enumerate().filter(|(_, byte)| byte.is_ascii_alphanumeric()).fold(0, |mask, (i, _)| mask | 1 << i)
    }

    pub fn lower(block: Block) -> Block {
        let half = |word: u64| u64::from_le_bytes(word.to_le_bytes().map(|byte| byte.to_ascii_lowercase()));
        Block { low: half(block.low), high: half(block.high) }
    }

    fn bytes(block: Block) -> [u8; 16] {
        let mut all = [0; 16];
        all[..8].copy_from_slice(&block.low.to_le_bytes());
        all[8..].copy_from_slice(&block.high.to_le_bytes());
        all
    }
}

pub use imp::{lower, word_mask};

/// The first `count` (0 to 16) bytes of the block, zeros after them.
#[inline(always)]
pub fn keep(block: Block, count: usize) -> Block {
    let mask = |bytes: usize| if bytes >= 8 { u64::MAX } else { (1u64 << (8 * bytes)) - 1 };
    Block { low: block.low & mask(count), high: block.high & mask(count.saturating_sub(8)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_tells_letters_and_digits_from_the_rest() {
        let block = load(b"Az09 _@[`{/:\x80\xff\0Z", 0);
        assert_eq!(word_mask(block), 0b1000_0000_0000_1111);
    }

    #[test]
    fn lower_case_touches_ascii_capitals_only() {
        let lowered = lower(load(b"ABZ@[az19\xc3\x89.....", 0));
        assert_eq!(lowered, load(b"abz@[az19\xc3\x89.....", 0));
    }

    #[test]
    fn keep_clears_what_follows() {
        let block = load(b"abcdefghijklmnop", 0);
        for count in 0..=LANES {
            let mut expected = [0u8; LANES];
            expected[..count].copy_from_slice(&b"abcdefghijklmnop"[..count]);
            assert_eq!(keep(block, count), load(&expected, 0), "{count}");
        }
    }
}
