//! When this machine stood still. What was late by so much was held by nobody.

use std::sync::{Mutex, Once};
use std::time::{Duration, Instant};

use crate::support::now;

/// How often is looked, and what is no pause.
const EVERY: Duration = Duration::from_millis(2);
const USUAL: Duration = Duration::from_millis(10);

/// When each began, and how long it was.
static SEEN: Mutex<Vec<(Instant, Duration)>> = Mutex::new(Vec::new());

/// Looks from now on, until the process ends: a thread that sleeps, and sees how late it wakes.
pub fn watch() {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| {
        std::thread::spawn(|| {
            loop {
                let at = now();
                std::thread::sleep(EVERY);
                let late = (now() - at).saturating_sub(EVERY);
                if late > USUAL {
                    SEEN.lock().expect("nobody panics with it").push((at, late));
                }
            }
        });
    });
}

/// The longest pause from then until now.
pub fn longest_since(start: Instant) -> Duration {
    let seen = SEEN.lock().expect("nobody panics with it");
    let late = seen.iter().filter(|(at, late)| *at + *late > start);
    late.map(|(_, late)| *late).max().unwrap_or_default()
}
