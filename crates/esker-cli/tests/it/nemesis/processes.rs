//! Nodes as processes with addresses of their own, so that each can be hurt by itself.

use std::io::{BufRead, BufReader};
use std::net::SocketAddrV4;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use esker_rpc::client::{Client, ClientSettings};
use tempfile::TempDir;

/// Longest that anything takes on a busy machine.
pub const SOON: Duration = Duration::from_secs(120);

/// How every node is set, unless a test says more.
const LITTLE: [&str; 2] = ["memory_limit=16MiB", "log_segment=1MiB"];

/// Where nodes are.
pub struct Place {
    /// Node N is at 127.x.y.N.
    pub net: [u8; 2],
    /// What runs a command where a node is: nothing, or a program that enters its namespace.
    pub enter: Box<dyn Fn(usize) -> Vec<String> + Send>,
}

impl Place {
    /// Beside the test. Tests of this process and of others have networks of their own.
    pub fn here() -> Place {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let drawn = std::process::id() * 8 + STARTED.fetch_add(1, Ordering::SeqCst);
        let [low, high, ..] = drawn.to_le_bytes();
        Place {
            net: [64 | high & 63, low],
            enter: Box::new(|_| Vec::new()),
        }
    }
}

/// A cluster that ends with the test.
pub struct Processes {
    dir: TempDir,
    place: Place,
    settings: Vec<String>,
    children: Vec<Option<Child>>,
}

impl Processes {
    /// Starts so many nodes, one after the other.
    pub fn start(count: usize, settings: &[&str], place: Place) -> Processes {
        let mut processes = Processes {
            dir: tempfile::tempdir().unwrap(),
            place,
            settings: LITTLE
                .iter()
                .chain(settings)
                .map(|&it| it.to_owned())
                .collect(),
            children: (0..count).map(|_| None).collect(),
        };
        (1..=count).for_each(|node| processes.begin(node));
        processes
    }

    pub fn count(&self) -> usize {
        self.children.len()
    }

    fn address(&self, node: usize, port: u16) -> SocketAddrV4 {
        let [x, y] = self.place.net;
        let node = u8::try_from(node).unwrap();
        SocketAddrV4::new([127, x, y, node].into(), port)
    }

    /// Where a node answers for data.
    pub fn data(&self, node: usize) -> SocketAddrV4 {
        self.address(node, 34801)
    }

    /// The number of the node whose door for data that is.
    pub fn node_at(&self, data: SocketAddrV4) -> Option<usize> {
        (1..=self.count()).find(|node| self.data(*node) == data)
    }

    /// A client, whose connections live in the runtime that it is asked in.
    pub fn client(&self, timeout: Duration) -> Client {
        let metas = (1..=self.count()).map(|node| self.address(node, 34601));
        let mut settings = ClientSettings::default();
        settings.call.timeout = timeout;
        Client::new(metas.collect(), settings)
    }

    /// Starts a node, and returns when it serves.
    pub fn begin(&mut self, node: usize) {
        let name = format!("node{node}");
        let log = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.dir.path().join(format!("{name}.log")))
            .unwrap();
        let enter = (self.place.enter)(node);
        // A long run may be of a tool that is built otherwise, and not built anew meanwhile.
        let named = std::env::var("ESKER_TOOL").ok();
        let tool = named.unwrap_or_else(|| env!("CARGO_BIN_EXE_esker").to_owned());
        let words: Vec<String> = enter.into_iter().chain([tool]).collect();
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .args(["serve", "--json", "--dir", &name]);
        let doors = [("meta", 34601), ("data", 34801), ("peer", 34701)];
        for (door, port) in doors {
            let told = format!("{door}_address={}", self.address(node, port));
            command.args(["--set", &told]);
        }
        if node > 1 {
            command.args(["--join", &self.address(1, 34701).to_string()]);
        }
        for setting in &self.settings {
            command.args(["--set", setting]);
        }
        command.current_dir(self.dir.path()).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let out = child.stdout.take().unwrap();
        self.children[node - 1] = Some(child);
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line).unwrap();
        assert!(
            line.starts_with('{'),
            "node {node} does not serve: {line}{}",
            self.log(node)
        );
    }

    /// What a node said.
    pub fn log(&self, node: usize) -> String {
        let path = self.dir.path().join(format!("node{node}.log"));
        std::fs::read_to_string(path).unwrap_or_default()
    }

    /// A crash of the process: what the kernel has it keeps.
    pub fn kill(&mut self, node: usize) {
        if let Some(mut child) = self.children[node - 1].take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    pub fn freeze(&self, node: usize) {
        self.signal(node, "-STOP");
    }

    pub fn thaw(&self, node: usize) {
        self.signal(node, "-CONT");
    }

    fn signal(&self, node: usize, name: &str) {
        if let Some(child) = &self.children[node - 1] {
            let sent = Command::new("kill")
                .args([name, &child.id().to_string()])
                .status();
            assert!(sent.unwrap().success());
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for node in 1..=self.count() {
            if std::thread::panicking() {
                eprintln!("node {node}:\n{}", self.log(node));
            }
            if let Some(mut child) = self.children[node - 1].take() {
                // It may have ended by itself; here and below.
                let _ = child.kill();
                // As above.
                let _ = child.wait();
            }
        }
    }
}
