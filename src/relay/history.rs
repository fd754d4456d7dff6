//! The look across the latest records, at arm's length: it may fail, and no record is lost by that.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::observe::across::{History, Seen};
use crate::observe::record::RequestRecord;

/// The upstream's history. Asked once a request, at its end, when all its bytes are gone.
#[derive(Default)]
pub struct Kept(Mutex<History>);

impl Kept {
    /// Adds to a finished record what it has in common with the ones before it.
    pub fn add_to(&self, record: &mut RequestRecord) {
        self.ask(|history| history.look(record)).add_to(record);
    }

    /// A panic in `look` costs what was kept, no more.
    fn ask(&self, look: impl FnOnce(&mut History) -> Seen) -> Seen {
        let asked = catch_unwind(AssertUnwindSafe(|| look(&mut self.lock())));
        asked.unwrap_or_else(|_| {
            tracing::error!("the look across records failed (please report)");
            *self.lock() = History::new();
            Seen::default()
        })
    }

    fn lock(&self) -> MutexGuard<'_, History> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::observer::{Cause, Observer, Options, RequestHead};

    #[test]
    fn a_panic_costs_no_record() {
        let kept = Kept::default();
        for _ in 0..2 {
            assert_eq!(kept.ask(|_| panic!("a rule is wrong")), Seen::default());
            let observer = Observer::new(RequestHead::default(), Options::default());
            let mut record = observer.finish(Default::default(), Cause::ClientGone);
            let before = record.clone();
            kept.add_to(&mut record);
            assert_eq!(record, before);
        }
    }
}
