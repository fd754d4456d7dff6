//! The help of each command, whole: what a newcomer reads first. After a change:
//! `INSTA_UPDATE=always cargo test --test cli`.

use std::process::Command;

/// Help as it is printed where no terminal tells a width.
fn help(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_dripline"))
        .args(args)
        .env_remove("COLUMNS")
        .output()
        .unwrap();
    assert!(output.status.success() && output.stderr.is_empty());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn help_of_the_program() {
    insta::assert_snapshot!("dripline", help(&["--help"]));
}

#[test]
fn help_of_each_command() {
    for command in [
        "proxy", "simulate", "demo", "probe", "report", "compare", "hops",
    ] {
        insta::assert_snapshot!(command, help(&[command, "--help"]));
    }
}

#[test]
fn version_is_the_packages() {
    assert_eq!(
        help(&["--version"]),
        format!("dripline {}\n", env!("CARGO_PKG_VERSION"))
    );
}
