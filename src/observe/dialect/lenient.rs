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

/// A number.
impl<'de> Leaf<'de> for f64 {
    fn of_number(number: f64) -> Option<Self> {
        Some(number)
    }
}

/// A count; some servers write it as a string.
impl<'de> Leaf<'de> for u64 {
    fn of_text(text: Text<'de>) -> Option<Self> {
        let number = std::str::from_utf8(text.as_bytes()).ok()?.parse().ok()?;
        Self::of_number(number)
    }

    /// Up to 2^53, where numbers of JSON are whole; more is no count, and sums of some are safe.
    fn of_number(number: f64) -> Option<Self> {
        (0.0..=9_007_199_254_740_992.0)
            .contains(&number)
            .then_some(number as u64)
    }
}

impl<'de> Leaf<'de> for bool {
    fn of_bool(is_so: bool) -> Option<Self> {
        Some(is_so)
    }
}

/// A list that is added up as it is read, so that a long one costs no memory.
#[derive(Debug, Default)]
pub struct Sum<T>(pub T);

/// What can be added up from the items of a list.
pub trait Add<'de>: Default {
    /// One item.
    type Item: Leaf<'de>;

    /// Adds it.
    fn add(&mut self, item: Self::Item);
}

impl<'de, T: Add<'de>> Leaf<'de> for Sum<T> {
    fn of_list<A: SeqAccess<'de>>(mut list: A) -> Result<Option<Self>, A::Error> {
        let mut sum = T::default();
        while let Some(Lenient(item)) = list.next_element::<Lenient<T::Item>>()? {
            if let Some(item) = item {
                sum.add(item);
            }
        }
        Ok(Some(Sum(sum)))
    }
}

/// Makes a struct's fields those of a JSON object; of a key that comes twice the last counts.
///
/// Not the derive of serde: a field that comes twice is an error to it.
macro_rules! object {
    ($name:ident<$life:lifetime> { $($key:literal => $field:ident),+ $(,)? }) => {
        $crate::observe::dialect::lenient::object!(@ $life, $name<$life>, $name { $($key => $field),+ });
    };
    ($name:ident { $($key:literal => $field:ident),+ $(,)? }) => {
        $crate::observe::dialect::lenient::object!(@ 'a, $name, $name { $($key => $field),+ });
    };
    (@ $life:lifetime, $type:ty, $name:ident { $($key:literal => $field:ident),+ }) => {
        impl<$life> $crate::observe::dialect::lenient::Leaf<$life> for $type {
            fn of_object<A: serde::de::MapAccess<$life>>(
                mut object: A,
            ) -> Result<Option<Self>, A::Error> {
                use $crate::observe::dialect::{lenient::Lenient, text::Text};
                let mut all = $name::default();
                while let Some(Lenient(Some(key))) = object.next_key::<Lenient<Text<$life>>>()? {
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
