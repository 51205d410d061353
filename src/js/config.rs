//! Plain objects to the rules' own option structs; nothing is checked here that serde or `optim` checks.

use crate::error::Error;
use crate::optim::{AnyRule, Group, Groups, Schedule};
use js_sys::{Array, Object, Reflect};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde_wasm_bindgen::{Deserializer, Error as WasmError};
use wasm_bindgen::prelude::*;

fn sentence(error: WasmError) -> String {
    let text = error.to_string();
    text.strip_prefix("Error: ").unwrap_or(&text).to_owned()
}

type Fields = Vec<(String, Deserializer)>;

/// The fields of a plain object. serde-wasm-bindgen reads a struct by looking up the fields it knows; as a map, an
/// unknown one is refused.
fn fields(object: &JsValue) -> Result<Fields, Error> {
    let object = object.dyn_ref::<Object>().ok_or_else(|| Error::invalid("options must be a plain object"))?;
    let pair = |entry: JsValue| {
        let entry = Array::from(&entry);
        (entry.get(0).as_string().unwrap_or_default(), Deserializer::from(entry.get(1)))
    };
    Ok(Object::entries(object).iter().map(pair).collect())
}

/// Decodes a plain object of options. Each field is tried alone first, so that the message can name it.
fn decode<T>(class: &str, options: &JsValue, from: impl Fn(Fields) -> Result<T, WasmError>) -> Result<T, Error> {
    for (name, value) in fields(options)? {
        let tried = from(vec![(name.clone(), value)]);
        tried.map_err(|why| Error::invalid(format!("{class}: option {name}: {}", sentence(why))))?;
    }
    from(fields(options)?).map_err(|why| Error::invalid(sentence(why)))
}

/// Options of anything whose fields all have defaults.
pub(super) fn object<T: DeserializeOwned>(class: &str, options: &JsValue) -> Result<T, Error> {
    decode(class, options, |fields| T::deserialize(MapDeserializer::new(fields.into_iter())))
}

/// Options of a rule.
pub(super) fn rule(kind: &str, options: &JsValue) -> Result<AnyRule, Error> {
    let from = |fields: Fields| AnyRule::decode(kind, MapDeserializer::new(fields.into_iter()));
    let class = from(Vec::new()).map_err(|why| Error::invalid(sentence(why)))?.entry().class;
    decode(class, options, from)
}

fn schedule(value: &JsValue) -> Result<Option<Schedule>, Error> {
    if value.is_undefined() {
        return Ok(None);
    }
    if let Ok(nested) = Reflect::get(value, &"sequential".into()).and_then(|it| Reflect::get(&it, &"schedules".into()))
    {
        Array::from(&nested).iter().try_for_each(|one| schedule(&one).map(drop))?;
    }
    let tagged = MapAccessDeserializer::new(MapDeserializer::new(fields(value)?.into_iter()));
    let decoded = Schedule::deserialize(tagged);
    decoded.map(Some).map_err(|error| Error::invalid(format!("lr schedule: {}", sentence(error))))
}

/// A group from its options and an optional schedule.
pub(super) fn group(kind: &str, options: &JsValue, lr: &JsValue, names: Vec<String>) -> Result<Group, Error> {
    Ok(Group { rule: rule(kind, options)?, schedule: schedule(lr)?, names })
}

/// Groups from `[{ options, schedule, names }]`.
pub(super) fn groups(kind: &str, list: &Array) -> Result<Groups, Error> {
    let get = |item: &JsValue, key: &str| Reflect::get(item, &key.into()).unwrap_or(JsValue::UNDEFINED);
    let one = |item: JsValue| {
        let names = Array::from(&get(&item, "names")).iter().filter_map(|name| name.as_string()).collect();
        group(kind, &get(&item, "options"), &get(&item, "schedule"), names)
    };
    let groups: Vec<Group> = list.iter().map(one).collect::<Result<_, _>>()?;
    if groups.is_empty() {
        return Err(Error::invalid("there must be at least one group"));
    }
    Ok(Groups(groups))
}
