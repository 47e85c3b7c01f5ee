//! An installation of the library that was built for these tests, and compilers that use it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use tempfile::TempDir;

/// A directory with `lib`, `include` and room for programs.
pub struct Installed {
    dir: TempDir,
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

    /// Runs `scripts/install.sh`, below `destdir`.
    pub fn script(&self, what: &str, destdir: &str) -> Output {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        Command::new(root.join("scripts/install.sh"))
            .arg(what)
            .env("PREFIX", self.prefix())
            .env("DESTDIR", destdir)
            .env("LIBRARY", library())
            .env_remove("LIBDIR")
            .env_remove("INCLUDEDIR")
            .output()
            .unwrap()
    }

    /// Compiles a file, of tests/c unless its path is whole, with every warning an error; gives
    /// the program.
    pub fn compile(&self, compiler: &str, dialect: &str, source: &str) -> PathBuf {
        let strict = ["-Wall", "-Wextra", "-pedantic", "-Werror"];
        self.compile_with(compiler, dialect, source, &strict)
    }

    /// Compiles a file of tests/c with `flags`; gives the program.
    pub fn compile_with(
        &self,
        compiler: &str,
        dialect: &str,
        source: &str,
        flags: &[&str],
    ) -> PathBuf {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c");
        let source = sources.join(source);
        let name = source.file_stem().unwrap().to_str().unwrap();
        let program = self.prefix().join(format!("{name}-{compiler}-{dialect}"));
        let language = if is_cxx(dialect) { "c++" } else { "c" };
        let made = Command::new(compiler)
            .args(["-x", language, &format!("-std={dialect}")])
            .args(flags)
            .args(extra_flags())
            .arg(&source)
            .arg("-I")
            .arg(self.prefix().join("include"))
            .arg("-L")
            .arg(self.prefix().join("lib"))
            .args(["-lkvs", "-lpthread", "-o"])
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
    pub fn run(&self, program: &Path, variables: &[(&str, &str)]) -> String {
        let place = tempfile::tempdir_in(self.prefix()).unwrap();
        let ran = Command::new(program)
            .current_dir(place.path())
            .env("LD_LIBRARY_PATH", self.prefix().join("lib"))
            .env_remove("KVS_STRICT")
            .envs(variables.iter().copied())
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

/// Whether that is a dialect of C++.
fn is_cxx(dialect: &str) -> bool {
    dialect.contains("++")
}

/// The library of the same build as this test: it lies beside it.
fn library() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let path = own.with_file_name("libkvs.so");
    assert!(path.is_file(), "{} is not there", path.display());
    path
}

/// What a command said.
pub fn text(output: &Output) -> String {
    let told = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&told).into_owned()
}
