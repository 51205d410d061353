//! Plain objects to the rules' own option structs; nothing is checked here that serde or `optim` checks.

use crate::error::Error;
use crate::optim::{AnyRule, Group, Groups, Schedule};
use js_sys::{Array, Object, Reflect};
use serde::Deserialize;
use serde_wasm_bindgen::Deserializer;
use wasm_bindgen::prelude::*;

fn sentence(error: serde_wasm_bindgen::Error) -> String {
    let text = error.to_string();
    text.strip_prefix("Error: ").unwrap_or(&text).to_owned()
}

/// Options of a rule. Each field is tried alone first, so that the message can name it.
pub(super) fn rule(kind: &str, options: &JsValue) -> Result<AnyRule, Error> {
    let decode = |value: JsValue| AnyRule::decode(kind, Deserializer::from(value)).map_err(sentence);
    let default = decode(Object::new().into()).map_err(Error::invalid)?;
    for field in Object::entries(options.unchecked_ref()).iter() {
        let single = Object::from_entries(&Array::of1(&field)).unwrap_or_default();
        let name = Array::from(&field).get(0).as_string().unwrap_or_default();
        decode(single.into())
            .map_err(|why| Error::invalid(format!("{}: option {name}: {why}", default.entry().class)))?;
    }
    decode(options.clone()).map_err(Error::invalid)
}

fn schedule(value: JsValue) -> Result<Option<Schedule>, Error> {
    if value.is_undefined() {
        return Ok(None);
    }
    let decoded = Schedule::deserialize(Deserializer::from(value));
    decoded.map(Some).map_err(|error| Error::invalid(format!("schedule: {}", sentence(error))))
}

/// A group from its options and an optional schedule.
pub(super) fn group(kind: &str, options: &JsValue, lr: JsValue, names: Vec<String>) -> Result<Group, Error> {
    Ok(Group { rule: rule(kind, options)?, schedule: schedule(lr)?, names })
}

/// Groups from `[{ options, schedule, names }]`.
pub(super) fn groups(kind: &str, list: &Array) -> Result<Groups, Error> {
    let get = |item: &JsValue, key: &str| Reflect::get(item, &key.into()).unwrap_or(JsValue::UNDEFINED);
    let one = |item: JsValue| {
        let names = Array::from(&get(&item, "names")).iter().filter_map(|name| name.as_string()).collect();
        group(kind, &get(&item, "options"), get(&item, "schedule"), names)
    };
    let groups: Vec<Group> = list.iter().map(one).collect::<Result<_, _>>()?;
    if groups.is_empty() {
        return Err(Error::invalid("there must be at least one group"));
    }
    Ok(Groups(groups))
}
