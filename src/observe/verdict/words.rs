//! Numbers in sentences.

use crate::observe::stats::Us;

/// A duration in the unit that reads best: "0.4 ms", "24 ms", "3.20 s".
pub fn time(us: Us) -> String {
    match us {
        0..10_000 => format!("{:.1} ms", us as f64 / 1e3),
        10_000..1_000_000 => format!("{:.0} ms", us as f64 / 1e3),
        _ => format!("{:.2} s", us as f64 / 1e6),
    }
}

/// An amount of bytes: "247 bytes", "4.0 KiB".
pub fn bytes(bytes: f64) -> String {
    if bytes < 1024.0 {
        format!("{bytes:.0} bytes")
    } else {
        format!("{:.1} KiB", bytes / 1024.0)
    }
}

/// Two ends of a range, or the one value: "12 to 13", "12".
pub fn range(from: String, to: String) -> String {
    if from == to {
        from
    } else {
        format!("{from} to {to}")
    }
}

/// A number and what it counts: "1 token event", "5 token events".
pub fn count(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_well() {
        assert_eq!(
            ["0.4 ms", "24 ms", "3.20 s"].map(str::to_owned),
            [400, 24_300, 3_200_000].map(time)
        );
        assert_eq!(range("12".into(), "13".into()), "12 to 13");
        assert_eq!(range("12".into(), "12".into()), "12");
        assert_eq!([247.0, 16_384.0].map(bytes), ["247 bytes", "16.0 KiB"]);
        assert_eq!(
            (count(1, "event"), count(0, "event")),
            ("1 event".into(), "0 events".into())
        );
    }
}
