//! The silence clock: time without any byte from the upstream, from the end of the request on.
//! It counts bytes and not tokens, as every idle limit on the way does.

use crate::observe::stats::Us;

/// Times without a byte.
#[derive(Debug, Default)]
pub struct Silence {
    since: Option<Us>,
    /// The longest, and when it ended.
    pub longest: Option<(Us, Us)>,
    /// The one before the end.
    pub before_end: Option<Us>,
}

impl Silence {
    /// The request has gone up (so far).
    pub fn on_sent(&mut self, at: Us) {
        self.since = Some(self.since.map_or(at, |since| since.max(at)));
    }

    /// A byte came.
    pub fn on_byte(&mut self, at: Us) {
        if self.since != Some(at) {
            self.take(at); // more of the same read is no silence
        }
        self.since = Some(at);
    }

    /// The end. A silence that the end breaks is one like any other.
    pub fn finish(&mut self, at: Us) {
        self.before_end = self.take(at);
    }

    fn take(&mut self, at: Us) -> Option<Us> {
        let silence = at.saturating_sub(self.since?);
        if self.longest.is_none_or(|(longest, _)| silence > longest) {
            self.longest = Some((silence, at));
        }
        Some(silence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_from_the_request_s_end_and_includes_the_end() {
        let mut silence = Silence::default();
        silence.on_sent(10);
        silence.on_byte(15);
        silence.on_sent(100);
        silence.on_byte(140);
        silence.finish(170);
        assert_eq!(
            (silence.longest, silence.before_end),
            (Some((40, 140)), Some(30))
        );
    }

    #[test]
    fn unknown_while_nothing_was_sent() {
        let mut silence = Silence::default();
        silence.finish(170);
        assert_eq!((silence.longest, silence.before_end), (None, None));
    }

    #[test]
    fn the_pieces_of_one_read_make_no_silence() {
        let mut silence = Silence::default();
        silence.on_byte(10);
        silence.on_byte(10);
        assert_eq!(silence.longest, None);
        silence.finish(50);
        assert_eq!(silence.longest, Some((40, 50)));
    }
}
