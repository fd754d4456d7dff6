//! What the cases rest on: their scripts are files for people, and the rig sees a hop that holds bytes back.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use dripline::tools::simulate::Scenario;

use super::hop::holding;
use super::rig::{Ask, Case};
use crate::support::Client;

/// Each script reads, says in one line what it does, and begins with the fault that it replays and where it was reported.
#[test]
fn every_script_reads_and_begins_with_its_fault() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let files = fs::read_dir(folder).expect("a folder");
    let files = files.map(|entry| entry.expect("a file").path());
    let scripts: Vec<_> = files
        .filter(|file| file.extension().is_some_and(|e| e == "toml"))
        .collect();
    assert!(!scripts.is_empty());
    for file in scripts {
        let scenario = Scenario::from_file(&file).unwrap_or_else(|error| panic!("{error}"));
        let text = fs::read_to_string(&file).expect("a text");
        assert!(
            text.starts_with("# "),
            "{} begins with no comment",
            file.display()
        );
        assert!(
            !scenario.about.is_empty(),
            "{} has no about",
            file.display()
        );
    }
}

#[test]
fn the_rig_sees_what_a_hop_holds() {
    // its first event is followed by a long pause, so that what is held is held for long
    let case = Case::of("A20");
    for block in [400, usize::MAX] {
        let mut client = Client::connect(holding(case.proxy.addr, block));
        let run = case.server.exchange(&mut client, Ask::chat(), &case.proxy);
        run.bytes_are_the_servers();
        assert!(
            catch_unwind(AssertUnwindSafe(|| run.nothing_held())).is_err(),
            "{block}"
        );
    }
}
