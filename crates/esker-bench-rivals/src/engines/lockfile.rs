//! Which versions of other crates this program was built with.

/// The version of a crate as our own lock file has it.
pub fn locked_version(name: &str) -> String {
    let lock = include_str!("../../Cargo.lock");
    let heading = format!("name = \"{name}\"\nversion = \"");
    let found = lock.split_once(&heading).map(|(_, rest)| rest);
    let version = found.and_then(|rest| rest.split('"').next());
    version.unwrap_or("unknown").to_owned()
}
