//! Processes sixteen bytes at a time: finds ASCII letters and digits, finds bytes of a set, and converts to
//! lower case. Uses SIMD instructions on wasm32. Elsewhere (the crate's own tests) plain loops produce the
//! same results.

/// Bytes in one block. A buffer must be padded with this many zeros if blocks near its end are read.
pub const LANES: usize = 16;

/// A block as two little-endian words. The first eight bytes of the text are in `low`, the others in `high`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Block {
    pub low: u64,
    pub high: u64,
}

/// The block that begins at `at`. Returns zeros if the buffer is too short, which never happens because
/// buffers are padded.
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
        i8x16_bitmask, i8x16_ne, i8x16_splat, i8x16_sub, i8x16_swizzle, u64x2, u64x2_extract_lane, u8x16_lt, u8x16_shr, u8x16_splat, v128,
        v128_and, v128_or,
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
    pub fn set_masks<const SETS: usize>(block: Block, sets: [Block; SETS]) -> [u32; SETS] {
        let bytes = u64x2(block.low, block.high);
        let rows = i8x16_swizzle(u64x2(super::ROWS, 0), u8x16_shr(bytes, 4));
        let columns = v128_and(bytes, u8x16_splat(0x0f));
        sets.map(|set| {
            let found = v128_and(i8x16_swizzle(u64x2(set.low, set.high), columns), rows);
            u32::from(i8x16_bitmask(i8x16_ne(found, i8x16_splat(0))))
        })
    }

    #[inline(always)]
    pub fn high_mask(block: Block) -> u32 {
        u32::from(i8x16_bitmask(u64x2(block.low, block.high)))
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

    pub fn set_masks<const SETS: usize>(block: Block, sets: [Block; SETS]) -> [u32; SETS] {
        sets.map(|set| {
            let columns = bytes(set);
            let is_in = |byte: u8| byte < 0x80 && columns[usize::from(byte & 15)] >> (byte >> 4) & 1 == 1;
            bytes(block).iter().enumerate().filter(|(_, &byte)| is_in(byte)).fold(0, |mask, (i, _)| mask | 1 << i)
        })
    }

    pub fn high_mask(block: Block) -> u32 {
        bytes(block).iter().enumerate().filter(|(_, byte)| **byte >= 0x80).fold(0, |mask, (i, _)| mask | 1 << i)
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

/// The bit of each row of sixteen ASCII characters, indexed by the upper half of the byte. 0 for bytes beyond
/// ASCII.
#[cfg(target_arch = "wasm32")]
const ROWS: u64 = 0x8040_2010_0804_0201;

/// Builds a set of ASCII characters for `set_masks`. For each lower half of the byte it contains the rows in
/// which the byte is in the set.
pub const fn set_of(characters: &[u8]) -> Block {
    let mut columns = [0u8; 16];
    let mut at = 0;
    while at < characters.len() {
        columns[(characters[at] & 15) as usize] |= 1 << (characters[at] >> 4 & 7);
        at += 1;
    }
    let mut halves = [0u64; 2];
    let mut column = 0;
    while column < 16 {
        halves[column / 8] |= (columns[column] as u64) << (8 * (column % 8));
        column += 1;
    }
    Block { low: halves[0], high: halves[1] }
}

pub use imp::{high_mask, lower, set_masks, word_mask};

/// Keeps the first `count` (0 to 16) bytes of the block and clears the others.
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
    fn a_block_tells_wanted_and_high_bytes() {
        let block = load(b"a`b]\xff\xc3\x80......`a]", 0);
        assert_eq!(set_masks(block, [set_of(b"`]"), set_of(b"")]), [0b1010_0000_0000_1010, 0]);
        for byte in 0..=u8::MAX {
            let one = load(&[byte; LANES], 0);
            for wanted in 0..0x80u8 {
                assert_eq!(set_masks(one, [set_of(&[wanted])]), [if wanted == byte { 0xffff } else { 0 }]);
            }
        }
        assert_eq!(high_mask(block), 0b0111_0000);
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
