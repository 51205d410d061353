//! Conversions to and from 16-bit numbers.

use crate::precision::Half;
use wasm_bindgen::prelude::*;

fn format(bfloat: bool) -> Half {
    if bfloat { Half::Bf16 } else { Half::F16 }
}

/// binary16 or bfloat16 of each value.
///
/// # Errors
/// None: both have one length.
#[wasm_bindgen]
pub fn narrow(bfloat: bool, saturate: bool, values: &[f32], into: &mut [u16]) -> Result<(), JsValue> {
    Ok(format(bfloat).narrow_slice(values, saturate, into)?)
}

/// The values of binary16 or bfloat16 numbers.
///
/// # Errors
/// None: both have one length.
#[wasm_bindgen]
pub fn widen(bfloat: bool, bits: &[u16], into: &mut [f32]) -> Result<(), JsValue> {
    Ok(format(bfloat).widen_slice(bits, into)?)
}
