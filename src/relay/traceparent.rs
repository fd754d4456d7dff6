//! What a client's `traceparent` and `tracestate` say. The headers themselves pass unchanged.

use http::HeaderMap;

use crate::observe::record::Parent;

/// Longest `tracestate` that is carried, in bytes: as much as the standard asks for.
const STATE_LIMIT: usize = 512;

/// The trace id (32 hex digits) and the rest of a valid `traceparent` (W3C Trace Context, section 3.2.2). One that is not
/// valid begins no trace, as the standard has it. Versions to come may add fields.
pub fn of(headers: &HeaderMap) -> Option<(String, Parent)> {
    let mut values = headers.get_all("traceparent").iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return None;
    };
    let mut parts = value.to_str().ok()?.split('-');
    let mut hex = |digits: usize| {
        let part = parts.next()?;
        let is_hex = part.len() == digits && part.bytes().all(|b| b.is_ascii_hexdigit());
        is_hex.then_some(part)
    };
    let (version, trace, id, flags) = (hex(2)?, hex(32)?, hex(16)?, hex(2)?);
    let is_known = version == "00";
    if version.eq_ignore_ascii_case("ff") || (is_known && parts.next().is_some()) {
        return None;
    }
    let parent = Parent {
        id: u64::from_str_radix(id, 16).ok()?.to_be_bytes(),
        flags: u8::from_str_radix(flags, 16).ok()?,
        state: state(headers),
    };
    let is_zero = |part: &str| part.bytes().all(|b| b == b'0');
    (!is_zero(trace) && !is_zero(id)).then(|| (trace.to_ascii_lowercase(), parent))
}

/// `tracestate`, whose fields are one list (section 3.3). Of a list that is too long the last members go.
fn state(headers: &HeaderMap) -> Option<String> {
    let fields = headers.get_all("tracestate").iter();
    let fields: Option<Vec<&str>> = fields.map(|field| field.to_str().ok()).collect();
    let mut state = fields?.join(",");
    if state.len() > STATE_LIMIT {
        // a header's text is ASCII
        let whole = state[..=STATE_LIMIT].rfind(',').unwrap_or(0);
        state.truncate(whole);
    }
    (!state.is_empty()).then_some(state)
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn a_place_in_a_trace_is_valid_or_none() {
        const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
        const SPAN: &str = "00f067aa0ba902b7";
        let place = |values: &[&'static str]| {
            let values = values.iter().map(|value| HeaderValue::from_static(value));
            of(&values
                .map(|value| (HeaderName::from_static("traceparent"), value))
                .collect())
        };
        let valid = |flags| {
            let id = 0x00f0_67aa_0ba9_02b7_u64.to_be_bytes();
            let state = None;
            Some((TRACE.to_owned(), Parent { id, flags, state }))
        };
        let text = |text: String| -> &'static str { text.leak() };
        let sampled = text(format!("00-{TRACE}-{SPAN}-01"));
        assert_eq!(place(&[sampled]), valid(1));
        assert_eq!(place(&[text(format!("00-{TRACE}-{SPAN}-00"))]), valid(0));
        assert_eq!(
            place(&[text(format!("cc-{TRACE}-{SPAN}-03-more"))]),
            valid(3)
        );
        assert_eq!(place(&[text(sampled.to_ascii_uppercase())]), valid(1));
        for bad in [
            format!("00-{}-{SPAN}-01", "0".repeat(32)),
            format!("00-{TRACE}-{}-01", "0".repeat(16)),
            format!("00-4bf9-{SPAN}-01"),
            format!("00-{TRACE}-{SPAN}"),
            format!("00-{TRACE}-{SPAN}-1"),
            format!("00-{TRACE}-+0f067aa0ba902b7-01"),
            format!("00-{TRACE}-{SPAN}-01-more"),
            format!("ff-{TRACE}-{SPAN}-01"),
            String::new(),
        ] {
            assert_eq!(place(&[text(bad)]), None);
        }
        assert_eq!(place(&[sampled, sampled]), None, "nobody knows which");
        assert_eq!(place(&[]), None);
    }

    #[test]
    fn a_state_is_carried_up_to_its_limit() {
        let state = |fields: &[&str]| {
            let fields = fields
                .iter()
                .map(|field| HeaderValue::from_bytes(field.as_bytes()));
            let name = HeaderName::from_static("tracestate");
            state(&fields.map(|field| (name.clone(), field.unwrap())).collect())
        };
        assert_eq!(state(&[]), None);
        assert_eq!(state(&[""]), None);
        assert_eq!(state(&["a=1,b=2", "c=3"]).as_deref(), Some("a=1,b=2,c=3"));
        let member = |n: usize| format!("{}=1", "k".repeat(n - 2));
        assert_eq!(state(&[&member(512)]), Some(member(512)));
        assert_eq!(state(&[&member(511), &member(9)]), Some(member(511)));
        assert_eq!(state(&[&member(512), &member(9)]), Some(member(512)));
        assert_eq!(state(&[&member(513)]), None);
        assert_eq!(state(&["a=\u{e9}"]), None, "no text that others could read");
    }
}
