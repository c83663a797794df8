//! The tree: values with their places, made of what the YAML library reads.

use core::fmt;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

/// Where a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mark {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) width: usize,
    pub(super) bytes: (usize, usize),
}

/// One value of the tree.
#[derive(Debug, Clone)]
pub struct Node {
    /// Where it is written.
    pub mark: Mark,
    /// What it is.
    pub value: Value,
}

/// What a value is.
#[derive(Debug, Clone)]
pub enum Value {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`, and only these.
    Bool(bool),
    /// A whole number.
    Whole(i64),
    /// Any other number, as written.
    Real(String),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in the order of the file.
    Map(Vec<(Key, Node)>),
}

/// A key of a mapping.
#[derive(Debug, Clone)]
pub struct Key {
    /// Where it is written.
    pub mark: Mark,
    /// The key.
    pub name: String,
}

impl Node {
    /// The value in words, for messages: ``the list`` or ``text `abc` ``.
    pub fn describe(&self) -> String {
        match &self.value {
            Value::Null => "nothing".to_owned(),
            Value::Bool(b) => format!("`{b}`"),
            Value::Whole(n) => format!("the bare number `{n}`"),
            Value::Real(n) => format!("the bare number `{n}`"),
            Value::Text(text) => format!("`{text}`"),
            Value::List(_) => "a list".to_owned(),
            Value::Map(_) => "a mapping".to_owned(),
        }
    }

    /// A single value as it was written; nothing for lists, mappings and null.
    pub fn written(&self) -> String {
        match &self.value {
            Value::Text(text) | Value::Real(text) => text.clone(),
            Value::Whole(n) => n.to_string(),
            Value::Bool(b) => b.to_string(),
            Value::Null | Value::List(_) | Value::Map(_) => String::new(),
        }
    }

    /// The value as JSON, numbers that are not whole as text.
    pub fn json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(b) => (*b).into(),
            Value::Whole(n) => (*n).into(),
            Value::Real(text) | Value::Text(text) => text.clone().into(),
            Value::List(all) => all.iter().map(Node::json).collect(),
            Value::Map(fields) => {
                fields.iter().map(|(key, node)| (key.name.clone(), node.json())).collect()
            }
        }
    }
}

impl Mark {
    pub(super) fn of(location: serde_saphyr::Location) -> Mark {
        let small = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let span = location.span();
        let bytes = (span.byte_offset().unwrap_or(0), span.byte_len().unwrap_or(0));
        Mark {
            line: small(location.line()),
            column: small(location.column()),
            width: small(span.len()),
            bytes: (small(bytes.0), small(bytes.1)),
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Node, D::Error> {
        let Spanned { value, defined, .. } = Spanned::<Value>::deserialize(d)?;
        Ok(Node { mark: Mark::of(defined), value })
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Key, D::Error> {
        let Spanned { value, defined, .. } = Spanned::<String>::deserialize(d)?;
        Ok(Key { mark: Mark::of(defined), name: value })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Value, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Value;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a YAML value")
            }
            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }
            fn visit_none<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }
            fn visit_bool<E>(self, b: bool) -> Result<Value, E> {
                Ok(Value::Bool(b))
            }
            fn visit_i64<E>(self, n: i64) -> Result<Value, E> {
                Ok(Value::Whole(n))
            }
            fn visit_u64<E>(self, n: u64) -> Result<Value, E> {
                Ok(i64::try_from(n).map_or_else(|_| Value::Real(n.to_string()), Value::Whole))
            }
            fn visit_f64<E>(self, n: f64) -> Result<Value, E> {
                Ok(Value::Real(n.to_string()))
            }
            fn visit_str<E>(self, text: &str) -> Result<Value, E> {
                Ok(Value::Text(text.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
                let mut all = Vec::new();
                while let Some(node) = seq.next_element()? {
                    all.push(node);
                }
                Ok(Value::List(all))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    fields.push(entry);
                }
                Ok(Value::Map(fields))
            }
        }
        d.deserialize_any(Any)
    }
}
