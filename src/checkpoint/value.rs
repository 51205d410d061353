//! A plain value, from JSON or from JavaScript, for serde to read.
//!
//! One type for both, so that each struct is decoded by one piece of code; and one that refuses a name given twice.

use serde::Deserialize;
use serde::de::value::{Error, MapDeserializer, SeqDeserializer};
use serde::de::{self, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, VariantAccess, Visitor};
use serde::forward_to_deserialize_any;
use std::collections::HashSet;
use std::fmt;

/// What options are made of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
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

impl Value {
    /// A field of an object; null where there is none.
    pub fn get(&self, key: &str) -> &Value {
        let Self::Map(fields) = self else { return &Value::Null };
        fields.iter().find(|(name, _)| name == key).map_or(&Value::Null, |(_, value)| value)
    }
}

/// As JSON.
impl fmt::Display for Value {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => to.write_str("null"),
            Self::Bool(value) => write!(to, "{value}"),
            Self::Number(value) => write!(to, "{value}"),
            Self::Text(value) => write!(to, "{value:?}"),
            Self::List(values) => {
                let values: Vec<String> = values.iter().map(Self::to_string).collect();
                write!(to, "[{}]", values.join(","))
            }
            Self::Map(fields) => {
                let fields: Vec<String> = fields.iter().map(|(key, value)| format!("{key:?}:{value}")).collect();
                write!(to, "{{{}}}", fields.join(","))
            }
        }
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Value;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value as f64))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let (mut fields, mut seen) = (Vec::new(), HashSet::new());
        while let Some((name, value)) = map.next_entry::<String, Value>()? {
            if !seen.insert(name.clone()) {
                return Err(de::Error::custom(format!("`{name}` is there twice")));
            }
            fields.push((name, value));
        }
        Ok(Value::Map(fields))
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Any)
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
            Self::Number(value) if value.is_sign_positive() && value < 2f64.powi(53) && value.fract() == 0.0 => {
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
