//! The ids of a record in a trace.
//!
//! They are made of the record's own id and nothing else: its log record, its spans and the exemplars of the metrics agree
//! without knowing of each other, and what is sent twice has the same ids twice.

use ulid::Ulid;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::observe::record::RequestRecord;

/// The lowest bit of a trace's flags.
const SAMPLED: u8 = 1;

/// Where the span of a request stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ids {
    /// The trace: the client's, or one of its own whose id is the record's.
    pub trace: [u8; 16],
    /// The span of the request.
    pub span: [u8; 8],
    /// The client's span; `None` where the request began no client's trace.
    pub parent: Option<[u8; 8]>,
    /// Flags of the trace.
    pub flags: u8,
}

impl Ids {
    /// Those of `record`. None is all zero, as none may be.
    pub fn of(record: &RequestRecord) -> Ids {
        let span = Ids::child(record, 0);
        let trace = record.request.trace_id.as_deref().and_then(trace);
        match (trace, &record.request.parent) {
            (Some(trace), Some(parent)) => Ids {
                trace,
                span,
                parent: Some(parent.id),
                flags: parent.flags,
            },
            _ => Ids {
                trace: own_trace(&record.id),
                span,
                parent: None,
                flags: SAMPLED,
            },
        }
    }

    /// The span number `n` of a record, the request's own being number 0.
    pub fn child(record: &RequestRecord, n: u64) -> [u8; 8] {
        let text = [record.id.as_bytes(), &n.to_le_bytes()].concat();
        xxh3_64(&text).max(1).to_be_bytes()
    }

    /// Whether the client wants the spans of this trace.
    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }
}

/// The record's id as that of a trace: a ULID is 128 bits, the last 80 of them random.
fn own_trace(id: &str) -> [u8; 16] {
    let id = Ulid::from_string(id).map_or_else(|_| xxh3_128(id.as_bytes()), u128::from);
    id.max(1).to_be_bytes()
}

/// The bytes of a trace's id in hex; `None` where it is none.
fn trace(hex: &str) -> Option<[u8; 16]> {
    let is_hex = hex.len() == 32 && hex.bytes().all(|b| b.is_ascii_hexdigit());
    let id = u128::from_str_radix(hex, 16).ok().filter(|id| *id > 0);
    id.filter(|_| is_hex).map(u128::to_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::record::Parent;
    use crate::sink::sample::sample;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

    fn traced(trace: &str, flags: u8) -> Ids {
        let mut record = sample();
        record.request.trace_id = Some(trace.to_owned());
        let (id, state) = ([7; 8], None);
        record.request.parent = Some(Parent { id, flags, state });
        Ids::of(&record)
    }

    #[test]
    fn a_client_s_trace_goes_on() {
        let ids = traced(TRACE, 3);
        assert_eq!(format!("{:032x}", u128::from_be_bytes(ids.trace)), TRACE);
        assert_eq!((ids.parent, ids.flags), (Some([7; 8]), 3));
        assert!(ids.is_sampled() && !traced(TRACE, 2).is_sampled());
    }

    #[test]
    fn without_one_the_record_s_id_is_the_trace() {
        let mut record = sample();
        record.id = "01JE2X3Y4Z5ABCDEFGHJKMNPQR".to_owned();
        let ids = Ids::of(&record);
        let ulid: Ulid = record.id.parse().unwrap();
        assert_eq!(u128::from_be_bytes(ids.trace), u128::from(ulid));
        assert_eq!((ids.parent, ids.is_sampled()), (None, true));
        for bad in ["", "nonsense", "+bf92f3577b34da6a3ce929d0e0e4736"] {
            assert_eq!(traced(bad, 1).parent, None, "{bad}");
        }
        record.id = "00000000000000000000000000".to_owned();
        assert_ne!(Ids::of(&record).trace, [0; 16]);
    }

    #[test]
    fn spans_of_a_record_differ_and_are_the_same_each_time() {
        let record = sample();
        let mut ids: Vec<_> = (0..9).map(|n| Ids::child(&record, n)).collect();
        assert_eq!(ids[0], Ids::of(&record).span);
        ids.dedup();
        assert_eq!(ids.len(), 9);
        assert_eq!(ids[8], Ids::child(&record.clone(), 8));
    }
}
