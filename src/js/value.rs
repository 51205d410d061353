//! A plain JavaScript value, for serde to read.
//!
//! serde-wasm-bindgen looks a struct's known fields up and passes over the others; options must refuse those.

use js_sys::{Array, Object};
use serde::de::value::{Error, MapDeserializer, SeqDeserializer};
use serde::de::{self, Deserializer, EnumAccess, IntoDeserializer, VariantAccess, Visitor};
use serde::forward_to_deserialize_any;
use wasm_bindgen::prelude::*;

/// What options are made of.
#[derive(Debug, Clone)]
pub(super) enum Value {
    /// `null`, `undefined`, and what options cannot hold.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Value>),
    /// Any other object, by its own keys.
    Map(Vec<(String, Value)>),
}

impl From<JsValue> for Value {
    fn from(value: JsValue) -> Self {
        if let Some(list) = value.dyn_ref::<Array>() {
            return Self::List(list.iter().map(Self::from).collect());
        }
        if let Some(object) = value.dyn_ref::<Object>() {
            let pair = |entry: JsValue| {
                let entry = Array::from(&entry);
                (entry.get(0).as_string().unwrap_or_default(), Self::from(entry.get(1)))
            };
            return Self::Map(Object::entries(object).iter().map(pair).collect());
        }
        let scalar = value.as_f64().map(Self::Number).or_else(|| value.as_bool().map(Self::Bool));
        scalar.or_else(|| value.as_string().map(Self::Text)).unwrap_or(Self::Null)
    }
}

impl IntoDeserializer<'_, Error> for Value {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Value {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::Null => visitor.visit_unit(),
            Self::Bool(value) => visitor.visit_bool(value),
            // Steps are whole numbers, which JavaScript does not tell from others.
            Self::Number(value) if value >= 0.0 && value < 2f64.powi(53) && value.fract() == 0.0 => {
                visitor.visit_u64(value as u64)
            }
            Self::Number(value) => visitor.visit_f64(value),
            Self::Text(value) => visitor.visit_string(value),
            Self::List(values) => visitor.visit_seq(SeqDeserializer::new(values.into_iter())),
            Self::Map(fields) => visitor.visit_map(MapDeserializer::new(fields.into_iter())),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::Null => visitor.visit_none(),
            value => visitor.visit_some(value),
        }
    }

    /// An object of one key, the variant's name; or that name alone.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self {
            Self::Map(fields) if fields.len() == 1 => visitor.visit_enum(Tagged(fields)),
            Self::Text(name) => visitor.visit_enum(name.into_deserializer()),
            _ => Err(de::Error::custom("expected an object of one key")),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct seq
        tuple tuple_struct map struct identifier ignored_any
    }
}

struct Tagged(Vec<(String, Value)>);

struct Content(Value);

impl<'de> EnumAccess<'de> for Tagged {
    type Error = Error;
    type Variant = Content;

    fn variant_seed<S: de::DeserializeSeed<'de>>(mut self, seed: S) -> Result<(S::Value, Content), Error> {
        let (tag, content) = self.0.pop().unwrap_or((String::new(), Value::Null));
        Ok((seed.deserialize(Value::Text(tag))?, Content(content)))
    }
}

impl<'de> VariantAccess<'de> for Content {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }

    fn newtype_variant_seed<S: de::DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Error> {
        seed.deserialize(self.0)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _length: usize, visitor: V) -> Result<V::Value, Error> {
        self.0.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _fields: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        self.0.deserialize_any(visitor)
    }
}
