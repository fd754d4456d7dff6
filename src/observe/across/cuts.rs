//! Limits that cut streams, told by what several cuts have in common.
//!
//! Constant silence and differing age: an idle limit. Constant age, whatever the silence: a total
//! limit. Both constant: a limit on one of them, and which cannot be told. One record alone can only
//! be held against round limits (`verdict/cut.rs`); here any number is one.

use std::borrow::Cow;

use super::agree::{Group, Latest, differ, span, tolerance};
use super::us;
use crate::observe::record::{Api, Cut, CutKind, End, Finding, RequestRecord, Side};
use crate::observe::stats::{Us, in_ms};
use crate::observe::verdict::cut;
use crate::observe::verdict::words::time;

/// Codes of findings on a cut: the surest one stands.
pub const CODES: [&str; 3] = ["idle_cut", "total_cut", CONSTANT];

/// Silence and age are both constant.
const CONSTANT: &str = "constant_cut";

/// Cuts that are kept for each side. A limit shows in the first few; more would only keep one in
/// mind that is long gone.
const KEPT: usize = 32;

/// Other records of which it is kept how long a silence and how great an age they survived.
const SURVIVORS: usize = 64;

/// So many cuts must agree. Two may by chance: of cuts at any time within a few minutes one in a
/// hundred agrees with a given other one.
const LEAST: usize = 3;

/// And more than half of those that could, by this much: 3 of 4, 4 of 6. Of users who leave at any
/// time within a minute, two in a thousand histories have such a group by chance (a test counts).
const MORE_THAN_HALF: usize = 2;

/// Cuts closer together are one event, µs: a crash, a restart, a client program that was stopped cut
/// everything that is open.
const ONE_EVENT: i64 = 200_000;

/// No limit is shorter, µs. Below it lie the gaps between tokens, where every stream is cut that is
/// cut at any moment.
const SHORTEST: Us = 500_000;

/// The latest cuts, and what was not cut.
#[derive(Debug, Default)]
pub struct Cuts {
    upstream: Latest<Point, KEPT>,
    downstream: Latest<Point, KEPT>,
    survivors: Latest<Point, SURVIVORS>,
    seen: u64,
}

/// One record's silence and age.
#[derive(Debug, Clone, Copy)]
struct Point {
    /// Which record it was, by number.
    number: u64,
    silence: Us,
    age: Us,
    /// Wall clock at the end, µs: only to tell events apart.
    ended: i64,
    /// No silence within the body was longer: an idle limit would have struck there.
    longest: bool,
}

impl Point {
    fn may_be_idle(&self) -> bool {
        self.silence >= SHORTEST && self.longest
    }

    fn is_flowing(&self) -> bool {
        self.silence * cut::FLOWING <= self.age
    }
}

/// What the cuts agree on.
struct Common {
    kind: CutKind,
    group: Group,
    /// Cuts that could have agreed.
    of: usize,
    /// What the other kind of limit would keep constant differs.
    decided: bool,
    /// The other figure of the group, from and to.
    other: (Us, Us),
}

impl Cuts {
    /// Takes note of a record; of a cut one, the limit that cut it as far as several tell. No
    /// [`Cut`] where its kind cannot be told.
    pub fn look(&mut self, record: &RequestRecord) -> Option<(Option<Cut>, Finding)> {
        self.seen += 1;
        if record.api == Some(Api::Websocket) {
            return None; // every close is an ordinary end there
        }
        let side = match record.end {
            End::Truncated | End::UpstreamReset => Side::Upstream,
            End::ClientGone => Side::Downstream,
            _ => {
                self.survivors.take(survived(record, self.seen));
                return None;
            }
        };
        let point = point(record, side, self.seen)?;
        match side {
            Side::Upstream => self.upstream.push(point),
            _ => {
                self.downstream.push(point);
                // That the upstream let it live so long is known all the same.
                self.survivors.take(survived(record, self.seen));
            }
        }
        let (idle, total) = (self.idle(side, point), self.total(side, point));
        let common = match (idle, total) {
            (Some(idle), Some(total)) if idle.group.n >= total.group.n => idle,
            (idle, total) => total.or(idle)?,
        };
        self.tell(common, side, record)
    }

    fn of(&self, side: Side) -> &Latest<Point, KEPT> {
        match side {
            Side::Upstream => &self.upstream,
            _ => &self.downstream,
        }
    }

    fn idle(&self, side: Side, point: Point) -> Option<Common> {
        let cuts = self.of(side).iter().filter(|cut| cut.may_be_idle());
        let (silence, age) = (|p: &Point| p.silence, |p: &Point| p.age);
        point.may_be_idle().then_some(())?;
        let (group, of) = self.group(side, point, cuts.clone(), silence)?;
        let ages = cuts.filter(|cut| group.holds(cut.silence)).map(age);
        Some(Common {
            kind: CutKind::Idle,
            group,
            of,
            decided: differ(ages.clone()),
            other: ends(ages),
        })
    }

    fn total(&self, side: Side, point: Point) -> Option<Common> {
        let cuts = self.of(side).iter().filter(|cut| cut.age >= SHORTEST);
        let (silence, age) = (|p: &Point| p.silence, |p: &Point| p.age);
        (point.age >= SHORTEST).then_some(())?;
        let (group, of) = self.group(side, point, cuts.clone(), age)?;
        let mut members = cuts.filter(|cut| group.holds(cut.age));
        let silences = members.clone().map(silence);
        Some(Common {
            kind: CutKind::Total,
            group,
            of,
            decided: members.all(Point::is_flowing) || differ(silences.clone()),
            other: ends(silences),
        })
    }

    /// The cuts that agree with this one: enough of them and not in one event, more than half of
    /// those that could, and no record between them outlived the limit that they would show. (Other
    /// clients' records say nothing of the limit of one.)
    fn group<'a>(
        &'a self,
        side: Side,
        point: Point,
        cuts: impl Iterator<Item = &'a Point> + Clone,
        figure: impl Fn(&Point) -> Us,
    ) -> Option<(Group, usize)> {
        let group = Group::around(figure(&point), cuts.clone().map(&figure))?;
        let of = cuts.clone().count();
        let mut members = cuts.filter(|cut| group.holds(figure(cut)));
        if events(members.clone()) < LEAST || group.n * 2 < of + MORE_THAN_HALF {
            return None;
        }
        let since = members.next()?.number;
        let limit = group.to + tolerance(group.to);
        let outlived = |other: &Point| other.number > since && figure(other) > limit;
        let is_refuted = side == Side::Upstream && self.survivors.iter().any(outlived);
        (!is_refuted).then_some((group, of))
    }

    fn tell(
        &self,
        common: Common,
        side: Side,
        record: &RequestRecord,
    ) -> Option<(Option<Cut>, Finding)> {
        let Common { group, of, .. } = common;
        let which = if group.n == of {
            format!(
                "The last {} cuts on the {} side all came",
                group.n,
                cut::whose(side)
            )
        } else {
            let whose = cut::whose(side);
            format!("{} of the last {of} cuts on the {whose} side came", group.n)
        };
        let (same, other) = (
            span(group.from, group.to),
            span(common.other.0, common.other.1),
        );
        let (silence, age) = match common.kind {
            CutKind::Idle => (&same, &other),
            CutKind::Total => (&other, &same),
        };
        let at_ms = record.at.end_ms;
        if !common.decided {
            if record
                .verdict
                .as_ref()
                .is_some_and(|verdict| verdict.cut.is_some())
            {
                return None; // a round limit says more
            }
            let sentence = format!(
                "{which} after {silence} of silence and at an age of {age}: a limit on the silence or on the whole, \
                 which of them streams that differ more would tell."
            );
            let hint = "look for this number among the limits on the way (idle, read, request timeouts); a stream \
                        with comments while it waits tells whether silence matters";
            return Some((None, finding(CONSTANT, side, at_ms, sentence, hint)));
        }
        let limit = cut::near_limit(common.kind, group.median).unwrap_or(group.median);
        let (kind, named) = (common.kind, time(limit));
        let sentence = match kind {
            CutKind::Idle => format!(
                "{which} after {silence} of silence, at ages of {age}: an idle limit of {named}."
            ),
            CutKind::Total => format!(
                "{which} at an age of {age}, after {silence} of silence: a total limit of {named}."
            ),
        };
        let after_ms = in_ms(limit);
        let hint = cut::hint(kind, side);
        Some((
            Some(Cut {
                kind,
                after_ms,
                side,
            }),
            finding(cut::code(kind), side, at_ms, sentence, hint),
        ))
    }
}

/// The silence and age of a cut; the upstream's age counts from when it had the request.
fn point(record: &RequestRecord, side: Side, number: u64) -> Option<Point> {
    let silence = us(record.silence.before_end_ms?);
    let start = match side {
        Side::Upstream => record.at.sent_ms.map_or(0, us),
        _ => 0,
    };
    let within = us(record.gaps.chunk.max_ms.unwrap_or(0.0));
    let end = us(record.at.end_ms?);
    let started = record.started_at.parse::<jiff::Timestamp>();
    // A start that is no time is of no event that is known.
    let started = started.map_or((number as i64).saturating_mul(2 * ONE_EVENT), |at| {
        at.as_microsecond()
    });
    Some(Point {
        number,
        silence,
        age: end.saturating_sub(start),
        ended: started.saturating_add_unsigned(end),
        longest: within <= silence + tolerance(silence),
    })
}

/// What a record that the upstream did not cut lived through.
fn survived(record: &RequestRecord, number: u64) -> Option<Point> {
    let point = point(record, Side::Upstream, number)?;
    let within = us(record.gaps.chunk.max_ms.unwrap_or(0.0));
    Some(Point {
        silence: point.silence.max(within),
        ..point
    })
}

/// How many events these cuts were.
fn events<'a>(cuts: impl Iterator<Item = &'a Point>) -> usize {
    let mut ends: Vec<i64> = cuts.map(|cut| cut.ended).collect();
    ends.sort_unstable();
    let apart = ends
        .windows(2)
        .filter(|pair| pair[1].saturating_sub(pair[0]) > ONE_EVENT);
    apart.count() + usize::from(!ends.is_empty())
}

fn ends(values: impl Iterator<Item = Us> + Clone) -> (Us, Us) {
    let least = values.clone().min().unwrap_or(0);
    (least, values.max().unwrap_or(0))
}

fn finding(
    code: &'static str,
    side: Side,
    at_ms: Option<f64>,
    sentence: String,
    hint: &str,
) -> Finding {
    Finding {
        code: Cow::Borrowed(code),
        side,
        at_ms,
        sentence,
        hint: hint.to_owned(),
    }
}
