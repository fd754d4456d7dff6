//! The scripts as files for people: each reads, says in one line what it does, and begins with the fault that it replays
//! and where that was reported.

use std::fs;
use std::path::Path;

use dripline::tools::simulate::Scenario;

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
