//! An installation of the library that was built for these tests, and compilers that use it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use tempfile::TempDir;

/// A directory with `lib`, `include` and room for programs.
pub struct Installed {
    dir: TempDir,
}

/// Which of the two libraries a program is made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linked {
    /// `libesker.so`.
    Shared,
    /// `libesker.a`, with what watches memory and undefined behaviour in the program.
    Watched,
}

/// The one installation of all tests: made once, kept until the process ends.
pub fn installed() -> &'static Installed {
    static ONE: OnceLock<Installed> = OnceLock::new();
    ONE.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let installed = Installed { dir };
        let told = installed.script("install", "");
        assert!(told.status.success(), "{}", text(&told));
        installed
    })
}

impl Installed {
    /// Where it is.
    pub fn prefix(&self) -> &Path {
        self.dir.path()
    }

    /// The header, as it was installed.
    pub fn header(&self) -> String {
        fs::read_to_string(self.prefix().join("include/esker/c.h")).unwrap()
    }

    /// The header without its comments.
    pub fn declarations(&self) -> String {
        let header = self.header();
        let mut parts = header.split("/*");
        let mut code = parts.next().unwrap().to_owned();
        code.extend(parts.filter_map(|part| part.split_once("*/").map(|(_, code)| code)));
        code
    }

    /// Runs `scripts/libesker.sh`, below `destdir`.
    pub fn script(&self, what: &str, destdir: &str) -> Output {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        Command::new(root.join("scripts/libesker.sh"))
            .arg(what)
            .env("PREFIX", self.prefix())
            .env("DESTDIR", destdir)
            .env("ARCHIVE", archive())
            .env_remove("LIBDIR")
            .env_remove("INCLUDEDIR")
            .output()
            .unwrap()
    }

    /// Compiles a file, of tests/c unless its path is whole, with every warning an error; gives
    /// the program.
    pub fn compile(&self, compiler: &str, dialect: &str, source: &str, linked: Linked) -> PathBuf {
        let source = sources().join(source);
        let name = source.file_stem().unwrap().to_str().unwrap();
        let program = self
            .prefix()
            .join(format!("{name}-{compiler}-{dialect}-{linked:?}"));
        let language = if dialect.contains("++") { "c++" } else { "c" };
        let mut command = Command::new(compiler);
        command
            .args(["-x", language, &format!("-std={dialect}")])
            .args(extra_flags())
            .args(["-g", "-Wall", "-Wextra", "-pedantic", "-Werror"])
            .arg(&source)
            .args(["-x", "none", "-I"])
            .arg(self.prefix().join("include"));
        match linked {
            Linked::Shared => command
                .arg("-L")
                .arg(self.prefix().join("lib"))
                .arg("-lesker"),
            Linked::Watched => command
                .args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"])
                .arg(self.prefix().join("lib/libesker.a")),
        };
        let made = command
            .args(["-lpthread", "-lm", "-ldl", "-o"])
            .arg(&program)
            .output();
        let made = made.unwrap_or_else(|error| {
            panic!(
                "{compiler} cannot be started ({error}); these tests compile C programs: \
                 apt-get install build-essential, or the package that holds {compiler}"
            )
        });
        assert!(
            made.status.success(),
            "{}: {}",
            source.display(),
            text(&made)
        );
        program
    }

    /// Runs a program in a directory of its own, which is gone afterwards; gives its output.
    pub fn run(&self, program: &Path) -> String {
        let place = tempfile::tempdir_in(self.prefix()).unwrap();
        let ran = Command::new(program)
            .current_dir(place.path())
            .env("LD_LIBRARY_PATH", self.prefix().join("lib"))
            .output()
            .unwrap();
        assert!(
            ran.status.success(),
            "{}: {}",
            program.display(),
            text(&ran)
        );
        String::from_utf8(ran.stdout).unwrap()
    }
}

/// Flags for every program, from the environment: `scripts/sanitize.sh` has them watched.
fn extra_flags() -> Vec<String> {
    let flags = std::env::var("ESKER_CC_FLAGS").unwrap_or_default();
    flags.split_whitespace().map(str::to_owned).collect()
}

/// Where the programs are.
pub fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c")
}

/// The archive of the same build as this test: it lies beside it, and is the newest of those that
/// other features made.
fn archive() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let beside = fs::read_dir(own.parent().unwrap()).unwrap();
    let paths = beside.map(|entry| entry.unwrap().path());
    let is_archive = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("libesker_c-") && name.ends_with(".a")
    };
    let archives = paths.filter(is_archive);
    archives
        .max_by_key(|path| fs::metadata(path).unwrap().modified().unwrap())
        .expect("cargo builds the archive before the tests")
}

/// What a command said.
pub fn text(output: &Output) -> String {
    let told = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&told).into_owned()
}
