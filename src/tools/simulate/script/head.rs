//! The response's head.

use super::After;
use crate::tools::simulate::scenario::{Framing, Scenario};

/// What the head of an answer tells.
pub(super) struct Head<'a> {
    pub scenario: &'a Scenario,
    pub status: u16,
    pub framing: Framing,
    /// Bytes of the body, told with [`Framing::Length`].
    pub length: usize,
    pub after: After,
    /// The request's number, which makes its id.
    pub number: u64,
}

impl Head<'_> {
    /// The server's own fields, `fields` among them, then the scenario's, which replace or remove those of the same name.
    pub fn bytes(&self, fields: &[(&str, &str)]) -> Vec<u8> {
        let mut own = vec![
            ("Server", "dripline-simulate".to_owned()),
            ("X-Request-Id", format!("req-simulated-{}", self.number)),
            ("X-Simulated-Scenario", self.scenario.name.clone()),
        ];
        own.extend(fields.iter().map(|&(name, value)| (name, value.to_owned())));
        match self.framing {
            Framing::Chunked => own.push(("Transfer-Encoding", "chunked".to_owned())),
            Framing::Length => own.push(("Content-Length", self.length.to_string())),
            Framing::Close | Framing::Http10 => {}
        }
        if self.after != After::KeepAlive && self.framing != Framing::Http10 {
            own.push(("Connection", "close".to_owned()));
        }
        let added = &self.scenario.headers;
        own.retain(|(name, _)| {
            !added
                .iter()
                .any(|(other, _)| other.eq_ignore_ascii_case(name))
        });
        let own = own.iter().map(|(name, value)| (*name, value));
        let added = added.iter().map(|(name, value)| (name.as_str(), value));
        let version = if self.framing == Framing::Http10 {
            "1.0"
        } else {
            "1.1"
        };
        let mut head = format!("HTTP/{version} {} {}\r\n", self.status, reason(self.status));
        for (name, value) in own.chain(added.filter(|(_, value)| !value.is_empty())) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        head.into_bytes()
    }
}

/// The reason phrase, which RFC 9112 section 4 allows to be empty.
pub(in crate::tools::simulate) fn reason(status: u16) -> &'static str {
    let known = http::StatusCode::from_u16(status).ok();
    known
        .and_then(|status| status.canonical_reason())
        .unwrap_or("")
}
