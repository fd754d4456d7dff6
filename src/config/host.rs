//! The name of this machine, the default for `--instance`.

/// The host name as uname(2) tells it, else `unknown`.
pub(super) fn name() -> String {
    let uname = rustix::system::uname();
    let name = uname.nodename().to_string_lossy();
    match name.is_empty() {
        true => "unknown".to_owned(),
        false => name.into_owned(),
    }
}
