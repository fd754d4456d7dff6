//! The architecture, checked: each room imports only from the rooms before it, pingora appears in `relay`
//! alone, and the measuring path does no IO and reads no clock.

use std::fs;
use std::path::{Path, PathBuf};

/// The rooms, and what each may import besides itself.
const ROOMS: [(&str, &[&str]); 7] = [
    ("observe", &[]),
    ("config", &[]),
    ("relay", &["observe", "config"]),
    ("sink", &["observe"]),
    ("live", &["observe", "config", "relay", "sink"]),
    ("cli", &["config"]),
    (
        "tools",
        &["observe", "config", "relay", "sink", "live", "cli"],
    ),
];

/// What must not be named in `observe`.
const IMPURE: [&str; 7] = [
    "tokio",
    "pingora",
    "std::io",
    "std::fs",
    "std::net",
    "Instant",
    "SystemTime",
];

#[test]
fn each_room_imports_only_from_the_rooms_before_it() {
    for (room, may_import) in ROOMS {
        for (place, line) in lines_of(room) {
            for part in line.split("crate::").skip(1) {
                let other = part
                    .split(|c: char| !c.is_alphanumeric() && c != '_')
                    .next()
                    .unwrap_or_default();
                let known = ROOMS.iter().any(|(name, _)| *name == other);
                assert!(
                    !known || other == room || may_import.contains(&other),
                    "{place}: {room} imports {other}"
                );
            }
        }
    }
}

#[test]
fn pingora_appears_in_the_relay_alone() {
    for (room, _) in ROOMS.iter().filter(|(room, _)| *room != "relay") {
        for (place, line) in lines_of(room) {
            assert!(!line.contains("pingora_"), "{place}: {line}");
        }
    }
}

#[test]
fn the_measuring_path_is_pure() {
    for (place, line) in lines_of("observe") {
        for word in IMPURE {
            assert!(!line.contains(word), "{place}: {line}");
        }
    }
}

/// Every line of code of a room with its place; comments and unit tests are left out.
fn lines_of(room: &str) -> Vec<(String, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = vec![src.join(format!("{room}.rs"))];
    collect(&src.join(room), &mut files);
    let mut lines = Vec::new();
    for file in files {
        let text =
            fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in code
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
        {
            lines.push((
                format!("{}:{}", file.display(), number + 1),
                line.to_owned(),
            ));
        }
    }
    assert!(lines.len() > 20, "{room} was not read");
    lines
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for path in entries.map(|entry| entry.expect("a readable folder").path()) {
        if path.file_stem().is_some_and(|stem| stem == "tests") {
            continue;
        }
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}
