//! Writes what each fuzz target starts from into files: `esker-fuzz FOLDER` makes FOLDER/TARGET/….
#![allow(clippy::disallowed_methods, reason = "the fuzzer reads files")]

use std::io;
use std::path::PathBuf;

use esker_fuzz::{TARGETS, starts};

fn main() -> io::Result<()> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.ok_or_else(|| io::Error::other("say into which folder"))?;
    for (name, _) in TARGETS {
        let folder = folder.join(name);
        std::fs::create_dir_all(&folder)?;
        for (index, bytes) in starts::of(name).into_iter().enumerate() {
            std::fs::write(folder.join(format!("start-{index}")), bytes)?;
        }
    }
    Ok(())
}
