//! Plain objects to the rules' own option structs; nothing is checked here that serde or `optim` checks.

use crate::checkpoint::Value;
use crate::error::Error;
use crate::optim::{AnyRule, Control, Group, Groups, Schedule};
use js_sys::{Array, Reflect};
use serde::Deserialize;
use serde::de::{DeserializeOwned, value::Error as Refusal};
use wasm_bindgen::prelude::*;

/// Decodes a plain object of options. Each field is tried alone first, so that the message can name it.
fn decode<T>(class: &str, options: &JsValue, from: impl Fn(Value) -> Result<T, Refusal>) -> Result<T, Error> {
    let Value::Map(fields) = Value::from(options.clone()) else {
        return Err(Error::invalid(format!("{class}: options must be a plain object")));
    };
    for field in &fields {
        let tried = from(Value::Map(vec![field.clone()]));
        tried.map_err(|why| Error::invalid(format!("{class}: option {}: {why}", field.0)))?;
    }
    from(Value::Map(fields)).map_err(|why| Error::invalid(format!("{class}: {why}")))
}

/// Options of anything whose fields all have defaults.
pub(super) fn object<T: DeserializeOwned>(class: &str, options: &JsValue) -> Result<T, Error> {
    decode(class, options, |fields| T::deserialize(fields))
}

/// Options of a rule.
pub(super) fn rule(kind: &str, options: &JsValue) -> Result<AnyRule, Error> {
    let default = AnyRule::decode(kind, Value::Map(Vec::new())).map_err(|why| Error::invalid(why.to_string()))?;
    decode(default.entry().class, options, |fields| AnyRule::decode(kind, fields))
}

fn schedule(value: &JsValue) -> Result<Option<Schedule>, Error> {
    if value.is_undefined() {
        return Ok(None);
    }
    let decoded = Schedule::deserialize(Value::from(value.clone()));
    decoded.map(Some).map_err(|why| Error::invalid(format!("lr schedule: {why}")))
}

/// A group from its options and an optional schedule.
pub(super) fn group(kind: &str, options: &JsValue, lr: &JsValue, names: Vec<String>) -> Result<Group, Error> {
    Ok(Group { rule: rule(kind, options)?, schedule: schedule(lr)?, names })
}

/// Groups from `[{ options, schedule, names }]`, and what is decided once a step.
pub(super) fn groups(kind: &str, list: &Array, control: &JsValue) -> Result<Groups, Error> {
    let get = |item: &JsValue, key: &str| Reflect::get(item, &key.into()).unwrap_or(JsValue::UNDEFINED);
    let one = |item: JsValue| {
        let names = Array::from(&get(&item, "names")).iter().filter_map(|name| name.as_string()).collect();
        group(kind, &get(&item, "options"), &get(&item, "schedule"), names)
    };
    let groups: Vec<Group> = list.iter().map(one).collect::<Result<_, _>>()?;
    if groups.is_empty() {
        return Err(Error::invalid("there must be at least one group"));
    }
    let control: Control = object(groups[0].rule.entry().class, control)?;
    Ok(Groups { list: groups, control })
}
