//! `--since` and `--until`: points in time as people write them.

use jiff::civil::DateTime;
use jiff::{Span, Timestamp, ZonedDateTime};

/// A point in time as people write it: RFC 3339, a date or a date and time where `now` is, or how long ago.
///
/// # Errors
///
/// It is neither; the sentence says how to write it.
pub fn instant(text: &str, now: &ZonedDateTime) -> Result<Timestamp, String> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(at);
    }
    if let Ok(local) = text.parse::<DateTime>() {
        let at = local.to_zoned_datetime(now.time_zone().clone());
        return at
            .map(|at| at.timestamp())
            .map_err(|error| error.to_string());
    }
    let ago = text.trim_start_matches('-').parse::<Span>();
    let at = ago.and_then(|ago| now.checked_sub(ago));
    at.map(|at| at.timestamp()).map_err(|_| {
        format!("'{text}' is no time; write 2026-12-02T16:00:00Z, 2026-12-02, or how long ago it was, such as 2h, 30m or 7d")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_points_or_how_long_ago() {
        let now: ZonedDateTime = "2026-12-02T16:00:00+01:00[+01:00]".parse().unwrap();
        for (text, at) in [
            ("2026-12-02T10:00:00Z", "2026-12-02T10:00:00Z"),
            ("2026-12-02T10:00:00+05:00", "2026-12-02T05:00:00Z"),
            ("2026-12-02", "2026-12-01T23:00:00Z"),
            ("2026-12-02 15:30", "2026-12-02T14:30:00Z"),
            ("2h", "2026-12-02T13:00:00Z"),
            ("90m", "2026-12-02T13:30:00Z"),
            ("1h 30m", "2026-12-02T13:30:00Z"),
            ("7d", "2026-11-25T15:00:00Z"),
        ] {
            assert_eq!(instant(text, &now).unwrap().to_string(), at, "{text}");
        }
        for text in ["", "yesterday", "2", "99999999999y", "2026-13-01"] {
            assert!(instant(text, &now).unwrap_err().contains("2h"), "{text}");
        }
    }
}
