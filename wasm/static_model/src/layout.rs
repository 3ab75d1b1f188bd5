//! Positions of the parts of a model in its bytes. Every length is validated before it is used.

const MAGIC: &[u8] = b"MDSSTAT\x01";
/// Magic, CRC-32 of the following bytes (checked by the host), five numbers.
const HEADER_BYTES: usize = 8 + 4 + 5 * 4;

pub struct Layout {
    pub rows: usize,
    pub dimensions: usize,
    pub first_byte_token: u16,
    characters: usize,
    merges: usize,
}

impl Layout {
    pub fn read(bytes: &[u8]) -> Option<Layout> {
        let numbers: Vec<usize> = words(bytes.get(12..HEADER_BYTES)?).map(|number| number as usize).collect();
        let [rows, dimensions, characters, merges, first_byte_token] = numbers.try_into().ok()?;
        let is_sane = bytes.starts_with(MAGIC)
            && (1..=1 << 16).contains(&rows)
            && (1..=1 << 12).contains(&dimensions)
            && characters <= rows
            && merges <= 1 << 20
            && first_byte_token + 256 <= rows;
        let layout = Layout { rows, dimensions, first_byte_token: first_byte_token as u16, characters, merges };
        (is_sane && layout.table_begin() + rows * dimensions == bytes.len()).then_some(layout)
    }

    /// Characters that are tokens, each with its token, ascending.
    pub fn characters<'b>(&self, bytes: &'b [u8]) -> impl Iterator<Item = (u32, u16)> + use<'b> {
        let ids = HEADER_BYTES + self.characters * 4;
        words(&bytes[HEADER_BYTES..ids]).zip(halves(&bytes[ids..ids + self.characters * 2]))
    }

    /// Left, right and merged token of each merge, by rank.
    pub fn merges<'b>(&self, bytes: &'b [u8]) -> impl Iterator<Item = [u16; 3]> + use<'b> {
        let (begin, width, length) = (self.merges_begin(), padded(self.merges * 2), self.merges * 2);
        let [left, right, merged] = [0, 1, 2].map(|part| halves(&bytes[begin + part * width..][..length]));
        left.zip(right).zip(merged).map(|((left, right), merged)| [left, right, merged])
    }

    /// The scales, four bytes each, and the rows of the table.
    pub fn rows<'b>(&self, bytes: &'b [u8]) -> (&'b [u8], &'b [u8]) {
        bytes[self.scales_begin()..].split_at(self.rows * 4)
    }

    fn merges_begin(&self) -> usize {
        HEADER_BYTES + self.characters * 4 + padded(self.characters * 2)
    }

    fn scales_begin(&self) -> usize {
        self.merges_begin() + 3 * padded(self.merges * 2)
    }

    fn table_begin(&self) -> usize {
        self.scales_begin() + self.rows * 4
    }
}

fn padded(bytes: usize) -> usize {
    bytes.next_multiple_of(4)
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> + use<'_> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
}

fn halves(bytes: &[u8]) -> impl Iterator<Item = u16> + use<'_> {
    bytes.chunks_exact(2).map(|half| u16::from_le_bytes([half[0], half[1]]))
}
