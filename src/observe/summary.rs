//! The timeline in figures: what of the record comes from times and counts alone.

use super::bursts::{self, Burst};
use super::distribution::{Distribution, Distributions, GAP_BOUNDS, HOLD_BOUNDS};
use super::record::{
    Coalescing, GapStats, Gaps, Hold, Marks, Rates, Row, Silence, Stall, Stamps, Tokens,
};
use super::stats::{Series, Sorted, Us, in_ms};
use super::timeline::{self, LEAST_STALL, Points, Timeline};

/// A stall is this many times the 90th percentile of the token gaps, or more.
const STALL_FACTOR: Us = 5;

/// Bursts whose sizes the record shows.
const BURSTS_SHOWN: usize = 16;

/// One series of gaps.
#[derive(Debug)]
pub struct Distances {
    /// All gaps.
    pub gaps: Sorted,
    /// The last point.
    pub last: Option<Us>,
    max_at: Option<Us>,
}

/// Everything that the times say.
#[derive(Debug)]
pub struct Summary {
    /// Single points.
    pub at: Points,
    /// Gaps between chunks.
    pub chunk: Distances,
    /// Gaps between events.
    pub event: Distances,
    /// Gaps between token events.
    pub token: Distances,
    /// Bursts of events.
    pub bursts: Vec<Burst>,
    /// The worst stalls.
    pub stalls: Vec<Stall>,
    /// Times without a byte.
    pub silence: Silence,
    /// How events shared reads.
    pub coalescing: Coalescing,
    /// The proxy's own delay.
    pub hold: Hold,
    /// How all values lie.
    pub distributions: Distributions,
    /// Rows of the timeline.
    pub rows: Option<Vec<Row>>,
    /// Whether rows are missing.
    pub rows_cut: bool,
    /// Where arrival times came from.
    pub stamps: Option<Stamps>,
    /// Chunks.
    pub n_chunks: u64,
    /// Chunks with a token event.
    pub n_token_chunks: u64,
    /// Events.
    pub n_events: u64,
    /// Token events.
    pub n_tokens: u64,
    /// Body bytes.
    pub bytes: u64,
}

impl Summary {
    /// Sums up a timeline that is finished.
    pub fn of(timeline: Timeline) -> Summary {
        let stamps = timeline.stamps();
        let event = Distances::of(timeline.events);
        let token = Distances::of(timeline.tokens);
        let within = bursts::longest_gap_within(event.gaps.median_non_zero());
        let log = timeline.log.events();
        let bursts = bursts::find(log, within);
        let threshold = LEAST_STALL.max(STALL_FACTOR * token.gaps.percentile(90).unwrap_or(0));
        let stalls = timeline.pauses.from(threshold).map(|pause| Stall {
            at_ms: in_ms(pause.at),
            gap_ms: in_ms(pause.gap),
            after_token: pause.after_token,
            catch_up_events: bursts::length_from(log, pause.event, within),
        });
        let chunk = Distances::of(timeline.chunks);
        let blocked = timeline.hold.blocked();
        let delays = timeline.hold.into_sorted();
        let gaps = |of: &Distances| Distribution::of(&of.gaps, &GAP_BOUNDS);
        let distributions = Distributions {
            chunk_gaps: gaps(&chunk),
            event_gaps: gaps(&event),
            token_gaps: gaps(&token),
            hold: Distribution::of(&delays, &HOLD_BOUNDS),
            events_per_chunk: timeline
                .crowds
                .distribution(timeline.n_chunks, timeline.n_events),
            stalls: token.gaps.n() - token.gaps.up_to(threshold - 1),
        };
        Summary {
            at: timeline.at,
            chunk,
            stalls: stalls.collect(),
            silence: silence(&timeline.silence),
            coalescing: Coalescing {
                events_per_chunk_max: Some(timeline.most_events),
                chunks_with_many_events: Some(timeline.crowds.of_many()),
                events_split_over_chunks: Some(timeline.split_events),
                burst_events: shown(&bursts, |burst| burst.events),
                burst_bytes: shown(&bursts, |burst| burst.bytes),
                burst_period_ms: bursts::period(&bursts).map(in_ms),
            },
            hold: hold(&delays, blocked, &timeline.backlog),
            distributions,
            event,
            token,
            bursts,
            rows: timeline.rows,
            rows_cut: timeline.rows_cut,
            stamps,
            n_chunks: timeline.n_chunks,
            n_token_chunks: timeline.n_token_chunks,
            n_events: timeline.n_events,
            n_tokens: timeline.n_tokens,
            bytes: timeline.bytes,
        }
    }

    /// The marks as the record shows them.
    pub fn marks(&self) -> Marks {
        let at = &self.at;
        let ms = |point: Option<Us>| point.map(in_ms);
        Marks {
            request_end_ms: ms(at.request_end),
            sent_ms: ms(at.sent),
            header_ms: ms(at.header),
            first_byte_ms: ms(at.first_byte),
            first_event_ms: ms(at.first_event),
            first_token_ms: ms(at.first_token),
            first_reasoning_ms: ms(at.first_reasoning),
            first_content_ms: ms(at.first_answer),
            first_tool_ms: ms(at.first_tool),
            last_token_ms: ms(at.last_token),
            done_ms: ms(at.done),
            end_ms: ms(at.end),
        }
    }

    /// The gaps as the record shows them.
    pub fn gaps(&self) -> Gaps {
        Gaps {
            chunk: self.chunk.stats(),
            event: self.event.stats(),
            token: self.token.stats(),
        }
    }

    /// First token from the end of the request; `None` when the token came first.
    pub fn ttft_after_request(&self) -> Option<Us> {
        self.at.first_token?.checked_sub(self.at.request_end?)
    }

    /// Last token to the end.
    pub fn tail(&self) -> Option<Us> {
        self.at.end?.checked_sub(self.at.last_token?)
    }

    /// First token to the last.
    pub fn token_span(&self) -> Option<Us> {
        self.at.last_token?.checked_sub(self.at.first_token?)
    }

    /// Bursts with a token event in them.
    pub fn n_token_bursts(&self) -> u64 {
        self.bursts.iter().filter(|burst| burst.tokens > 0).count() as u64
    }

    /// Speeds, given the server's own count of tokens. A speed over one burst means nothing, and
    /// reasoning that was counted but never streamed is no part of it.
    pub fn rates(&self, tokens: Tokens) -> Rates {
        let hidden = tokens
            .reasoning
            .filter(|_| self.at.first_reasoning.is_none());
        let streamed = tokens
            .completion
            .map(|n| n.saturating_sub(hidden.unwrap_or(0)));
        let one_burst = match (self.n_tokens, self.n_events) {
            (0, 0) => false,
            (0, _) => self.bursts.len() == 1,
            _ => self.n_token_bursts() == 1,
        };
        let per_second = |n: u64, span: Us| {
            (n > 0 && span > 0 && !one_burst).then(|| rounded(n as f64 * 1e6 / span as f64))
        };
        let tokens = streamed.zip(self.token_span());
        Rates {
            chunks_per_s_after_first: per_second(self.chunk.gaps.n(), self.chunk.gaps.sum()),
            tokens_per_s_after_first: tokens
                .and_then(|(n, span)| per_second(n.saturating_sub(1), span)),
        }
    }
}

impl Distances {
    fn of(series: Series) -> Self {
        Distances {
            max_at: series.max_at(),
            last: series.last(),
            gaps: series.into_sorted(),
        }
    }

    fn stats(&self) -> GapStats {
        let gaps = &self.gaps;
        let ms = |p| gaps.percentile(p).map(in_ms);
        GapStats {
            n: gaps.n(),
            mean_ms: (gaps.n() > 0).then(|| rounded(in_ms(gaps.sum()) / gaps.n() as f64)),
            p50_ms: ms(50),
            p90_ms: ms(90),
            p99_ms: ms(99),
            max_ms: gaps.max().map(in_ms),
            max_at_ms: self.max_at.map(in_ms),
            exact: gaps.is_exact(),
        }
    }
}

fn shown(bursts: &[Burst], size: fn(&Burst) -> u64) -> Option<Vec<u64>> {
    Some(bursts.iter().take(BURSTS_SHOWN).map(size).collect())
}

fn silence(silence: &timeline::Silence) -> Silence {
    Silence {
        longest_ms: silence.longest.map(|(length, _)| in_ms(length)),
        longest_at_ms: silence.longest.map(|(_, at)| in_ms(at)),
        before_end_ms: silence.before_end.map(in_ms),
    }
}

fn hold(delays: &Sorted, blocked: Us, backlog: &timeline::Backlog) -> Hold {
    Hold {
        p50_us: delays.percentile(50),
        p99_us: delays.percentile(99),
        max_us: delays.max(),
        blocked_ms: (delays.n() > 0 || blocked > 0).then(|| in_ms(blocked)),
        unacked_max_bytes: backlog.max(),
        unacked_ms: backlog.stuck().map(in_ms),
        rwnd_limited_ms: backlog.rwnd_limited().map(in_ms),
    }
}

/// Three digits after the point: more is noise in a log.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
