//! A server of one engine: a process with a directory and a socket of its own, and no port.

use std::fs::{self, OpenOptions};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use esker_bench::fail::{Failure, Outcome};
use esker_bench::measure::neighbour::{Used, memory_of, used_by};
use esker_bench::scenario::suite::fence::Fence;
use esker_bench::scenario::suite::sql::contender::Contender;

use crate::compare::reviews_sql::session::{connect_bare, run, told};

/// The server's program, and the one that makes its directory.
const PROGRAM: &str = "mariadbd";
const INSTALLER: &str = "mariadb-install-db";

/// How long a server may take to begin, which includes its recovery, and to end, which includes
/// writing down what it has in memory.
const START_MAX: Duration = Duration::from_secs(120);
const STOP_MAX: Duration = Duration::from_secs(600);

/// How often it is looked whether it takes connections.
const LOOK: Duration = Duration::from_millis(100);

/// Lines of its log that are told where it fails.
const LOG_LINES: usize = 8;

/// How a server is started.
pub struct Start<'a> {
    /// Its engine.
    pub contender: Contender,
    /// Its directory.
    pub files: &'a Path,
    /// Where the plugin lies, and the libraries that it needs; `None` where there is none.
    pub plugins: Option<&'a Path>,
    /// What it is told besides.
    pub options: &'a [String],
    /// The bytes of a control group around it.
    pub group_bytes: Option<u64>,
}

/// A server that runs. Dropping it ends it at once.
pub struct Server {
    process: Child,
    /// Its output, which nobody writes to: the end of it is that of the server.
    ends: Receiver<()>,
    log: PathBuf,
    /// Where it takes connections.
    pub socket: PathBuf,
    /// The control group, which is removed behind the process.
    _fence: Option<Fence>,
}

/// The version of the program; `None` if it is not there.
pub fn version() -> Option<String> {
    let told = Command::new(PROGRAM).arg("--version").output().ok()?;
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let behind = told.split_once("Ver ")?.1;
    Some(behind.split('-').next()?.to_owned())
}

/// The place for a server's temporary files: one that starts deletes those of all that share it.
fn temporary(files: &Path) -> PathBuf {
    files.with_extension("tmp")
}

/// Removes a server's files, where there are any.
pub fn remove_files(files: &Path) -> Outcome {
    for place in [files, &temporary(files)] {
        if place.exists() {
            fs::remove_dir_all(place)
                .map_err(|error| Failure::system("cannot remove servers' files", &error))?;
        }
    }
    Ok(())
}

/// Makes an empty directory for a server, instead of what is there.
pub fn make_files(files: &Path) -> Outcome {
    let failed = |error| Failure::system(format!("cannot make {}", files.display()), &error);
    remove_files(files)?;
    let temporary = temporary(files);
    fs::create_dir_all(files).map_err(failed)?;
    fs::create_dir_all(&temporary).map_err(failed)?;
    let mut command = Command::new(INSTALLER);
    command.args(["--no-defaults", "--skip-test-db"]);
    command.arg("--auth-root-authentication-method=normal");
    command.args(as_root()).arg(option("--datadir", files));
    command.env("TMPDIR", &temporary);
    let output = command.stdin(Stdio::null()).output();
    let output =
        output.map_err(|error| Failure::system(format!("cannot run {INSTALLER}"), &error))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(Failure::failed(format!(
            "{INSTALLER} could not make {}: {}",
            files.display(),
            String::from_utf8_lossy(&output.stderr).trim()
        ))),
    }
}

/// The server refuses to run as root unless that is said.
fn as_root() -> Option<&'static str> {
    let is_root = std::os::unix::fs::MetadataExt::uid(&fs::metadata("/proc/self").ok()?) == 0;
    is_root.then_some("--user=root")
}

fn option(name: &str, path: &Path) -> String {
    format!("{name}={}", path.display())
}

impl Server {
    /// Starts a server, and waits until it takes connections.
    ///
    /// Errors: with the end of its log, where it does not.
    pub fn start(start: &Start<'_>) -> Outcome<Server> {
        let word = start.contender.word();
        let log = start.files.join("server.log");
        // The system allows a hundred bytes for it, which a directory may exceed.
        let socket = format!("esker-sql-{}-{word}", std::process::id());
        let socket = std::env::temp_dir().join(socket);
        let mut command = Command::new(PROGRAM);
        command.arg("--no-defaults").args(as_root());
        command.args([
            option("--datadir", start.files),
            option("--tmpdir", &temporary(start.files)),
            option("--socket", &socket),
            option("--pid-file", &socket) + ".pid",
        ]);
        if let (Some(plugin), Some(plugins)) = (start.contender.plugin(), start.plugins) {
            command.arg(option("--plugin-dir", plugins));
            command.arg(format!("--plugin-load-add={plugin}"));
            command.env("LD_LIBRARY_PATH", plugins);
        }
        command.args(start.options);
        let failed = |error| Failure::system(format!("cannot run {PROGRAM}"), &error);
        // Told to write a log by itself, it would close its output, whose end is looked for.
        let written = OpenOptions::new().create(true).append(true).open(&log);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(written.map_err(failed)?);
        let mut process = command.spawn().map_err(failed)?;
        let group = start
            .group_bytes
            .map(|bytes| Fence::around(process.id(), bytes));
        let (sender, ends) = channel();
        let output = process.stdout.take();
        std::thread::spawn(move || {
            // What it says there is of no interest, and nobody may listen any more.
            let _ = output.map(|mut output| output.read_to_end(&mut Vec::new()));
            drop(sender);
        });
        let mut server = Server {
            process,
            ends,
            log,
            socket,
            _fence: None,
        };
        server._fence = group.transpose()?;
        server.wait_until_ready()?;
        Ok(server)
    }

    fn wait_until_ready(&self) -> Outcome {
        let deadline = Instant::now() + START_MAX;
        while connect_bare(&self.socket).is_err() {
            if self.ends.recv_timeout(LOOK) == Err(RecvTimeoutError::Disconnected) {
                return Err(self.failed("ended while it started"));
            }
            if Instant::now() >= deadline {
                return Err(self.failed("takes no connections"));
            }
        }
        Ok(())
    }

    fn failed(&self, what: &str) -> Failure {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let last = lines[lines.len().saturating_sub(LOG_LINES)..].join("\n  ");
        Failure::failed(format!(
            "the server {what}; its log, {}, ends with\n  {last}",
            self.log.display()
        ))
    }

    /// A failure of the server's, with the end of its log where it has ended.
    pub fn explain(&self, failure: Failure) -> Failure {
        match self.ends.recv_timeout(LOOK) {
            Err(RecvTimeoutError::Disconnected) => {
                self.failed(&format!("has ended ({})", failure.message))
            }
            _ => failure,
        }
    }

    /// What it used so far.
    pub fn used(&self) -> Used {
        used_by(self.process.id())
    }

    /// Bytes of memory that it holds.
    pub fn memory(&self) -> u64 {
        memory_of(self.process.id())
    }

    /// Ends it as a user does, and waits until everything is written down.
    pub fn stop(mut self) -> Outcome {
        run(&mut connect_bare(&self.socket).map_err(told)?, "SHUTDOWN")?;
        if self.ends.recv_timeout(STOP_MAX) != Err(RecvTimeoutError::Disconnected) {
            return Err(self.failed("does not stop"));
        }
        let ended = self.process.wait();
        let ended = ended.map_err(|error| Failure::system("cannot wait for the server", &error))?;
        match ended.success() {
            true => Ok(()),
            false => Err(self.failed("failed when it stopped")),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that has ended by itself is ended.
        let _ = self.process.kill();
        // As just said.
        let _ = self.process.wait();
    }
}
