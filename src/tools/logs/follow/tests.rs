//! Real files that grow, are rotated, truncated, copied and packed.

use std::fs::{self, OpenOptions};
use std::io::Write;

use tempfile::TempDir;

use super::*;
use crate::tools::logs::sample;

struct Logs {
    dir: TempDir,
    followed: Followed,
    /// Bad lines and pieces without a line of a record.
    problems: Vec<String>,
}

/// A line of a record with this id.
fn line(id: &str) -> String {
    let mut record = sample();
    record.id = id.to_owned();
    record.started_at = format!(
        "2026-12-02T05:00:{:0>2}Z",
        id.trim_start_matches(char::is_alphabetic)
    );
    serde_json::to_string(&record).unwrap() + "\n"
}

impl Logs {
    /// Follows these names in a folder that has these files.
    fn of(names: &[&str], files: &[(&str, &str)]) -> Logs {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let names = names.iter().map(|name| dir.path().join(name)).collect();
        Logs {
            followed: Followed::of(names).unwrap(),
            dir,
            problems: Vec::new(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn append(&self, name: &str, text: &str) {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.path(name))
            .unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    /// The ids that came, after another look.
    fn ids(&mut self) -> String {
        self.followed.look();
        let mut pieces = Vec::new();
        while let Some(piece) = self.followed.piece().unwrap() {
            pieces.push(piece);
        }
        pieces.extend(self.followed.left());
        let mut ids = Vec::new();
        for Piece { name, lines } in pieces {
            let block = lines.unwrap();
            for line in
                super::super::parsed::<Box<crate::observe::record::RequestRecord>>(&name, &block)
            {
                match line {
                    Ok(record) => ids.push(record.id),
                    Err(bad) => self.problems.push(bad.problem),
                }
            }
        }
        ids.join(" ")
    }

    /// Looks until files that were moved away are left.
    fn wait(&mut self) -> String {
        let all: Vec<String> = (0..PATIENCE + 1).map(|_| self.ids()).collect();
        all.concat()
    }
}

#[test]
fn a_line_that_is_being_written_is_waited_for() {
    let mut logs = Logs::of(&["a"], &[("a", &(line("1") + &line("2")[..100]))]);
    assert_eq!(logs.ids(), "1");
    assert_eq!(logs.wait(), "");
    logs.append("a", &line("2")[100..]);
    assert_eq!(logs.ids(), "2");
    logs.append("a", &(line("3") + &line("4")));
    assert_eq!(logs.ids(), "3 4");
    assert!(logs.problems.is_empty());
}

#[test]
fn a_file_that_is_renamed_and_made_anew_is_followed_on() {
    let mut logs = Logs::of(&["a"], &[("a", &line("1"))]);
    assert_eq!(logs.ids(), "1");
    logs.append("a", &line("2"));
    logs.rename("a", "b");
    assert_eq!(logs.ids(), "2", "what came before the look");
    logs.append("b", &line("3"));
    assert_eq!(logs.ids(), "3", "the writer has not noticed yet");
    logs.append("a", &line("4"));
    logs.append("b", &line("5"));
    assert_eq!(logs.ids(), "5 4", "the older file first");
    logs.append("b", &line("6")[..50]);
    assert_eq!(logs.wait(), "");
    assert_eq!(logs.problems, ["is cut off"], "its writer is gone");
    assert_eq!(logs.followed.tails.len(), 1);
    logs.append("a", &line("7"));
    assert_eq!(logs.ids(), "7");
}

#[test]
fn a_file_that_was_moved_away_is_followed_while_its_name_has_nothing() {
    let mut logs = Logs::of(&["a"], &[("a", &line("1"))]);
    assert_eq!(logs.ids(), "1");
    logs.rename("a", "b");
    assert_eq!(logs.wait(), "");
    let troubles = logs.followed.troubles();
    assert!(troubles.is_empty(), "{troubles:?}");
    logs.append("b", &line("2"));
    assert_eq!(logs.ids(), "2");
    // as logrotate does with `create`, before it tells the writer
    logs.append("a", "");
    assert_eq!(logs.wait(), "");
    logs.append("b", &line("3"));
    assert_eq!(logs.ids(), "3");
    logs.append("a", &line("4"));
    assert_eq!(logs.wait(), "4");
    assert_eq!(logs.followed.tails.len(), 1);
}

#[test]
fn a_file_under_two_names_is_read_once() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a"), line("1")).unwrap();
    fs::hard_link(dir.path().join("a"), dir.path().join("b")).unwrap();
    let followed = Followed::of(vec![dir.path().join("*")]).unwrap();
    let mut logs = Logs {
        dir,
        followed,
        problems: Vec::new(),
    };
    assert_eq!(logs.ids(), "1");
    fs::hard_link(logs.path("a"), logs.path("c")).unwrap();
    assert_eq!(logs.ids(), "");
    assert_eq!(logs.followed.tails.len(), 1);
}

#[test]
fn a_file_that_is_truncated_is_read_from_its_start() {
    let mut logs = Logs::of(
        &["a*"],
        &[("a", &(line("1") + &line("2") + &line("3")[..9]))],
    );
    assert_eq!(logs.ids(), "1 2");
    // as logrotate does with `copytruncate`
    fs::copy(logs.path("a"), logs.path("a.1")).unwrap();
    fs::write(logs.path("a"), "").unwrap();
    assert_eq!(logs.ids(), "");
    logs.append("a", &line("4"));
    assert_eq!(logs.ids(), "4");
    assert_eq!(logs.wait(), "", "the copy is none");
    assert!(logs.problems.is_empty());
}

#[test]
fn a_file_that_appears_later_is_read() {
    let mut logs = Logs::of(&["a", "day-*"], &[]);
    let troubles = logs.followed.troubles();
    assert!(
        troubles[0].ends_with("a is not there: waiting for it"),
        "{troubles:?}"
    );
    assert_eq!(troubles.len(), 2);
    assert_eq!(logs.ids(), "");
    logs.append("a", "");
    logs.append("day-1", &line("1")[..40]);
    assert_eq!(logs.ids(), "");
    logs.append("a", &line("2"));
    logs.append("day-1", &line("1")[40..]);
    assert_eq!(logs.ids(), "2 1");
    assert!(logs.followed.troubles().is_empty());
    logs.append("day-2", &line("3"));
    logs.append("day-1", &line("4"));
    assert_eq!(logs.ids(), "4 3");
    fs::remove_file(logs.path("day-1")).unwrap();
    assert_eq!(logs.wait(), "");
    assert_eq!(logs.followed.tails.len(), 2, "what was removed is not held");
}

#[test]
fn nothing_is_read_twice_under_other_names() {
    let mut logs = Logs::of(&["a*"], &[("a", &line("2")), ("a.1", &line("1"))]);
    let zstd = |text: &str| zstd::encode_all(text.as_bytes(), 1).unwrap();
    assert_eq!(logs.ids(), "1 2", "the oldest first");
    for (turn, id) in ["3", "4", "5"].into_iter().enumerate() {
        // the oldest is packed, the others move up
        let oldest = fs::read_to_string(logs.path("a.1")).unwrap();
        fs::write(logs.path(&format!("a.{}.zst", turn + 2)), zstd(&oldest)).unwrap();
        fs::remove_file(logs.path("a.1")).unwrap();
        logs.rename("a", "a.1");
        logs.append("a", &line(id));
        assert_eq!(logs.ids(), id);
    }
    assert_eq!(logs.wait(), "");
    assert_eq!(logs.followed.tails.len(), 2);
}

#[test]
fn packed_files_and_all_but_those_that_changed_last_are_read_once() {
    let dir = tempfile::tempdir().unwrap();
    let zstd = zstd::encode_all(line("0").as_bytes(), 1).unwrap();
    fs::write(dir.path().join("a.zst"), zstd).unwrap();
    for i in 1..MOST + 4 {
        let mut text = line(&i.to_string());
        text = text.replace("05:00:", &format!("{:02}:{:02}:", i / 60, i % 60));
        fs::write(dir.path().join(format!("a.{i}")), text).unwrap();
    }
    let followed = Followed::of(vec![dir.path().join("a*")]).unwrap();
    let mut logs = Logs {
        dir,
        followed,
        problems: Vec::new(),
    };
    let all = logs.ids();
    let mut ids: Vec<usize> = all.split(' ').map(|id| id.parse().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..MOST + 4).collect::<Vec<_>>());
    assert_eq!(logs.followed.tails.len(), MOST);
    assert_eq!(logs.followed.logs().len(), MOST + 4);
    assert_eq!(logs.wait(), "");
    logs.append("a.new", &line("7"));
    assert_eq!(logs.ids(), "7");
    assert_eq!(logs.followed.tails.len(), MOST);
    assert!(logs.followed.troubles().is_empty());
    logs.append("a.1", &line("8"));
    logs.ids();
    let troubles = logs.followed.troubles();
    assert!(
        troubles[0].contains("a.1 grows and is not followed"),
        "{troubles:?}"
    );
}

#[test]
fn what_cannot_be_followed_is_told() {
    let zstd = |id| zstd::encode_all(line(id).as_bytes(), 1).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = (dir.path().join("a.1"), dir.path().join("a.2"));
    fs::write(&first, zstd("2")).unwrap();
    fs::write(&second, zstd("1")).unwrap();
    let mut followed = Followed::of(vec![dir.path().join("*")]).unwrap();
    fs::rename(&first, &second).unwrap();
    let error = followed.piece().unwrap_err().to_string();
    assert!(error.contains("a.2 was rotated"), "{error}");
    let dir = tempfile::tempdir().unwrap();
    let error = Followed::of(vec![dir.path().to_owned()])
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("is no file that can be followed"), "{error}");
}
