//! Points in time at which clocks strike: whole seconds, minutes, hours, midnights.

use jiff::Timestamp;
use jiff::civil::Time;
use jiff::tz::TimeZone;

const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// From so long a span on, the year is told.
const LONG: i64 = 300 * DAY;
/// Steps of time that people count in, µs; past them 1, 2 and 5 times each power of ten of days, before them of ms.
const STEPS: [i64; 16] = [
    SECOND,
    2 * SECOND,
    5 * SECOND,
    10 * SECOND,
    30 * SECOND,
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    10 * MINUTE,
    15 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
];
/// Ticks that are tried.
const MOST: i64 = 8;

/// A few of them from `from` to `to`, µs since 1970, and how they are called where `zone` is.
pub(super) fn ticks(from: i64, to: i64, zone: &TimeZone) -> Vec<(i64, String)> {
    let Ok(start) = Timestamp::from_microsecond(from) else {
        return Vec::new();
    };
    let span = to.saturating_sub(from).max(1);
    let step = step(span);
    // midnight of the zone is a tick, not that of Greenwich
    let offset = i64::from(zone.to_offset(start).seconds()) * SECOND;
    let first = (from + offset).div_euclid(step) * step - offset;
    let ticks = (0..=MOST)
        .map(|i| first.saturating_add(step.saturating_mul(i)))
        .filter(|at| (from..=to).contains(at))
        .filter_map(|at| {
            let local = zone.to_datetime(Timestamp::from_microsecond(at).ok()?);
            let form = match step {
                ..SECOND => "%H:%M:%S%.3f",
                SECOND..MINUTE => "%H:%M:%S",
                MINUTE..DAY if local.time() != Time::midnight() => "%H:%M",
                _ if span < LONG => "%b %-d",
                _ => "%Y-%m-%d",
            };
            Some((at, local.strftime(form).to_string()))
        });
    ticks.collect()
}

/// The first step of which a span has few.
fn step(span: i64) -> i64 {
    let round = |unit: i64, power: u32| [1, 2, 5].map(|digit| digit * unit * 10i64.pow(power));
    let short = (0..3).flat_map(|power| round(SECOND / 1000, power));
    // 50,000 days of µs are well within the type, and a Timestamp's whole range is but 70 times as much
    let long = (0..7).flat_map(|power| round(DAY, power));
    // longer labels need more room
    let most = |step: i64| match step {
        ..SECOND => 2,
        SECOND..MINUTE => 4,
        _ if span >= LONG => 3,
        _ => 5,
    };
    let mut steps = short.chain(STEPS).chain(long);
    steps
        .find(|&step| span / step <= most(step))
        .unwrap_or(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(from: &str, to: &str, zone: &TimeZone) -> Vec<String> {
        let at = |text: &str| text.parse::<Timestamp>().unwrap().as_microsecond();
        let ticks = ticks(at(from), at(to), zone).into_iter();
        ticks.map(|(_, label)| label).collect()
    }

    #[test]
    fn times_are_those_that_clocks_strike() {
        let utc = &TimeZone::UTC;
        let day = |time: &str| format!("2026-12-02T{time}Z");
        assert_eq!(
            times(&day("05:00:03"), &day("05:57:03"), utc),
            ["05:10", "05:20", "05:30", "05:40", "05:50"]
        );
        assert_eq!(
            times(&day("05:00:00"), &day("05:00:12"), utc),
            ["05:00:00", "05:00:05", "05:00:10"]
        );
        assert_eq!(
            times(&day("05:00:00.01"), &day("05:00:00.35"), utc),
            ["05:00:00.200"]
        );
        assert_eq!(
            times("2026-12-02T17:00:00Z", "2026-12-03T10:00:00Z", utc),
            ["18:00", "21:00", "Dec 3", "03:00", "06:00", "09:00"]
        );
        assert_eq!(
            times("2026-11-20T17:00:00Z", "2026-12-03T10:00:00Z", utc),
            ["Nov 23", "Nov 28", "Dec 3"]
        );
        assert_eq!(
            times("2021-01-01T00:00:00Z", "2026-01-01T00:00:00Z", utc).len(),
            3
        );
        let half_past = jiff::tz::Offset::from_seconds(19_800).unwrap();
        let india = &TimeZone::fixed(half_past);
        assert_eq!(
            times("2026-12-02T17:00:00Z", "2026-12-02T20:00:00Z", india)[..3],
            ["23:00", "Dec 3", "01:00"]
        );
    }
}
