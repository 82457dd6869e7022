//! Proof-of-work targets. The hash of a header must not exceed the target.

/// Size of a target in bytes, large enough for the product of a target and a time span.
const WIDTH: usize = 36;

/// A target: an unsigned big-endian number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Target([u8; WIDTH]);

impl Target {
    /// Decodes the compact form; `None` if the number is negative, zero or larger than 256 bits.
    pub(super) fn from_compact(bits: u32) -> Option<Target> {
        let [size, mantissa @ ..] = bits.to_be_bytes();
        let size = usize::from(size);
        if bits & 0x0080_0000 != 0 || bits & 0x007f_ffff == 0 || size > 32 {
            return None;
        }
        let mut bytes = [0; WIDTH];
        let first = WIDTH.checked_sub(size)?;
        for (distance, byte) in mantissa.into_iter().enumerate() {
            match bytes.get_mut(first.checked_add(distance)?) {
                Some(place) => *place = byte,
                // The remaining bytes are fractions of the number, so they are ignored.
                None => break,
            }
        }
        let target = Target(bytes);
        (target != Target([0; WIDTH])).then_some(target)
    }

    /// Encodes the compact form, which keeps only the most significant digits.
    pub(super) fn to_compact(self) -> u32 {
        let zeros = self.0.iter().take_while(|byte| **byte == 0).count();
        let mut size = u32::try_from(WIDTH.saturating_sub(zeros)).unwrap_or_default();
        let mut digits = self.0.iter().skip(zeros).copied();
        let mut mantissa = 0_u32;
        for _ in 0..3 {
            mantissa = mantissa << 8 | u32::from(digits.next().unwrap_or(0));
        }
        // The highest bit of the mantissa is its sign.
        if mantissa & 0x0080_0000 != 0 {
            mantissa >>= 8;
            size = size.saturating_add(1);
        }
        size << 24 | mantissa
    }

    /// Returns the target multiplied by `by` and divided by `of`.
    pub(super) fn mul_div(mut self, by: u32, of: u32) -> Target {
        let mut carry = 0_u64;
        for byte in self.0.iter_mut().rev() {
            carry = carry.wrapping_add(u64::from(*byte).wrapping_mul(u64::from(by)));
            *byte = low_byte(carry);
            carry >>= 8;
        }
        let of = u64::from(of.max(1));
        let mut rest = 0_u64;
        for byte in &mut self.0 {
            rest = rest << 8 | u64::from(*byte);
            *byte = low_byte(rest.checked_div(of).unwrap_or_default());
            rest = rest.checked_rem(of).unwrap_or_default();
        }
        self
    }

    /// Returns `true` if this little-endian hash does not exceed the target.
    pub(super) fn is_met_by_hash(&self, work: &[u8; 32]) -> bool {
        let mut bytes = [0; WIDTH];
        for (place, byte) in bytes.iter_mut().rev().zip(work) {
            *place = *byte;
        }
        Target(bytes) <= *self
    }
}

fn low_byte(value: u64) -> u8 {
    let [low, ..] = value.to_le_bytes();
    low
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::Target;

    #[test]
    fn compact_form_round_trips() {
        for bits in [0x1d00_ffff, 0x1e0f_ffff, 0x1c05_a3f4, 0x1702_2acf, 0x2012_3456] {
            assert_eq!(Target::from_compact(bits).unwrap().to_compact(), bits);
        }
        // The numbers are negative, zero, too large (two cases), and below 1.
        for bits in [0x1d80_0001, 0x1d00_0000, 0x2100_ffff, 0xff12_3456, 0x0100_0001] {
            assert_eq!(Target::from_compact(bits), None, "{bits:x}");
        }
    }

    #[test]
    fn target_compares_work_as_a_number() {
        let target = Target::from_compact(0x1d00_ffff).unwrap();
        let mut work = [0; 32];
        assert!(target.is_met_by_hash(&work));
        work[26..28].copy_from_slice(&[0xff, 0xff]);
        assert!(target.is_met_by_hash(&work));
        work[0] = 1;
        assert!(!target.is_met_by_hash(&work));
        assert!(!target.is_met_by_hash(&[0xff; 32]));
    }
}
