//! From a file to a run. Nothing is allocated that the file is not long enough for.

use super::schema::{KEY, Meta, SCHEMA, Versions, decode, invalid, json, set_name};
use super::value::Value;
use crate::error::Error;
use crate::optim::{Ledger, Outline, Section, extent};
use safetensors::tensor::{Dtype, Metadata, TensorInfo};
use std::collections::BTreeMap;

/// The longest head that is read.
const MOST_HEADER: u64 = 100_000_000;

/// A file without its values: what run it holds, and where.
#[derive(Debug)]
pub struct Checkpoint {
    /// Names, options, counters, the loss scale.
    pub outline: Outline,
    /// Where the values are, counted from the end of the head; ascending.
    pub sections: Vec<Section>,
    /// Groups whose learning rate was a function of the caller's.
    pub functions: Vec<usize>,
    /// What the caller added.
    pub extra: Option<String>,
    /// The version of the package that wrote it.
    pub version: String,
    /// Its schema.
    pub schema: u64,
}

/// The length of the JSON, from a file's first 8 bytes and its size.
///
/// # Errors
/// [`Error::InvalidCheckpoint`].
pub fn header_size(first: &[u8], size: u64) -> Result<usize, Error> {
    let first: [u8; 8] = first.get(..8).and_then(|it| it.try_into().ok()).ok_or_else(|| invalid("it has no head"))?;
    let length = u64::from_le_bytes(first);
    if length > MOST_HEADER || length > size.saturating_sub(8) {
        return Err(invalid(format!("its head claims {length} bytes, the file has {size}")));
    }
    Ok(length as usize)
}

impl Checkpoint {
    /// Reads a head, with the number of bytes behind it.
    ///
    /// # Errors
    /// [`Error::InvalidCheckpoint`] for anything that is damaged or contradicts itself; [`Error::Unsupported`] for a newer
    /// schema.
    pub fn parse(text: &[u8], data: u64) -> Result<Self, Error> {
        let metadata: Metadata = decode(json(text)?)?;
        if metadata.data_len() as u64 != data {
            return Err(invalid(format!("it should have {} bytes of values, and has {data}", metadata.data_len())));
        }
        let text = metadata.metadata().as_ref().and_then(|it| it.get(KEY));
        let text = text.ok_or_else(|| invalid("it holds tensors, but no run of this package"))?;
        let meta = json(text.as_bytes())?;
        let known = |key: &str| (key.to_owned(), meta.get(key).clone());
        let versions: Versions = decode(Value::Map(["schema", "version"].map(known).into()))?;
        if versions.schema > SCHEMA || versions.schema == 0 {
            let (schema, version) = (versions.schema, versions.version);
            let what = format!(
                "the checkpoint has schema {schema}, written by version {version}; this one reads up to {SCHEMA}"
            );
            return Err(Error::Unsupported { what });
        }
        let meta: Meta<Value> = decode(meta)?;
        let mut tensors: BTreeMap<String, &TensorInfo> = metadata.tensors().into_iter().collect();
        let length = |name: &str| tensors.get(&format!("params/{name}")).map(|it| it.shape.iter().product());
        let lengths = meta
            .tensors
            .iter()
            .map(|it| length(&it.name).ok_or_else(|| invalid(format!("there are no params of `{}`", it.name))));
        let outline = meta.outline(&lengths.collect::<Result<Vec<usize>, Error>>()?)?;
        let mut sections = Vec::new();
        for section in outline.ledger.sections() {
            sections.push(found(&outline.ledger, section, &mut tensors)?);
        }
        if let Some((name, _)) = tensors.pop_first() {
            return Err(invalid(format!("it holds `{name}`, which belongs to nothing")));
        }
        sections.sort_by_key(|section| (section.values.start, section.values.end));
        let functions = meta.groups.iter().enumerate().filter(|(_, group)| group.function).map(|(index, _)| index);
        let functions = functions.collect();
        Ok(Self { outline, sections, functions, extra: meta.extra, version: meta.version, schema: meta.schema })
    }

    /// Reads a whole file: what it holds, and the bytes of its values.
    ///
    /// # Errors
    /// As [`Checkpoint::parse`].
    pub fn of(bytes: &[u8]) -> Result<(Self, &[u8]), Error> {
        let length = header_size(bytes, bytes.len() as u64)?;
        let (json, data) = bytes[8..].split_at(length);
        Ok((Self::parse(json, data.len() as u64)?, data))
    }

    /// Number of values in all sections.
    pub fn values(&self) -> u64 {
        extent(&self.sections)
    }
}

/// Where a file has a section.
fn found(ledger: &Ledger, section: Section, tensors: &mut BTreeMap<String, &TensorInfo>) -> Result<Section, Error> {
    let page = &ledger.tensors()[section.tensor];
    let name = format!("{}/{}", set_name(ledger, section.set), page.name);
    let info = tensors.remove(&name).ok_or_else(|| invalid(format!("`{name}` is missing")))?;
    if info.dtype != Dtype::F32 {
        return Err(invalid(format!("`{name}` is {:?}, not F32", info.dtype)));
    }
    if info.shape.iter().product::<usize>() != page.length || info.data_offsets.0 % 4 != 0 {
        return Err(invalid(format!("`{name}` has another shape than the parameters")));
    }
    let (start, end) = info.data_offsets;
    Ok(Section { values: start as u64 / 4..end as u64 / 4, ..section })
}
