//! binary16 and bfloat16, the two halves that networks are stored in.

use crate::error::Error;
use serde::{Deserialize, Serialize};

/// A 16-bit format of floating-point numbers.
///
/// ```
/// use webgpu_optim::Half;
/// assert_eq!(Half::F16.narrow(1.0), 0x3c00);
/// assert_eq!(Half::F16.narrow(65_520.0), 0x7c00); // infinity
/// assert_eq!(Half::F16.narrow_saturating(65_520.0), 0x7bff); // 65,504, the largest there is
/// assert_eq!(Half::Bf16.widen(0x3f80), 1.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Half {
    /// IEEE 754's binary16: 5 bits of exponent, 10 of fraction.
    F16,
    /// bfloat16: 8 bits of exponent, 7 of fraction.
    Bf16,
}

impl Half {
    /// Its name in options: `f16` or `bf16`.
    pub fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
        }
    }

    /// The nearest number there is, of two the one with an even fraction. Beyond the largest lies infinity, below the
    /// smallest normal number there are subnormal ones. NaN keeps the upper bits of its payload and becomes quiet.
    pub fn narrow(self, value: f32) -> u16 {
        match self {
            Self::F16 => half::f16::from_f32(value).to_bits(),
            Self::Bf16 => half::bf16::from_f32(value).to_bits(),
        }
    }

    /// As [`Half::narrow`], with the largest number in the place of infinity. NaN stays NaN.
    pub fn narrow_saturating(self, value: f32) -> u16 {
        if value.is_nan() {
            return self.narrow(value);
        }
        let largest = match self {
            Self::F16 => half::f16::MAX.to_f32(),
            Self::Bf16 => half::bf16::MAX.to_f32(),
        };
        self.narrow(value.clamp(-largest, largest))
    }

    /// The same number as `f32`, exactly; a NaN becomes quiet and keeps its payload.
    pub fn widen(self, bits: u16) -> f32 {
        match self {
            Self::F16 => half::f16::from_bits(bits).to_f32(),
            Self::Bf16 => half::bf16::from_bits(bits).to_f32(),
        }
    }

    /// [`Half::narrow`] of each value, or [`Half::narrow_saturating`].
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] for slices of two lengths.
    pub fn narrow_slice(self, values: &[f32], saturate: bool, into: &mut [u16]) -> Result<(), Error> {
        let narrow = if saturate { Self::narrow_saturating } else { Self::narrow };
        self.fit(values.len(), into.len())?;
        into.iter_mut().zip(values).for_each(|(into, value)| *into = narrow(self, *value));
        Ok(())
    }

    /// [`Half::widen`] of each value.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] for slices of two lengths.
    pub fn widen_slice(self, bits: &[u16], into: &mut [f32]) -> Result<(), Error> {
        self.fit(bits.len(), into.len())?;
        into.iter_mut().zip(bits).for_each(|(into, bits)| *into = self.widen(*bits));
        Ok(())
    }

    fn fit(self, expected: usize, got: usize) -> Result<(), Error> {
        if got == expected {
            return Ok(());
        }
        Err(Error::LengthMismatch { what: "the target", name: format!("{self:?}"), got, expected })
    }
}

#[cfg(test)]
mod tests {
    use super::Half::{self, Bf16, F16};

    /// What the bits say, by the definition of the format.
    fn defined(half: Half, bits: u16) -> f64 {
        let (fraction_bits, bias) = if half == F16 { (10, 15) } else { (7, 127) };
        let magnitude = bits & 0x7fff;
        let (exponent, fraction) = (i32::from(magnitude >> fraction_bits), magnitude & ((1 << fraction_bits) - 1));
        let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
        let scale = |exponent: i32| 2f64.powi(exponent - bias - fraction_bits);
        let whole = f64::from(fraction) + f64::from(1u32 << fraction_bits);
        if exponent == 0 { sign * f64::from(fraction) * scale(1) } else { sign * whole * scale(exponent) }
    }

    fn infinity(half: Half) -> u16 {
        if half == F16 { 0x7c00 } else { 0x7f80 }
    }

    #[test]
    fn every_pattern_is_what_the_format_defines_and_comes_back() {
        for half in [F16, Bf16] {
            for bits in 0..=u16::MAX {
                let (wide, magnitude) = (half.widen(bits), bits & 0x7fff);
                if magnitude > infinity(half) {
                    let quiet = if half == F16 { 0x0200 } else { 0x0040 };
                    assert!(wide.is_nan());
                    assert_eq!(half.narrow(wide), bits | quiet);
                    continue;
                }
                assert_eq!(half.narrow(wide), bits);
                if magnitude == infinity(half) {
                    assert!(wide.is_infinite());
                } else {
                    assert_eq!(f64::from(wide), defined(half, bits));
                }
            }
        }
    }

    #[test]
    fn every_midpoint_goes_to_the_even_number_and_its_neighbours_to_the_nearer() {
        for half in [F16, Bf16] {
            for low in 0..infinity(half) {
                let high = low + 1;
                // Beyond the largest number the next one there would be decides.
                let middle = (defined(half, low) + defined(half, high)) / 2.0;
                let middle = middle as f32;
                let even = if low % 2 == 0 { low } else { high };
                for sign in [0u16, 0x8000] {
                    let signed = |value: f32| if sign == 0 { value } else { -value };
                    assert_eq!(half.narrow(signed(middle)), even | sign, "{half:?} {low:x}");
                    assert_eq!(half.narrow(signed(middle.next_up())), high | sign);
                    assert_eq!(half.narrow(signed(middle.next_down())), low | sign);
                }
            }
        }
        assert_eq!(F16.narrow(2f32.powi(-25)), 0);
        assert_eq!(F16.narrow(2f32.powi(-25).next_up()), 1);
        assert_eq!([65_519.99, 65_520.0].map(|value| F16.narrow(value)), [0x7bff, 0x7c00]);
    }

    #[test]
    fn saturating_stops_at_the_largest_number_and_keeps_nan() {
        for (half, largest) in [(F16, 0x7bff), (Bf16, 0x7f7f)] {
            for value in [f32::INFINITY, f32::MAX] {
                assert_eq!(half.narrow_saturating(value), largest);
                assert_eq!(half.narrow_saturating(-value), largest | 0x8000);
            }
            assert!(half.widen(half.narrow_saturating(f32::NAN)).is_nan());
            assert_eq!(half.narrow_saturating(1.5), half.narrow(1.5));
        }
    }

    #[test]
    fn slices_of_any_length_are_converted_and_of_two_lengths_refused() {
        for length in [0, 1, 3, 64, 255, 257] {
            let values: Vec<f32> = (0..length).map(|i| i as f32 * 0.37 - 20.0).collect();
            let (mut bits, mut back) = (vec![0; length], vec![0.0; length]);
            for half in [F16, Bf16] {
                half.narrow_slice(&values, false, &mut bits).unwrap();
                half.widen_slice(&bits, &mut back).unwrap();
                assert!(values.iter().zip(&bits).all(|(value, bits)| half.narrow(*value) == *bits));
                assert!(back.iter().zip(&bits).all(|(value, bits)| half.widen(*bits) == *value));
            }
        }
        let refused = F16.narrow_slice(&[1.0, 2.0], false, &mut [0]).unwrap_err();
        assert_eq!(refused.to_string(), "the target of `F16` has 1 values, expected 2");
    }
}
