//! Settings as a user meets them: the shipped files, the layers, and what mistakes are told.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use dripline::config::{self, Settings};

fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("config")
        .join(name)
}

/// Runs `dripline proxy` with settings that it must refuse.
fn refused(args: &[&str], variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dripline"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("DRIPLINE_") {
            command.env_remove(name);
        }
    }
    let Output {
        status,
        stdout,
        stderr,
    } = command
        .arg("proxy")
        .args(args)
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let stderr = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(2), "{stderr}");
    assert!(stdout.is_empty(), "errors go to standard error");
    stderr
}

#[test]
fn the_example_file_is_current() {
    let path = shipped("example.toml");
    let example = config::example();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &example).unwrap();
    }
    let shipped = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        shipped == example,
        "config/example.toml is out of date: UPDATE=1 cargo test --test config"
    );
}

#[test]
fn the_minimal_file_is_enough() {
    let settings = Settings {
        config: Some(shipped("minimal.toml")),
        ..Settings::default()
    };
    assert_eq!(
        config::load(settings).unwrap().upstream.to_string(),
        "http://127.0.0.1:8000"
    );
}

#[test]
fn without_an_upstream_it_shows_what_to_type() {
    assert!(refused(&[], &[]).contains("dripline proxy --upstream http://127.0.0.1:8000"));
    let example = shipped("example.toml");
    assert!(refused(&["--config", example.to_str().unwrap()], &[]).contains("no upstream"));
}

#[test]
fn a_flag_wins_over_a_variable_and_that_over_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("d.toml");
    std::fs::write(
        &file,
        "upstream = 'https://h'\nupstream-ca = '/from-file.pem'",
    )
    .unwrap();
    let file = file.to_str().unwrap();
    // Which of the layers holds is seen by the name of the missing file that is complained about.
    let by_file = refused(&["--config", file], &[]);
    let by_variable = refused(
        &[],
        &[
            ("DRIPLINE_CONFIG", file),
            ("DRIPLINE_UPSTREAM_CA", "/from-variable.pem"),
        ],
    );
    let by_flag = refused(
        &["--config", file, "--upstream-ca", "/from-flag.pem"],
        &[("DRIPLINE_UPSTREAM_CA", "/from-variable.pem")],
    );
    assert!(
        by_file.contains("/from-file.pem: cannot be read"),
        "{by_file}"
    );
    assert!(
        by_variable.contains("/from-variable.pem: cannot be read"),
        "{by_variable}"
    );
    assert!(
        by_flag.contains("/from-flag.pem: cannot be read"),
        "{by_flag}"
    );
}

#[test]
fn a_mistake_names_the_variable_it_came_from() {
    let error = refused(&[], &[("DRIPLINE_POOL_IDLE", "4")]);
    assert!(
        error.starts_with(
            "error: environment variable DRIPLINE_POOL_IDLE: '4' has no unit; write 4s"
        ),
        "{error}"
    );
    let error = refused(&["--log-level", "debug"], &[("DRIPLINE_LOG", "")]);
    assert!(error.contains("DRIPLINE_LOG: the name is empty"), "{error}");
    let error = refused(&[], &[("DRIPLINE_QUIET", "maybe")]);
    assert!(
        error.contains("DRIPLINE_QUIET: 'maybe' is neither; write true or false"),
        "{error}"
    );
}

#[test]
fn no_key_in_a_setting_is_repeated() {
    let planted = "https://user:sk-planted@h/v1?key=sk-planted";
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("d.toml");
    std::fs::write(&file, format!("upstream = '{planted}'")).unwrap();
    for error in [
        refused(&["--upstream", planted], &[]),
        refused(&[planted], &[]),
        refused(&[], &[("DRIPLINE_UPSTREAM", planted)]),
        refused(&["--config", file.to_str().unwrap()], &[]),
    ] {
        assert!(!error.contains("sk-planted"), "{error}");
        assert!(error.contains("http://127.0.0.1:8000"), "{error}");
    }
}
