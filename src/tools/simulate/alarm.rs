//! Waking at an instant, to about a tenth of a millisecond.
//!
//! tokio's timer counts whole milliseconds and rounds up, which would put up to a millisecond of error into every gap of a
//! script. A thread of its own that sleeps until the next deadline (the kernel's timer slack is 50 µs) does better without
//! spinning, for any number of scripts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Instant;
use std::{cmp, io};

use tokio::sync::oneshot;

/// Wakes tasks at their deadlines. Clones share one thread, which ends with the last of them.
#[derive(Clone)]
pub(super) struct Alarm(Sender<Waiting>);

struct Waiting {
    deadline: Instant,
    wake: oneshot::Sender<()>,
}

impl Alarm {
    pub fn start() -> io::Result<Self> {
        let (sender, receiver) = channel();
        thread::Builder::new()
            .name("alarm".to_owned())
            .spawn(move || ring(&receiver))?;
        Ok(Self(sender))
    }

    /// Returns at `deadline`, or at once if it has passed.
    pub async fn until(&self, deadline: Instant) {
        if deadline <= now() {
            return;
        }
        let (wake, woken) = oneshot::channel();
        // the thread ends only when every Alarm is gone, so it is there and answers
        let _ = self.0.send(Waiting { deadline, wake });
        let _ = woken.await;
    }
}

/// The tools' edge may read the clock; the simulated server reads it here.
#[allow(clippy::disallowed_methods)]
pub(super) fn now() -> Instant {
    Instant::now()
}

/// The thread: takes new deadlines while it sleeps until the nearest.
fn ring(new: &Receiver<Waiting>) {
    let mut heap: BinaryHeap<Reverse<Waiting>> = BinaryHeap::new();
    loop {
        let next = match heap.peek() {
            None => new.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(Reverse(first)) => {
                new.recv_timeout(first.deadline.saturating_duration_since(now()))
            }
        };
        match next {
            Ok(waiting) => heap.push(Reverse(waiting)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        while heap
            .peek()
            .is_some_and(|Reverse(first)| first.deadline <= now())
        {
            // a task that has left does not listen any more
            let _ = heap.pop().map(|Reverse(due)| due.wake.send(()));
        }
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> cmp::Ordering {
        self.deadline.cmp(&other.deadline)
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.deadline == other.deadline
    }
}

impl Eq for Waiting {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn tasks_wake_in_the_order_of_their_deadlines_and_never_early() {
        let alarm = Alarm::start().unwrap();
        let start = now();
        let wait = async |millis| {
            alarm.until(start + Duration::from_millis(millis)).await;
            (millis, start.elapsed().as_millis() as u64)
        };
        let (late, early, past) = tokio::join!(wait(30), wait(10), wait(0));
        for (asked, woken) in [late, early, past] {
            assert!(
                woken >= asked,
                "asked for {asked} ms, woken after {woken} ms"
            );
        }
        assert!(early.1 < late.1);
    }
}
