//! The name of this machine, the default for `--instance`.

use std::process::Command;

/// The host name: as Linux tells it, else as POSIX `uname -n` does, else `unknown`.
pub(super) fn name() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .ok()
        .or_else(|| String::from_utf8(Command::new("uname").arg("-n").output().ok()?.stdout).ok())
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "unknown".to_owned())
}
