//! The run: every engine is loaded, then each line on each of them in turns, then what came of it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use esker_bench::console::Console;
use esker_bench::disk::forget::forget;
use esker_bench::disk::space::{check_room, disk_bytes};
use esker_bench::fail::{Failure, Outcome};
use esker_bench::report::record::Record;
use esker_bench::report::{entry, file, json};
use esker_bench::run::course::Course;
use esker_bench::run::lane::Lane;
use esker_bench::scenario::suite::fence::Fence;
use esker_bench::scenario::suite::review_load::Keys;
use esker_bench::scenario::suite::review_source::Reviews;
use esker_bench::scenario::suite::sql::board::{
    PUBLISHED, board, judge, reads_table, written_table,
};
use esker_bench::scenario::suite::sql::contender::{Contender, Durability};
use esker_bench::scenario::suite::sql::plan::{
    self, CHOICES, COMMIT, COMMIT_BINLOG, CONNECTIONS, DISK_SHARE, INDEXED_INSERT, INDEXED_UPDATE,
    INSERT, LOAD, Line, MIX, Memory, REST, SHARES, read_line, share_text,
};
use esker_bench::scenario::suite::sql::request::SqlRequest;
use esker_bench::scenario::suite::sql::told::plan_text;
use esker_bench::target::marker;

use crate::compare::reviews_sql::calls::{INSERTED, insert, read, texts};
use crate::compare::reviews_sql::desk::{Desk, Work};
use crate::compare::reviews_sql::indexed;
use crate::compare::reviews_sql::load::{
    Contents, Source, contents, load, make_table, make_tables,
};
use crate::compare::reviews_sql::mix;
use crate::compare::reviews_sql::rest::wait_for_rest;
use crate::compare::reviews_sql::server::{Server, Start, make_files, remove_files, version};
use crate::compare::reviews_sql::session::{connect, run as run_statement};

/// Runs what is asked for.
pub fn run(request: &SqlRequest, words: &[String], console: &mut Console<'_>) -> Outcome {
    for path in [&request.json, &request.html].into_iter().flatten() {
        file::check_writable(path)?;
    }
    let version = version().ok_or_else(|| {
        Failure::usage("there is no mariadbd on this machine; install it with: make mariadb")
    })?;
    let contenders = present(request, console)?;
    let wanted = plan::disk_bytes(request.size, contenders.len()) as f64 * request.scale;
    check_room(&request.dir, wanted as u64, request.size.smaller())?;
    if marker::is_foreign(&request.dir)? {
        return Err(Failure::usage(format!(
            "{} was not made by a benchmark and is not empty; name another directory with --dir",
            request.dir.display()
        )));
    }
    marker::make_ready(&request.dir)?;
    let dir = std::path::absolute(&request.dir);
    let player = Player {
        request,
        dir: dir.map_err(|error| Failure::system("cannot tell where that is", &error))?,
        has_groups: has_groups(request, console)?,
        contenders,
    };
    let mut desk = Desk {
        record: Record::begin("scenario reviews-sql", &request.dir, words),
        console,
        version,
        size: request.size,
        round: 0,
    };
    let played = player.play(&mut desk);
    player.clear()?;
    played?;
    tell(request, &player.contenders, desk)
}

/// The engines that can take part; of others it is said why not.
fn present(request: &SqlRequest, console: &Console<'_>) -> Outcome<Vec<Contender>> {
    let mut present = Vec::new();
    for contender in request.contenders() {
        let Some(plugin) = contender.plugin() else {
            present.push(contender);
            continue;
        };
        let path = plugins(request, contender).join(format!("{plugin}.so"));
        match (path.is_file(), contender) {
            (true, _) => present.push(contender),
            (false, Contender::Esker) => {
                let path = path.display();
                return Err(Failure::usage(format!(
                    "{path} is not there; make mariadb builds it"
                )));
            }
            (false, _) => console.err.line(&format!(
                "note: {} takes no part: {} is not there; scripts/mariadb.sh myrocks fetches it",
                contender.name(),
                path.display()
            ))?,
        }
    }
    Ok(present)
}

fn plugins(request: &SqlRequest, contender: Contender) -> &Path {
    match contender {
        Contender::Esker => &request.plugins,
        _ => &request.myrocks,
    }
}

/// Whether servers can be put into control groups, and are to be.
fn has_groups(request: &SqlRequest, console: &Console<'_>) -> Outcome<bool> {
    let why = match request.no_group {
        true => "as --no_group says".into(),
        // A fence that holds nothing in: whether one may be raised is all that is asked.
        false => match Fence::raise(i64::MAX as u64) {
            Ok(_) => return Ok(true),
            Err(failure) => failure.message,
        },
    };
    console.err.line(&format!(
        "note: memory is limited by the engines' settings alone, and the page cache is not: {why}"
    ))?;
    Ok(false)
}

/// The tables, the goals, the files.
fn tell(request: &SqlRequest, contenders: &[Contender], mut desk: Desk<'_, '_>) -> Outcome {
    let shown = board(&desk.record.measurements, contenders);
    let text = format!(
        "\n{}\n{CONNECTIONS} connections; memory as a share of raw; resident is what the server \
         held at the end.\n{}\n{PUBLISHED}",
        written_table(&shown),
        reads_table(&shown)
    );
    let verdicts = judge(&shown);
    desk.record.verdicts = verdicts;
    desk.say(&text)?;
    desk.say_verdicts()?;
    let (record, console) = (&desk.record, &desk.console.err);
    if let Some(path) = &request.json {
        json::write(path, record)?;
        console.line(&format!("written: {}", path.display()))?;
    }
    if let Some(path) = &request.html {
        entry::write_page(path, record)?;
        console.line(&format!("a page for the browser: {}", path.display()))?;
    }
    Ok(())
}

/// A time in a record.
fn seconds(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64())
}

/// What all lines share.
struct Player<'a> {
    request: &'a SqlRequest,
    dir: PathBuf,
    has_groups: bool,
    contenders: Vec<Contender>,
}

impl Player<'_> {
    fn play(&self, desk: &mut Desk<'_, '_>) -> Outcome {
        let keys = self.load_all(desk)?;
        for round in 0..self.request.rounds {
            desk.round = round;
            if self.request.wants(Line::Reads) {
                for share in SHARES {
                    for contender in self.order(round) {
                        self.reads(desk, contender, (share, &keys))?;
                    }
                }
            }
            for (line, name, durability) in [
                (Line::Inserts, INSERT, Durability::Buffered),
                (Line::Commits, COMMIT, Durability::Synced),
                (Line::Commits, COMMIT_BINLOG, Durability::SyncedWithBinlog),
            ] {
                for contender in self.order(round).filter(|_| self.request.wants(line)) {
                    self.inserts(desk, contender, (name, durability), keys.raw_bytes)?;
                }
            }
            for contender in self.order(round).filter(|_| self.request.wants(Line::Mix)) {
                self.mix(desk, contender, keys.raw_bytes)?;
            }
            for contender in self
                .order(round)
                .filter(|_| self.request.wants(Line::Indexed))
            {
                self.indexed(desk, contender)?;
            }
        }
        Ok(())
    }

    /// The engines in the order of a round: in each another one begins.
    fn order(&self, round: usize) -> impl Iterator<Item = Contender> {
        let count = self.contenders.len();
        (0..count).map(move |step| self.contenders[(step + round) % count])
    }

    fn files(&self, contender: Contender) -> PathBuf {
        self.dir.join(contender.word())
    }

    /// Removes the servers' files, unless they are to be kept.
    fn clear(&self) -> Outcome {
        for contender in &self.contenders {
            if !self.request.keeps_files {
                remove_files(&self.files(*contender))?;
            }
        }
        Ok(())
    }

    fn options(&self, contender: Contender, memory: Memory, durability: Durability) -> Vec<String> {
        let mut options = contender.options(memory.cache_bytes, durability);
        if contender == Contender::Esker {
            options.extend(self.request.own.iter().map(|own| format!("--{own}")));
        }
        options
    }

    fn start(&self, contender: Contender, memory: Memory, options: &[String]) -> Outcome<Server> {
        let plugins = std::path::absolute(plugins(self.request, contender));
        let plugins = plugins.map_err(|error| Failure::system("cannot tell where that is", &error));
        Server::start(&Start {
            contender,
            files: &self.files(contender),
            plugins: Some(&plugins?),
            options,
            group_bytes: memory.group_bytes.filter(|_| self.has_groups),
        })
    }

    /// How one line runs.
    fn course(&self) -> Course<'static> {
        let millis = plan::millis(self.request.size, self.request.scale);
        Course {
            threads: CONNECTIONS,
            duration: Some(Duration::from_millis(millis)),
            warm_up: Duration::from_millis(millis / 2),
            ..Course::plain()
        }
    }

    /// Loads every engine; the keys, which all have.
    fn load_all(&self, desk: &mut Desk<'_, '_>) -> Outcome<Keys> {
        let raw_bytes = plan::raw_bytes(self.request.size) as f64 * self.request.scale;
        let mut first: Option<(Keys, Contents)> = None;
        for contender in &self.contenders {
            let path = self.request.reviews.as_deref();
            let mut reviews = Reviews::open(path, raw_bytes as u64, 1.0)?;
            if first.is_none() {
                let plan = plan_text(&self.contenders, raw_bytes as u64);
                desk.say(&format!("{}\n{plan}", reviews.told()))?;
            }
            let (keys, found) = self.load(desk, *contender, &mut reviews)?;
            match &first {
                None => first = Some((keys, found)),
                Some((_, other)) if *other == found => {}
                Some((_, other)) => {
                    return Err(Failure::failed(format!(
                        "the engines disagree: {} has {found:?}, the first one {other:?}",
                        contender.name()
                    )));
                }
            }
        }
        let first = first.ok_or_else(|| Failure::usage("no engine takes part"))?;
        Ok(first.0)
    }

    fn load(
        &self,
        desk: &mut Desk<'_, '_>,
        contender: Contender,
        reviews: &mut Reviews,
    ) -> Outcome<(Keys, Contents)> {
        let files = self.files(contender);
        make_files(&files)?;
        let raw_bytes = plan::raw_bytes(self.request.size) as f64 * self.request.scale;
        let memory = plan::memory(None, raw_bytes as u64);
        let options = self.options(contender, memory, Durability::Buffered);
        let server = self.start(contender, memory, &options)?;
        let socket = &server.socket;
        make_tables(&server, contender)?;
        let source = Source::new(reviews);
        let course = Course {
            threads: CONNECTIONS,
            ..Course::plain()
        };
        let work = Work {
            contender,
            name: LOAD,
            kinds: &["write"],
            options: &options,
        };
        desk.measure(&server, &work, &course, &|lane: &mut Lane<'_>| {
            load(socket, &source, lane)
        })?;
        let keys = source.into_keys();
        let found = contents(&server).map_err(|failure| server.explain(failure))?;
        let mut connection = connect(socket)?;
        for statement in contender.settling() {
            run_statement(&mut connection, statement)?;
        }
        let rest = wait_for_rest(&server, contender, &desk.console.err)?;
        server.stop()?;
        let bytes = disk_bytes(&files.join(contender.files()))?;
        let share = bytes as f64 / (keys.raw_bytes.max(1)) as f64;
        desk.note_last([
            ("raw_bytes".into(), keys.raw_bytes.to_string()),
            ("rows".into(), found.rows.to_string()),
            ("disk_bytes".into(), bytes.to_string()),
            (DISK_SHARE.into(), format!("{share:.4}")),
            (REST.into(), seconds(rest)),
        ]);
        desk.tell_last()?;
        Ok((keys, found))
    }

    /// Reads at one limit by both choices, from a cold start.
    fn reads(
        &self,
        desk: &mut Desk<'_, '_>,
        contender: Contender,
        (share, keys): (Option<f64>, &Keys),
    ) -> Outcome {
        forget(&self.files(contender))?;
        let memory = plan::memory(share, keys.raw_bytes);
        let options = self.options(contender, memory, Durability::Buffered);
        let server = self.start(contender, memory, &options)?;
        let socket = &server.socket;
        let rest = wait_for_rest(&server, contender, &desk.console.err)?;
        for (choice, distribution) in CHOICES {
            let work = Work {
                contender,
                name: &read_line(choice, share),
                kinds: &["read"],
                options: &options,
            };
            let body = |lane: &mut Lane<'_>| read(socket, keys, distribution, lane);
            desk.measure(&server, &work, &self.course(), &body)?;
            let group = memory.group_bytes.filter(|_| self.has_groups);
            desk.note_last([
                ("distribution".into(), choice.to_owned()),
                ("memory".into(), share_text(share)),
                ("cache_bytes".into(), memory.cache_bytes.to_string()),
                (REST.into(), seconds(rest)),
                (
                    "group_bytes".into(),
                    group.map_or("none".into(), |bytes| bytes.to_string()),
                ),
            ]);
            desk.tell_last()?;
        }
        server.stop()
    }

    /// Rows one by one into a new table.
    fn inserts(
        &self,
        desk: &mut Desk<'_, '_>,
        contender: Contender,
        (name, durability): (&str, Durability),
        raw_bytes: u64,
    ) -> Outcome {
        let memory = plan::memory(None, raw_bytes);
        let options = self.options(contender, memory, durability);
        let server = self.start(contender, memory, &options)?;
        let socket = &server.socket;
        make_table(&server, contender, INSERTED)?;
        let texts = texts();
        let work = Work {
            contender,
            name,
            kinds: &["write"],
            options: &options,
        };
        let body = |lane: &mut Lane<'_>| insert(socket, &texts, lane);
        desk.measure(&server, &work, &self.course(), &body)?;
        desk.tell_last()?;
        let mut connection = connect(socket)?;
        run_statement(&mut connection, &format!("DROP TABLE {INSERTED}"))?;
        server.stop()
    }

    /// Mixed transactions over a table of their own.
    fn mix(&self, desk: &mut Desk<'_, '_>, contender: Contender, raw_bytes: u64) -> Outcome {
        let memory = plan::memory(None, raw_bytes);
        let options = self.options(contender, memory, Durability::Buffered);
        let server = self.start(contender, memory, &options)?;
        let socket = &server.socket;
        let rows = plan::mix_rows(self.request.size, self.request.scale);
        mix::fill(&server, contender, rows)?;
        let work = Work {
            contender,
            name: MIX,
            kinds: &["transaction"],
            options: &options,
        };
        let body = |lane: &mut Lane<'_>| mix::work(socket, rows, lane);
        let finished = desk.measure(&server, &work, &self.course(), &body)?;
        let again = mix::AGAIN.iter().enumerate();
        let again = again.map(|(place, code)| (format!("error {code}"), finished.tally(place)));
        let again: Vec<(String, u64)> = again.filter(|(_, count)| *count > 0).collect();
        desk.note_last([("rows".to_owned(), rows.to_string())]);
        desk.note_last(
            again
                .into_iter()
                .map(|(name, count)| (name, count.to_string())),
        );
        desk.tell_last()?;
        server.stop()
    }

    /// Rows into a table with three more indexes, and changes of one: filled with memory for all of
    /// it, measured with memory for a part, from a cold start.
    fn indexed(&self, desk: &mut Desk<'_, '_>, contender: Contender) -> Outcome {
        let rows = plan::indexed_rows(self.request.size, self.request.scale);
        let whole = plan::memory(None, rows * plan::INDEXED_ROW_BYTES);
        let options = self.options(contender, whole, Durability::Buffered);
        let server = self.start(contender, whole, &options)?;
        indexed::fill(&server, contender, rows)?;
        wait_for_rest(&server, contender, &desk.console.err)?;
        server.stop()?;
        forget(&self.files(contender))?;
        let memory = plan::indexed_memory(rows);
        let options = self.options(contender, memory, Durability::Synced);
        let server = self.start(contender, memory, &options)?;
        let socket = &server.socket;
        for name in [INDEXED_INSERT, INDEXED_UPDATE] {
            let work = Work {
                contender,
                name,
                kinds: &["write"],
                options: &options,
            };
            let body = |lane: &mut Lane<'_>| match name {
                INDEXED_INSERT => indexed::insert(socket, lane),
                _ => indexed::update(socket, rows, lane),
            };
            desk.measure(&server, &work, &self.course(), &body)?;
            let group = memory.group_bytes.filter(|_| self.has_groups);
            desk.note_last([
                ("rows".into(), rows.to_string()),
                ("cache_bytes".into(), memory.cache_bytes.to_string()),
                (
                    "group_bytes".into(),
                    group.map_or("none".into(), |bytes| bytes.to_string()),
                ),
            ]);
            desk.tell_last()?;
        }
        server.stop()
    }
}
