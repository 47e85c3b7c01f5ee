//! The pages that a node shows over HTTP: what it counts, whether it is well, what it has.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use esker::Db;
use tokio::sync::watch;

use crate::front::{Cause, Counters, Page};
use crate::meta::ids::{META, PartitionId, TableId};
use crate::node::{Replicas, Traffic, TrafficCounts, View};
use crate::shell::delays::Delays;
use crate::shell::fault::Faults;
use crate::shell::known::Known;
use crate::shell::metrics_text::{MetricsText, json_list, json_maybe, json_text};
use crate::shell::misdirected::Misdirected;
use crate::shell::pending::Pending;

/// What a page that does not exist is answered.
const LIST: &str = "\
/metrics  what this node counts, in the text format of Prometheus\n\
/health   200 if the node serves, 503 with the reasons if not\n\
/status   who the node is and what it has, as JSON; /status/7 what it has of table 7\n\
/slow     the latest calls that took long, with what they waited for, as JSON\n";

/// Bytes of replicas on the page of all: some ten thousand of them. What is beyond is counted, and
/// told by the page of its table.
const REPLICAS_BYTES_MAX: usize = 3 << 20;

/// What becomes of a damaged replica of the meta service, and what to do where nothing does.
const ANEW: &str = "the leader of the service makes it anew; if none answers for long, most \
                    replicas are lost: `esker serve --recover-meta` says what a stopped node has";

/// Which counts of a replica.
type Of = fn(&View) -> &Traffic;

/// Which of them.
type Count = fn(&TrafficCounts) -> u64;

/// Which number of a replica.
type Number = fn(&Named) -> u64;

/// The kinds of calls on keys.
const KINDS: [(&str, Of); 2] = [("read", |view| &view.reads), ("write", |view| &view.writes)];

/// What becomes of calls, counted.
const FATES: [(&str, &str, Count); 4] = [
    (
        "calls_total",
        "Calls that came to the leader, whatever became of them.",
        |counts| counts.calls,
    ),
    (
        "delayed_total",
        "Calls that a limit of the table made wait.",
        |counts| counts.delayed,
    ),
    (
        "rejected_total",
        "Calls that a limit of the table refused.",
        |counts| counts.rejected,
    ),
    (
        "denied_total",
        "Calls that came while the table denied its clients.",
        |counts| counts.denied,
    ),
];

/// What is known of each partition here.
const GAUGES: [(&str, &str, Number); 6] = [
    ("leads", "1 if this node leads the partition.", |one| {
        one.view.is_leader().into()
    }),
    ("applied_index", "The last entry that is applied.", |one| {
        one.view.applied()
    }),
    (
        "durable_index",
        "The last entry of the log that is on the medium.",
        |one| one.view.durable(),
    ),
    ("flushed_index", "The last entry that is in files.", |one| {
        one.view.flushed()
    }),
    (
        "unapplied_bytes",
        "Bytes of entries that are committed and not applied.",
        |one| u64::try_from(one.view.unapplied_bytes()).unwrap_or(u64::MAX),
    ),
    (
        "stalled",
        "1 if the replica does not go on for now.",
        |one| one.stall.is_some().into(),
    ),
];

/// What pages are made of. Any thread may ask; nothing waits.
pub(crate) struct Pages {
    pub(crate) node: u64,
    pub(crate) cluster: u64,
    pub(crate) incarnation: u64,
    /// When it was started, in seconds since 1970.
    pub(crate) started_s: u64,
    pub(crate) replicas: Arc<Replicas>,
    pub(crate) known: Arc<Known>,
    pub(crate) pending: Arc<Pending>,
    pub(crate) delays: Delays,
    pub(crate) faults: Faults,
    pub(crate) serving: watch::Receiver<bool>,
    pub(crate) db: Db,
    /// Calls on keys that were for no partition here.
    pub(crate) misdirected: Misdirected,
    /// The doors by their names, once they are open.
    pub(crate) doors: OnceLock<[(&'static str, Arc<Counters>); 2]>,
}

/// A replica here, by the names that people know.
struct Named {
    table: String,
    index: String,
    view: Arc<View>,
    stall: Option<String>,
}

impl Pages {
    /// The page of a path.
    pub(crate) fn page(&self, path: &str) -> Page {
        let table = path.strip_prefix("/status/").map(str::parse);
        if let Some(Ok(table)) = table {
            return Page::of("application/json", self.status(Some(TableId(table))));
        }
        match path {
            "/metrics" => Page::of("text/plain; version=0.0.4; charset=utf-8", self.metrics()),
            "/health" => match self.ailments() {
                ailments if ailments.is_empty() => Page::text("200 OK", "it serves\n"),
                ailments => {
                    let lines: Vec<String> = ailments.iter().map(|it| format!("{it}\n")).collect();
                    Page::text("503 Service Unavailable", lines.concat())
                }
            },
            "/status" => Page::of("application/json", self.status(None)),
            "/slow" => Page::of("application/json", self.pending.slow.to_json(&self.known)),
            "/" => Page::text("200 OK", LIST),
            _ => Page::text("404 Not Found", format!("there are these pages:\n{LIST}")),
        }
    }

    /// Why the node should get no work, in sentences; none if it serves. That a partition has no
    /// leader is no fault of the node.
    fn ailments(&self) -> Vec<String> {
        let fault = self.faults.told();
        let mut all: Vec<String> = fault.iter().map(|why| format!("it ends: {why}")).collect();
        if !*self.serving.borrow() {
            let why = "the leader of the meta service has not told it yet what there is";
            all.push(why.to_owned());
        }
        if let Some(why) = self.known.meta.damage() {
            all.push(format!(
                "its replica of the meta service is damaged: {why}; {ANEW}"
            ));
        }
        let stalls: Vec<String> = self
            .replicas
            .views()
            .iter()
            .filter_map(|view| self.replicas.stall_of(view))
            .collect();
        if let Some(why) = stalls.first() {
            let count = stalls.len();
            all.push(format!(
                "{count} of its replicas do not go on, one because {why}"
            ));
        }
        all
    }

    fn metrics(&self) -> String {
        let mut text = MetricsText::default();
        self.put_node(&mut text);
        self.put_doors(&mut text);
        let replicas = self.replicas_by_name(None);
        put_tables(&mut text, &replicas);
        put_partitions(&mut text, &replicas);
        // Each replica is a keyspace: what the engine knows of each would be the longest part.
        let mut stats = self.db.stats();
        stats.keyspaces.clear();
        text.finish() + &stats.to_prometheus()
    }

    fn put_node(&self, text: &mut MetricsText) {
        text.family("esker_node_identity", "gauge", "Who the node is: 1.");
        let (node, cluster) = (self.node.to_string(), format!("{:016x}", self.cluster));
        let version = env!("CARGO_PKG_VERSION");
        let labels = [
            ("node", node.as_str()),
            ("cluster", cluster.as_str()),
            ("version", version),
        ];
        text.sample("esker_node_identity", &labels, 1);
        let count = |count| u64::try_from(count).unwrap_or(u64::MAX);
        for (name, help, value) in [
            (
                "esker_node_serves",
                "1 if /health says that the node serves.",
                self.ailments().is_empty().into(),
            ),
            (
                "esker_node_meta_answers",
                "1 if a leader of the meta service answers this node.",
                (!self.known.meta.is_away()).into(),
            ),
            (
                "esker_node_pending_calls",
                "Calls that wait for consensus, or for a thread.",
                count(self.pending.count()),
            ),
            (
                "esker_node_delayed_calls",
                "Calls that wait for a limit of their table.",
                count(self.delays.count()),
            ),
            (
                "esker_node_clocks_apart",
                "Nodes whose clock is far from this one's, if this one leads the meta service.",
                count(self.known.clocks_apart()),
            ),
            (
                "esker_node_replicas",
                "Replicas here, of the meta service as well.",
                count(self.replicas.views().len()),
            ),
        ] {
            text.family(name, "gauge", help);
            text.sample(name, &[], value);
        }
    }

    fn put_doors(&self, text: &mut MetricsText) {
        let name = "esker_node_slow_calls_total";
        text.family(
            name,
            "counter",
            "Calls that took longer than their threshold.",
        );
        text.sample(name, &[], self.pending.slow.total());
        let name = "esker_node_misdirected_total";
        text.family(
            name,
            "counter",
            "Calls on keys refused because no partition is there, or not for that key.",
        );
        for (cause, total) in self.misdirected.totals() {
            text.sample(name, &[("cause", cause)], total);
        }
        let doors = self.doors.get().map_or(&[][..], |doors| doors);
        let name = "esker_door_connections_total";
        text.family(name, "counter", "Connections that a door accepted.");
        for (door, counters) in doors {
            text.sample(name, &[("door", door)], counters.accepted());
        }
        let name = "esker_door_requests_total";
        text.family(name, "counter", "Requests that came at a door.");
        for (door, counters) in doors {
            text.sample(name, &[("door", door)], counters.requests());
        }
        let name = "esker_door_pages_total";
        text.family(
            name,
            "counter",
            "Pages of HTTP that were asked for at a door.",
        );
        for (door, counters) in doors {
            text.sample(name, &[("door", door)], counters.pages());
        }
        let name = "esker_door_refusals_total";
        text.family(name, "counter", "Connections closed and requests refused.");
        for (door, counters) in doors {
            for cause in Cause::all() {
                let labels = [("door", *door), ("cause", cause.label())];
                text.sample(name, &labels, counters.of(cause));
            }
        }
    }

    /// The replicas of tables here, or of that table, by table and partition.
    fn replicas_by_name(&self, table: Option<TableId>) -> Vec<Named> {
        let known = self.known.get();
        let views = self.replicas.views().into_iter();
        let is_meant = |view: &Arc<View>| {
            let of = PartitionId::of(view.member.group).table;
            view.member.group != META && table.is_none_or(|table| table == of)
        };
        let of_tables = views.filter(is_meant);
        let named = of_tables.map(|view| {
            let partition = PartitionId::of(view.member.group);
            let facts = known.tables.get(&partition.table);
            // Of a table that was dropped another one may have the name by now; and one of which
            // nobody has told yet has none.
            let name = facts.filter(|facts| !facts.is_dropped);
            let name = name.map(|facts| facts.name.clone());
            Named {
                table: name.unwrap_or_else(|| partition.table.0.to_string()),
                index: partition.index.to_string(),
                stall: self.replicas.stall_of(&view),
                view,
            }
        });
        named.collect()
    }

    fn status(&self, table: Option<TableId>) -> String {
        let ailments: Vec<String> = self.ailments().iter().map(|it| json_text(it)).collect();
        let named = self.replicas_by_name(table);
        let (replicas, left_out) = json_list(named.iter().map(spell), REPLICAS_BYTES_MAX);
        format!(
            "{{\"node\":{},\"cluster\":\"{:016x}\",\"incarnation\":{},\"started_s\":{},\
             \"version\":{},\
             \"serves\":{},\"ailments\":[{}],{},\"pending_calls\":{},\
             \"delayed_calls\":{},\"replicas_left_out\":{left_out},\"replicas\":[{replicas}]}}\n",
            self.node,
            self.cluster,
            self.incarnation,
            self.started_s,
            json_text(env!("CARGO_PKG_VERSION")),
            ailments.is_empty(),
            ailments.join(","),
            self.meta(),
            self.pending.count(),
            self.delays.count(),
        )
    }

    /// What the node has of the meta service, and whether somebody leads that.
    fn meta(&self) -> String {
        let view = self.replicas.view(META);
        let sound = view.filter(|view| view.standing().damage.is_none());
        let leads = sound.as_ref().is_some_and(|view| view.is_leader());
        let replica = sound.map(|view| view.member.replica.0.to_string());
        format!(
            "\"leads_meta\":{leads},\"meta_is_led\":{},\"meta_replica\":{},\"meta_damage\":{}",
            self.known.meta.is_led(),
            replica.unwrap_or_else(|| "null".to_owned()),
            json_maybe(self.known.meta.damage().as_deref()),
        )
    }
}

fn put_tables(text: &mut MetricsText, replicas: &[Named]) {
    let mut sums: BTreeMap<(&str, &str), TrafficCounts> = BTreeMap::new();
    for one in replicas {
        for (kind, traffic) in KINDS {
            let counts = traffic(&one.view).counts();
            sums.entry((&one.table, kind)).or_default().add(counts);
        }
    }
    for (fate, help, count) in FATES {
        let name = format!("esker_table_{fate}");
        text.family(&name, "counter", help);
        for ((table, kind), counts) in &sums {
            text.sample(&name, &[("table", table), ("kind", kind)], count(counts));
        }
    }
}

fn put_partitions(text: &mut MetricsText, replicas: &[Named]) {
    for (fate, help, count) in FATES {
        let name = format!("esker_partition_{fate}");
        text.family(&name, "counter", help);
        for one in replicas {
            for (kind, traffic) in KINDS {
                let labels = [
                    ("table", one.table.as_str()),
                    ("partition", &one.index),
                    ("kind", kind),
                ];
                text.sample(&name, &labels, count(&traffic(&one.view).counts()));
            }
        }
    }
    for (gauge, help, value) in GAUGES {
        let name = format!("esker_partition_{gauge}");
        text.family(&name, "gauge", help);
        for one in replicas {
            let labels = [("table", one.table.as_str()), ("partition", &one.index)];
            text.sample(&name, &labels, value(one));
        }
    }
}

/// A replica as an object.
fn spell(one: &Named) -> String {
    let view = &one.view;
    let (standing, compaction) = (view.standing(), view.compaction());
    let leader = standing.leader.and_then(|leader| leader.1);
    let leader = leader.map_or_else(|| "null".to_owned(), |node| node.0.to_string());
    format!(
        "{{\"table\":{},\"partition\":{},\"replica\":{},\"leads\":{},\"leader_node\":{leader},\
         \"term\":{},\"applied\":{},\"durable\":{},\"flushed\":{},\"stall\":{},\"damage\":{},\
         \"compaction\":{{\"asked_s\":{},\"state\":\"{}\",\"took_ms\":{}}}}}",
        json_text(&one.table),
        one.index,
        view.member.replica.0,
        view.is_leader(),
        standing.term,
        view.applied(),
        view.durable(),
        view.flushed(),
        json_maybe(one.stall.as_deref()),
        json_maybe(standing.damage.as_deref()),
        compaction.asked_s,
        compaction.state.word(),
        compaction.took.as_millis(),
    )
}
