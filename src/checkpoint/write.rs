//! From a run to a file.

use super::schema::{KEY, Meta, invalid, set_name};
use crate::error::Error;
use crate::optim::{HostState, Outline};
use safetensors::tensor::{Dtype, Metadata, TensorInfo};

/// The head of a file: everything before the values of the run's sections, a multiple of 8 bytes. `functions` are the groups
/// whose learning rate is a function of the caller's, `extra` is kept as it is.
///
/// # Errors
/// [`Error::InvalidCheckpoint`] for a run that a file cannot hold.
pub fn header(outline: &Outline, functions: &[usize], extra: Option<&str>) -> Result<Vec<u8>, Error> {
    let ledger = &outline.ledger;
    let refuse = |why: &dyn std::fmt::Display| invalid(why.to_string());
    let meta = serde_json::to_string(&Meta::of(outline, functions, extra)).map_err(|why| refuse(&why))?;
    let mut tensors = Vec::new();
    for section in ledger.sections() {
        let name = format!("{}/{}", set_name(ledger, section.set), ledger.tensors()[section.tensor].name);
        let place = |value: u64| usize::try_from(value * 4).map_err(|why| refuse(&why));
        let data_offsets = (place(section.values.start)?, place(section.values.end)?);
        let shape = vec![ledger.tensors()[section.tensor].length];
        tensors.push((name, TensorInfo { dtype: Dtype::F32, shape, data_offsets }));
    }
    let metadata = Metadata::new(Some([(KEY.to_owned(), meta)].into_iter().collect()), tensors);
    let metadata = metadata.map_err(|why| refuse(&why))?;
    Ok(framed(serde_json::to_vec(&metadata).map_err(|why| refuse(&why))?))
}

/// JSON with its length before it and blanks behind, so that values are aligned.
pub(super) fn framed(mut json: Vec<u8>) -> Vec<u8> {
    json.resize(json.len().next_multiple_of(8), b' ');
    let mut header = (json.len() as u64).to_le_bytes().to_vec();
    header.append(&mut json);
    header
}

/// The whole file of a run in main memory; arguments as for [`header`].
///
/// # Errors
/// As [`header`].
pub fn save(state: &HostState, functions: &[usize], extra: Option<&str>) -> Result<Vec<u8>, Error> {
    let mut bytes = header(&state.outline, functions, extra)?;
    for section in state.ledger().sections() {
        let values = state.section(section.set, section.tensor);
        values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
    }
    Ok(bytes)
}
