//! What a cold start costs: the first token of a cold request against those of warm ones.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::agree::Latest;
use super::us;
use crate::observe::record::{Finding, RequestRecord, Side};
use crate::observe::stats::Us;
use crate::observe::verdict::words::{count, time};

/// Warm requests that are kept.
const KEPT: usize = 32;

/// Fewer have no usual time.
const LEAST: usize = 3;

/// A cold start takes so many times the usual time, or more: less is load …
const TIMES: Us = 3;

/// … and so much longer, µs: less is not worth a word.
const LONGER: Us = 500_000;

/// A request larger than the largest warm one by this factor may take its time warm as well.
const LARGER: u64 = 4;

/// The latest warm requests.
#[derive(Debug, Default)]
pub struct Cold {
    warm: Latest<Warm, KEPT>,
}

#[derive(Debug, Clone, Copy)]
struct Warm {
    /// Of the model's name: another model's time says nothing.
    model: u64,
    first_token: Us,
    bytes: u64,
}

impl Cold {
    /// Takes note of a warm record; says what it cost that a cold one was cold.
    pub fn look(&mut self, record: &RequestRecord) -> Option<Finding> {
        // A slow upload is not the model's.
        let first_token = us(record.ttft_after_request_ms.or(record.ttft_ms)?);
        let model = hash(record.request.model.as_deref());
        let bytes = record.request.bytes;
        if !record.load.cold {
            self.warm.push(Warm {
                model,
                first_token,
                bytes,
            });
            return None;
        }
        let of_model = self.warm.iter().filter(|warm| warm.model == model);
        let largest = of_model.clone().map(|warm| warm.bytes).max()?;
        let mut usual: Vec<Us> = of_model.map(|warm| warm.first_token).collect();
        usual.sort_unstable();
        let median = usual[usual.len() / 2];
        let is_cold = usual.len() >= LEAST
            && first_token >= TIMES * median
            && first_token - median >= LONGER
            && bytes / LARGER <= largest;
        is_cold.then(|| finding(record, first_token, median, usual.len()))
    }
}

fn finding(record: &RequestRecord, first_token: Us, median: Us, n: usize) -> Finding {
    let after = match record.load.idle_before_ms.map(us) {
        Some(idle) => format!("First request after {} idle", rest(idle)),
        None => "First request to this upstream".to_owned(),
    };
    let loading = match record.server_says.load_ms.map(us) {
        Some(load) if load * 2 >= first_token => {
            format!(
                " The server says that it loaded the model for {}.",
                time(load)
            )
        }
        _ => String::new(),
    };
    Finding {
        code: Cow::Borrowed("cold_start"),
        side: Side::Upstream,
        at_ms: record.ttft_ms,
        sentence: format!(
            "{after}: first token after {}; warm ones take {} at the median ({}).{loading}",
            time(first_token),
            time(median),
            count(n as u64, "request"),
        ),
        hint: "keep it warm: a small request every few minutes, a longer stay of the model in memory (Ollama: \
               `keep_alive`), at least one replica (`min_replicas`)"
            .to_owned(),
    }
}

/// A time of rest: "5 min", "90 s".
fn rest(us: Us) -> String {
    match us / 1_000_000 {
        s @ 0..120 => format!("{s} s"),
        s @ 120..7_200 => format!("{} min", s / 60),
        s => format!("{} h", s / 3_600),
    }
}

fn hash(model: Option<&str>) -> u64 {
    let mut hasher = DefaultHasher::new();
    model.hash(&mut hasher);
    hasher.finish()
}
