//! The normalized mean of rows. A row consists of 8-bit numbers and their scale. The length of the sum is
//! irrelevant.

use crate::layout::Layout;

pub struct Pool {
    dimensions: usize,
    scales: Vec<f32>,
    /// The model's bytes. The rows begin at `rows` and are most of the model.
    bytes: Vec<u8>,
    rows: usize,
    sum: Vec<f32>,
}

impl Pool {
    pub fn new(layout: &Layout, bytes: Vec<u8>) -> Self {
        let (scales, rows) = layout.rows(&bytes);
        let scales = scales.chunks_exact(4).map(|scale| f32::from_le_bytes([scale[0], scale[1], scale[2], scale[3]])).collect();
        let rows = bytes.len() - rows.len();
        Pool { dimensions: layout.dimensions, scales, bytes, rows, sum: vec![0.0; layout.dimensions] }
    }

    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The vector of these tokens, of length one, or zero if there are none. Every token must be less than
    /// the number of rows.
    pub fn mean(&mut self, tokens: &[u16]) -> &[f32] {
        let sum = &mut self.sum[..self.dimensions];
        sum.fill(0.0);
        for token in tokens.iter().map(|&token| usize::from(token)) {
            let scale = self.scales[token];
            let row = &self.bytes[self.rows + token * self.dimensions..][..self.dimensions];
            for (sum, &number) in sum.iter_mut().zip(row) {
                *sum += f32::from(number.cast_signed()) * scale;
            }
        }
        let length = sum.iter().map(|&value| f64::from(value) * f64::from(value)).sum::<f64>().sqrt();
        let factor = if length > 0.0 { 1.0 / length } else { 0.0 };
        for value in sum.iter_mut() {
            *value = (f64::from(*value) * factor) as f32;
        }
        &self.sum
    }
}
