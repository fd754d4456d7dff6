//! Whether anybody still reads what is printed: after `… | head` there may be nothing to print for hours, and a pipe tells
//! only who writes to it.

use std::future::pending;
use std::io;
use std::os::fd::AsFd;

use tokio::io::Interest;
use tokio::net::unix::pipe::Sender;

/// Ready once nobody reads standard output any more; never where it is a file.
pub async fn gone() {
    // it is only asked, never written to, so it may stay one that waits
    let output = io::stdout()
        .as_fd()
        .try_clone_to_owned()
        .and_then(Sender::from_owned_fd_unchecked);
    if let Ok(output) = output
        && let Ok(ready) = output.ready(Interest::ERROR).await
        && ready.is_error()
    {
        return;
    }
    // a file has nobody who reads it, and cannot be asked
    pending().await
}
