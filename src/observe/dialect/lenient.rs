//! Values of a payload, read without trust: what is of an unexpected type is taken as none, so
//! that it never costs the text beside it.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::text::Text;

/// What a JSON value can be read as. A type says which kinds of value it knows; of all others there
/// is none.
pub trait Leaf<'de>: Sized {
    /// From a string.
    fn of_text(_: Text<'de>) -> Option<Self> {
        None
    }

    /// From a number.
    fn of_number(_: f64) -> Option<Self> {
        None
    }

    /// From true or false.
    fn of_bool(_: bool) -> Option<Self> {
        None
    }

    /// From a list.
    fn of_list<A: SeqAccess<'de>>(mut list: A) -> Result<Option<Self>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    /// From an object.
    fn of_object<A: MapAccess<'de>>(mut object: A) -> Result<Option<Self>, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

/// A value that is read as a `T` where it can be.
#[derive(Debug)]
pub struct Lenient<T>(pub Option<T>);

impl<T> Default for Lenient<T> {
    fn default() -> Self {
        Lenient(None)
    }
}

impl<'de, T: Leaf<'de>> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader(PhantomData))
    }
}

struct Reader<T>(PhantomData<T>);

impl<'de, T: Leaf<'de>> Visitor<'de> for Reader<T> {
    type Value = Lenient<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Lenient(T::of_text(Text(Cow::Borrowed(text.as_bytes())))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Lenient(T::of_text(Text(Cow::Owned(text.into())))))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Lenient(None))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Lenient(T::of_bool(value)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Lenient(T::of_number(number as f64)))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Lenient(T::of_number(number as f64)))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Lenient(T::of_number(number)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        T::of_list(list).map(Lenient)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
        T::of_object(object).map(Lenient)
    }
}

/// Makes a struct's fields those of a JSON object; of a key that comes twice the last counts.
///
/// Not the derive of serde: a field that comes twice is an error to it.
macro_rules! object {
    ($name:ident { $($key:literal => $field:ident),+ $(,)? }) => {
        impl<'a> $crate::observe::dialect::lenient::Leaf<'a> for $name<'a> {
            fn of_object<A: serde::de::MapAccess<'a>>(
                mut object: A,
            ) -> Result<Option<Self>, A::Error> {
                let mut all = $name::default();
                while let Some(Lenient(Some(key))) = object.next_key::<Lenient<Text<'a>>>()? {
                    match key.as_bytes() {
                        $($key => all.$field = object.next_value()?,)+
                        _ => drop(object.next_value::<serde::de::IgnoredAny>()?),
                    }
                }
                Ok(Some(all))
            }
        }
    };
}
pub(super) use object;
