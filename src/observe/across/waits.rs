//! A constant that is added to every wait: a delayed ACK (40 ms), a cork (200 ms), a call for each
//! request before the work on it begins.
//!
//! A healthy server's wait may be constant too: of one prompt over and over, of short prompts that
//! all take one pass of the model, of answers from a prefix cache, of a long way to it. So the round
//! trip is taken off, and a constant is named only where the work that it is told from differed, by
//! the more the less the number itself says.

use std::borrow::Cow;

use super::agree::Latest;
use super::us;
use crate::observe::record::{Finding, Origin, RequestRecord, Side};
use crate::observe::stats::Us;
use crate::observe::verdict::hints;
use crate::observe::verdict::words::{range, time};

/// Requests that are kept: with prompts of all sizes among them, and few enough that a setting that
/// was changed shows soon.
const KEPT: usize = 32;

/// Connections whose round trip is kept.
const CONNECTIONS: usize = 16;

/// Fewer may be alike by chance.
const LEAST: usize = 8;

/// A constant within this much, µs: timers of kernels tick every 4 ms at most …
const SPREAD: Us = 4_000;

/// … or this part of it.
const SPREAD_PERCENT: Us = 3;

/// One in so many may have waited longer: the machine was busy.
const BUSY: usize = 10;

/// One in so many at either end does not make figures differ.
const ODD: usize = 8;

/// Less is what servers take to begin, µs.
const SHORTEST: Us = 30_000;

/// The header is apart from the work on the prompt if the first token comes so much later, µs.
const APART: Us = 10_000;

/// Prompts (in bytes of the request) differ so many times: any constant beside them is none of
/// theirs if the header is apart, …
const DIFFERENT: u64 = 4;
/// … a known constant is not, …
const SOMEWHAT_DIFFERENT: u64 = 2;
/// … and of a wait in which the work may be, only a known one where no server takes as long for the
/// least as for the most: short prompts all take one pass of the model.
const FAR_APART: u64 = 16;

const CODE: &str = "constant_latency";

/// The latest waits of warm requests.
#[derive(Debug, Default)]
pub struct Waits {
    waits: Latest<Wait, KEPT>,
    round_trips: Latest<Us, CONNECTIONS>,
}

/// One request's waits.
#[derive(Debug, Clone, Copy)]
struct Wait {
    /// Request sent to header.
    header: Us,
    /// Header to first body byte.
    body: Us,
    /// Header to first token.
    work: Us,
    /// Bytes of the request.
    prompt: u64,
}

impl Waits {
    /// Takes note of a record; says what constant its wait has in common with the ones before it.
    pub fn look(&mut self, record: &RequestRecord) -> Option<Finding> {
        self.round_trips.take(record.upstream.connect_ms.map(us));
        let wait = wait(record)?;
        self.waits.push(wait);
        // A connection is made in one round trip. Unknown, the way may be what is constant.
        let round_trip = *self.round_trips.iter().min()?;
        self.before_the_header(wait, round_trip)
            .or_else(|| self.before_the_body(wait))
    }

    fn before_the_header(&self, wait: Wait, round_trip: Us) -> Option<Finding> {
        let (from, to) = self.constant(wait, |wait| wait.header)?;
        let added = from.checked_sub(round_trip)?;
        let apart = self.waits.iter().filter(|wait| wait.work >= APART).count();
        let is_apart = apart * 4 >= self.waits.len() * 3;
        let is_known = is_known(added);
        let prompts = self.times(|wait| wait.prompt);
        let is_named = if is_apart {
            let works = self.times(|wait| wait.work);
            let differs = prompts.max(works) >= SOMEWHAT_DIFFERENT;
            added >= SHORTEST && (prompts >= DIFFERENT || is_known && differs)
        } else {
            is_known && prompts >= FAR_APART
        };
        is_named.then(|| self.finding("the header", (from, to), added))
    }

    /// The first byte after the header: where the two were written one after the other.
    fn before_the_body(&self, wait: Wait) -> Option<Finding> {
        let (from, to) = self.constant(wait, |wait| wait.body)?;
        let is_named = is_known(from) && self.times(|wait| wait.prompt) >= FAR_APART;
        is_named.then(|| self.finding("the first byte after the header", (from, to), from))
    }

    /// The least and the most of a figure that is the same for enough requests, this one among them.
    fn constant(&self, wait: Wait, figure: impl Fn(&Wait) -> Us) -> Option<(Us, Us)> {
        let mut all: Vec<Us> = self.waits.iter().map(&figure).collect();
        if all.len() < LEAST {
            return None;
        }
        all.sort_unstable();
        let (from, to) = (all[0], all[all.len() - 1 - all.len() / BUSY]);
        let spread = SPREAD.max(to * SPREAD_PERCENT / 100);
        let is_one_of_them = figure(&wait) <= from + spread;
        (to - from <= spread && is_one_of_them).then_some((from, to))
    }

    /// How many times the least of a figure the most is, the odd ones left out.
    fn times(&self, figure: impl Fn(&Wait) -> u64) -> u64 {
        let mut all: Vec<u64> = self.waits.iter().map(figure).collect();
        all.sort_unstable();
        let odd = all.len() / ODD;
        all[all.len() - 1 - odd] / all[odd].max(1)
    }

    fn finding(&self, what: &str, (from, to): (Us, Us), added: Us) -> Finding {
        let prompts = self.waits.iter().map(|wait| wait.prompt);
        let (least, most) = (prompts.clone().min(), prompts.max());
        let requests = self.waits.len();
        Finding {
            code: Cow::Borrowed(CODE),
            side: Side::Upstream,
            at_ms: None,
            sentence: format!(
                "The last {requests} warm requests all waited about as long for {what}: {}, whatever their size ({} to {} \
                 bytes). About {} are added to each.",
                range(time(from), time(to)),
                least.unwrap_or(0),
                most.unwrap_or(0),
                time(added),
            ),
            hint: hint(added).to_owned(),
        }
    }
}

fn is_known(added: Us) -> bool {
    hints::of_tcp_timer(added).is_some()
}

fn hint(added: Us) -> &'static str {
    hints::of_tcp_timer(added).unwrap_or(
        "look for a call that is made for each request before its work begins (a name lookup, authentication, a rate \
         limiter, a guard), and cache it; or it is the way from the first hop to the server",
    )
}

/// The waits of a warm stream that an upstream answered.
fn wait(record: &RequestRecord) -> Option<Wait> {
    let answered = record.response.origin == Some(Origin::Upstream)
        && record
            .response
            .status
            .is_some_and(|status| status / 100 == 2)
        && record.verdict.is_some();
    let first_try = record.upstream.attempts == 1;
    if !answered || !first_try || record.load.cold {
        return None;
    }
    let at = &record.at;
    let (sent, header) = (us(at.sent_ms?), us(at.header_ms?));
    Some(Wait {
        header: header.saturating_sub(sent),
        body: us(at.first_byte_ms?).saturating_sub(header),
        work: us(at.first_token_ms?).saturating_sub(header),
        prompt: record.request.bytes,
    })
}
