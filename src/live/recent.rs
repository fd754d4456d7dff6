//! The requests that ended last, in bounded memory.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::observe::drip::{Drip, Tick};
use crate::observe::record::{RequestRecord, Row};

/// Ticks and rows of timelines may take so many bytes together; past that the oldest requests lose theirs.
const PICTURES: usize = 64 << 20;
/// What a tick takes.
const TICK: usize = size_of::<Tick>();

/// A request that has ended.
#[derive(Debug)]
pub struct Ended {
    /// Its number: 1 for the first of this process, and no number is left out.
    pub number: u64,
    /// All of it.
    pub record: Arc<RequestRecord>,
    /// A tick for each chunk; empty for an old one if memory was needed.
    pub drip: Drip,
}

/// The requests that ended last.
#[derive(Debug)]
pub struct Recent {
    most: usize,
    ring: Mutex<Ring>,
    latest: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Ring {
    kept: VecDeque<Arc<Ended>>,
    /// The number of the latest.
    number: u64,
    /// Bytes of pictures.
    weight: usize,
    /// So many of the oldest have lost theirs.
    plain: usize,
}

impl Recent {
    /// Keeps so many.
    pub fn new(most: usize) -> Recent {
        Recent {
            most,
            ring: Mutex::default(),
            latest: watch::Sender::new(0),
        }
    }

    /// Takes the next one. Called on the relay's threads: it is quick, and waits for no reader.
    pub fn push(&self, record: Arc<RequestRecord>, drip: Drip) {
        let mut ring = self.lock();
        ring.number += 1;
        let ended = Ended {
            number: ring.number,
            record,
            drip,
        };
        ring.weight += weight(&ended);
        ring.kept.push_back(Arc::new(ended));
        while ring.kept.len() > self.most {
            ring.drop_oldest();
        }
        while ring.weight > PICTURES && ring.plain < ring.kept.len() {
            ring.make_plain();
        }
        self.latest.send_replace(ring.number);
    }

    /// Those after that number, the oldest first, at most so many. One that is asked for too late is not among them.
    pub fn after(&self, number: u64, most: usize) -> Vec<Arc<Ended>> {
        let ring = self.lock();
        let first = ring.kept.front().map_or(0, |oldest| oldest.number);
        let skipped =
            usize::try_from(number.saturating_add(1).saturating_sub(first)).unwrap_or(usize::MAX);
        ring.kept.iter().skip(skipped).take(most).cloned().collect()
    }

    /// The number before the oldest that is kept.
    pub fn forgotten(&self) -> u64 {
        let ring = self.lock();
        ring.number - ring.kept.len() as u64
    }

    /// The one with that id.
    pub fn find(&self, id: &str) -> Option<Arc<Ended>> {
        let ring = self.lock();
        let mut newest_first = ring.kept.iter().rev();
        newest_first.find(|ended| ended.record.id == id).cloned()
    }

    /// The number of the latest, and when it changes.
    pub fn latest(&self) -> watch::Receiver<u64> {
        self.latest.subscribe()
    }

    fn lock(&self) -> MutexGuard<'_, Ring> {
        // nothing that holds it can leave it half changed
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ring {
    fn drop_oldest(&mut self) {
        if let Some(oldest) = self.kept.pop_front() {
            self.weight -= weight(&oldest);
            self.plain = self.plain.saturating_sub(1);
        }
    }

    /// Takes the pictures from the oldest that has some.
    fn make_plain(&mut self) {
        let ended = &mut self.kept[self.plain];
        self.weight -= weight(ended);
        self.plain += 1;
        if weight(ended) == 0 {
            return;
        }
        // most often nobody else has it any more: what is long is not copied to be thrown away
        let own = Arc::get_mut(ended).and_then(|own| {
            let record = Arc::get_mut(&mut own.record)?;
            Some((record, &mut own.drip))
        });
        match own {
            Some((record, drip)) => {
                record.timeline = None;
                *drip = Drip::default();
            }
            None => {
                *ended = Arc::new(Ended {
                    number: ended.number,
                    record: Arc::new(RequestRecord {
                        timeline: None,
                        ..(*ended.record).clone()
                    }),
                    drip: Drip::default(),
                });
            }
        }
    }
}

/// Bytes of its pictures.
fn weight(ended: &Ended) -> usize {
    let rows = ended.record.timeline.as_ref().map_or(0, Vec::capacity);
    rows * size_of::<Row>() + ended.drip.ticks().len() * TICK
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::logs::sample;

    fn push(recent: &Recent, id: &str, rows: usize) {
        let timeline = (rows > 0).then(|| vec![Row(0, None, 0, 0, 0); rows]);
        let record = RequestRecord {
            id: id.to_owned(),
            timeline,
            ..sample()
        };
        recent.push(Arc::new(record), Drip::default());
    }

    fn numbers(ended: &[Arc<Ended>]) -> Vec<u64> {
        ended.iter().map(|ended| ended.number).collect()
    }

    #[test]
    fn the_latest_are_kept_and_none_is_given_twice() {
        let recent = Recent::new(3);
        assert!(recent.after(0, 10).is_empty() && recent.forgotten() == 0);
        for id in ["a", "b", "c", "d", "e"] {
            push(&recent, id, 0);
        }
        assert_eq!(numbers(&recent.after(0, 10)), [3, 4, 5]);
        assert_eq!(numbers(&recent.after(3, 10)), [4, 5]);
        assert_eq!(numbers(&recent.after(2, 2)), [3, 4]);
        assert!(recent.after(5, 10).is_empty() && recent.after(u64::MAX, 10).is_empty());
        assert_eq!((recent.forgotten(), *recent.latest().borrow()), (2, 5));
        assert_eq!(recent.find("d").unwrap().number, 4);
        assert!(recent.find("a").is_none());
    }

    #[test]
    fn old_requests_lose_their_pictures_when_these_get_too_large() {
        let recent = Recent::new(4);
        let rows = PICTURES / size_of::<Row>() / 2;
        for id in ["a", "b", "c", "d", "e", "f"] {
            push(&recent, id, rows);
            let ring = recent.lock();
            let held: usize = ring.kept.iter().map(|ended| weight(ended)).sum();
            assert_eq!(held, ring.weight);
            assert!(held <= PICTURES);
        }
        let with: Vec<_> = ["c", "d", "e", "f"]
            .map(|id| recent.find(id).unwrap().record.timeline.is_some())
            .into();
        assert_eq!(with, [false, false, true, true]);
    }
    #[test]
    fn a_record_that_nobody_else_has_is_not_copied_to_take_its_pictures() {
        let recent = Recent::new(4);
        let rows = PICTURES / size_of::<Row>() / 2;
        push(&recent, "a", rows);
        let place = || recent.lock().kept[0].record.id.as_ptr();
        let before = place();
        push(&recent, "b", rows);
        push(&recent, "c", rows);
        assert!(recent.find("a").unwrap().record.timeline.is_none());
        assert_eq!(place(), before);
    }
}
