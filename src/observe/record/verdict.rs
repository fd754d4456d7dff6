//! Who held the stream back, in the record's words.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The judgement of one stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The main finding.
    pub timing: Timing,
    /// On which side of this proxy; `null` for [`Timing::Steady`].
    #[serde(rename = "where")]
    pub side: Option<Side>,
    /// From 0 to 1.
    pub confidence: f64,
    /// One sentence in plain words.
    pub summary: String,
    /// The numbers it rests on.
    pub evidence: BTreeMap<String, f64>,
    /// The limit that seems to have cut the stream.
    pub cut: Option<Cut>,
    /// Every rule that fired, the main one first.
    pub findings: Vec<Finding>,
}

/// How a stream came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timing {
    /// Evenly.
    Steady,
    /// Unevenly, and no rule fits.
    Irregular,
    /// All at once, at the end.
    WholeBodyBurst,
    /// In blocks of constant size.
    BlockBurst,
    /// In lumps at a constant period.
    TickBurst,
    /// In lumps of a constant number of events.
    CountBurst,
    /// Many events in one read, nothing constant.
    TransportCoalesced,
    /// A pause after which nothing was made up for: work stopped.
    StallNoCatchUp,
    /// A pause after which the missing came at once: bytes were held.
    StallWithCatchUp,
    /// One event with all the text.
    ProducerBatched,
    /// A long wait for the header, then a steady body.
    LateHeader,
    /// An early header, a long wait, then a steady body.
    LateFirstToken,
    /// A long time between the last token and the end.
    LateTail,
    /// The client did not take the bytes.
    DownstreamBackpressure,
    /// Cannot be told; the summary says why.
    Unmeasurable,
}

impl Timing {
    /// All of them, in their order.
    pub const ALL: [Self; 15] = [
        Self::Steady,
        Self::Irregular,
        Self::WholeBodyBurst,
        Self::BlockBurst,
        Self::TickBurst,
        Self::CountBurst,
        Self::TransportCoalesced,
        Self::StallNoCatchUp,
        Self::StallWithCatchUp,
        Self::ProducerBatched,
        Self::LateHeader,
        Self::LateFirstToken,
        Self::LateTail,
        Self::DownstreamBackpressure,
        Self::Unmeasurable,
    ];
}

/// A side of this proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// It was so when read.
    Upstream,
    /// Read in time and written late, while the client could take it.
    Proxy,
    /// The client did not take it.
    Downstream,
    /// Cannot be told.
    Unknown,
}

/// A limit that seems to have cut the stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cut {
    /// What the limit is on.
    pub kind: CutKind,
    /// The limit: a round one, or what several cuts agree on.
    pub after_ms: f64,
    /// Who has it.
    pub side: Side,
}

/// What a limit is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CutKind {
    /// Silence.
    Idle,
    /// Age.
    Total,
}

/// A rule that fired.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Which rule.
    pub code: Cow<'static, str>,
    /// On which side of this proxy.
    #[serde(rename = "where")]
    pub side: Side,
    /// When, from `t0`; `null` for what is true of the whole stream.
    pub at_ms: Option<f64>,
    /// What was seen, in plain words with its numbers.
    pub sentence: String,
    /// A concrete thing to try.
    pub hint: String,
}
