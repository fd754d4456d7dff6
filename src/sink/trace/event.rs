//! One event as the format has it.

use serde::Serialize;
use serde::ser::SerializeMap;

use super::request::{Args, Item};

/// An event: `X` a slice, `i` an instant, `C` a counter, `M` a name.
#[derive(Debug, Serialize)]
pub struct Event<'a, A> {
    ph: char,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'static str>,
    pid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    tid: Option<u64>,
    /// µs.
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<i64>,
    /// µs.
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<u64>,
    /// An instant's scope: `t`, its thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<char>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<A>,
}

/// Where an event belongs.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Its process.
    pub pid: u32,
    /// Its track.
    pub tid: Option<u64>,
    /// What its times count from, µs since 1970.
    pub started: i64,
}

impl<'a> Event<'a, &'a Args<'a>> {
    /// A slice or an instant.
    pub fn of(item: &'a Item<'a>, at: Place) -> Self {
        let is_slice = item.to.is_some();
        Event {
            ph: if is_slice { 'X' } else { 'i' },
            name: &item.name,
            cat: Some(item.cat),
            pid: at.pid,
            tid: at.tid,
            ts: Some(at.started.saturating_add_unsigned(item.from)),
            dur: item.to.map(|to| to.saturating_sub(item.from)),
            s: (!is_slice).then_some('t'),
            args: (!matches!(item.args, Args::None)).then_some(&item.args),
        }
    }
}

impl<'a> Event<'a, Named<&'a str>> {
    /// The name of a process or a track.
    pub fn name(of: &'a str, pid: u32, tid: Option<u64>, name: &'a str) -> Self {
        let args = Some(Named("name", name));
        Event {
            ph: 'M',
            ..Event::bare(of, pid, tid, args)
        }
    }
}

impl<'a> Event<'a, Named<i64>> {
    /// A counter's value from then on.
    pub fn counter(name: &'a str, pid: u32, at: i64, value: Named<i64>) -> Self {
        Event {
            ph: 'C',
            ts: Some(at),
            ..Event::bare(name, pid, None, Some(value))
        }
    }
}

impl<'a, A> Event<'a, A> {
    fn bare(name: &'a str, pid: u32, tid: Option<u64>, args: Option<A>) -> Self {
        Event {
            ph: 'i',
            name,
            cat: None,
            pid,
            tid,
            ts: None,
            dur: None,
            s: None,
            args,
        }
    }
}

/// Arguments that are one value.
#[derive(Debug)]
pub struct Named<T>(pub &'static str, pub T);

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(self.0, &self.1)?;
        map.end()
    }
}
