//! From data to a dialect's own struct.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::lenient::{Leaf, Lenient};
use super::text::repaired;

/// Reads `data` as a `T`, which is empty where the JSON has another shape; `None` when it is no
/// JSON.
pub fn parse<'a, T: Leaf<'a> + Default>(data: &'a [u8]) -> Option<T> {
    let value = serde_json::from_slice::<Lenient<T>>(data);
    match value.or_else(|_| parse_repaired(data)) {
        Ok(value) => Some(value.0.unwrap_or_default()),
        // JSON all the same, if a number in it is beyond all measure.
        Err(_) => {
            let is_json = serde_json::from_slice::<IgnoredAny>(data).is_ok();
            is_json.then(T::default)
        }
    }
}

/// From a reader, because what is read may not borrow from the repaired text.
fn parse_repaired<'a, T: Leaf<'a>>(data: &[u8]) -> serde_json::Result<Lenient<T>> {
    let text = repaired(data);
    let mut json = serde_json::Deserializer::from_reader(text.as_bytes());
    let value = Lenient::deserialize(&mut json)?;
    json.end()?;
    Ok(value)
}
