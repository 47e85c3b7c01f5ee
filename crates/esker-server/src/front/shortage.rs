//! What is said where the machine gives no connection.

use std::io;

use rustix::io::Errno;

/// The words of an error of sockets, with the way out where descriptors are what is missing: the
/// system's own words, "Too many open files", name none.
pub(crate) fn words(error: &io::Error) -> String {
    let is = |errno: Errno| error.raw_os_error() == Some(errno.raw_os_error());
    if is(Errno::MFILE) {
        return format!("{error}: let the process have more (ulimit -n), and start it again");
    }
    if is(Errno::NFILE) {
        return format!("{error}: the machine has no more of them for any program");
    }
    error.to_string()
}

#[cfg(test)]
mod tests;
