//! What `make install` puts where, and takes away again.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tool::Bench;

#[test]
fn the_tool_is_installed_with_manual_and_completions() {
    // Below a prefix with a built tool from anywhere: the program runs, is smaller than it was
    // built, and nothing is left behind when it is taken away.
    let bench = Bench::new();
    let prefix = bench.path("prefix");
    let script = |what: &str| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let output = Command::new(root.join("scripts/install.sh"))
            .arg(what)
            .env("PREFIX", &prefix)
            .env("TOOL", env!("CARGO_BIN_EXE_esker"))
            .env("LIBRARY", bench.file("libkvs.so", "a library"))
            .env_remove("LIBDIR")
            .env_remove("INCLUDEDIR")
            .env_remove("BINDIR")
            .env_remove("DATADIR")
            .env_remove("DESTDIR")
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    script("install");
    let tool = prefix.join("bin/esker");
    let ran = Command::new(&tool).arg("--version").output().unwrap();
    assert!(ran.status.success());
    let size = |path: &Path| std::fs::metadata(path).unwrap().len();
    assert!(size(&tool) < size(Path::new(env!("CARGO_BIN_EXE_esker"))));
    for name in [
        "man/man1/esker.1",
        "man/man1/esker-get.1",
        "bash-completion/completions/esker",
        "zsh/site-functions/_esker",
        "fish/vendor_completions.d/esker.fish",
    ] {
        let path = prefix.join("share").join(name);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("esker"), "{name}");
    }
    script("uninstall");
    assert_eq!(files_below(&prefix), Vec::<PathBuf>::new());
}

fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files_below(&path)),
            false => found.push(path),
        }
    }
    found
}
