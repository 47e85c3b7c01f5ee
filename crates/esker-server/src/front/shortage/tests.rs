//! The way out is told of what has one.

use std::io;

use rustix::io::Errno;

use super::*;

#[test]
fn a_lack_of_descriptors_names_the_limit() {
    // Whoever reads "Too many open files" closes files, and there are none that he has open.
    let of = |errno: Errno| words(&io::Error::from_raw_os_error(errno.raw_os_error()));
    assert!(of(Errno::MFILE).contains("ulimit -n"));
    assert!(of(Errno::NFILE).contains("the machine"));
    let refused = of(Errno::CONNREFUSED);
    assert!(!refused.contains("ulimit"), "{refused}");
    assert_eq!(words(&io::Error::other("so it is")), "so it is");
}
