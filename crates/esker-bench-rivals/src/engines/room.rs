//! The directory of one engine's store: removed as a whole, measured as a whole.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use esker_bench::fail::{Failure, Outcome};

/// How long a drain waits before it looks again; short against what it waits for.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Looks in a row that must find nothing to do: between two jobs the books are empty for a moment.
const QUIET_LOOKS: u32 = 5;

/// Where in `dir` a rival keeps its store: a folder of its own, so that removing it removes
/// nothing else.
pub fn room(dir: &Path, name: &str) -> PathBuf {
    dir.join(name)
}

/// Makes the folder.
pub fn make(room: &Path) -> Outcome {
    let told = |error| Failure::system(format!("cannot make {}", room.display()), &error);
    fs::create_dir_all(room).map_err(told)
}

/// Removes the folder; nothing to remove is fine.
pub fn clear(room: &Path) -> Outcome {
    match fs::remove_dir_all(room) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            let doing = format!("cannot remove {}", room.display());
            Err(Failure::system(doing, &error))
        }
        _ => Ok(()),
    }
}

/// Returns when `is_busy` said no several times in a row. For engines that cannot be waited for.
pub fn wait_until_quiet(mut is_busy: impl FnMut() -> Outcome<bool>) -> Outcome {
    let mut quiet_looks = 0;
    while quiet_looks < QUIET_LOOKS {
        quiet_looks = if is_busy()? { 0 } else { quiet_looks + 1 };
        std::thread::park_timeout(LOOK_AGAIN);
    }
    Ok(())
}
