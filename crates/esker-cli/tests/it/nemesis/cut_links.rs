//! Links between nodes in network namespaces are cut, while nodes are killed and frozen.
//!
//! All addresses are of loopback, as a node demands, and still go over wires: the namespaces have
//! no such addresses of their own, and are told to route them. A link is cut by the address of a
//! card that nobody has: what is sent there vanishes, as behind a broken switch.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::nemesis::chance::Chance;
use crate::nemesis::kills::{Loaded, block};
use crate::nemesis::processes::{Place, Processes};

const NODES: usize = 5;

/// Longest until every partition is written to again, once all is well: nothing else runs beside.
const BACK_MAX: Duration = Duration::from_secs(30);

/// What says to the test that it is inside, and by which names.
const INSIDE: &str = "ESKER_NETNS";

/// Where the test itself is, beside its nodes.
const HUB: usize = 200;

/// Namespaces that end with the test.
struct Namespaces {
    prefix: String,
    net: [u8; 2],
}

fn ip(words: &str) -> Result<(), String> {
    let ran = Command::new("ip").args(words.split_whitespace()).output();
    let ran = ran.map_err(|error| format!("there is no `ip`: {error}"))?;
    match ran.status.success() {
        true => Ok(()),
        false => Err(format!(
            "ip {words}: {}",
            String::from_utf8_lossy(&ran.stderr)
        )),
    }
}

impl Namespaces {
    fn name(&self, node: usize) -> String {
        format!("{}-{node}", self.prefix)
    }

    fn address(&self, node: usize) -> String {
        let [x, y] = self.net;
        format!("127.{x}.{y}.{node}")
    }

    fn create() -> Result<Namespaces, String> {
        let net = Place::here().net;
        let prefix = format!("esker{}", std::process::id());
        let all = Namespaces { prefix, net };
        let hub = all.name(HUB);
        ip(&format!("netns add {hub}"))?;
        ip(&format!("-n {hub} link add hub type bridge"))?;
        all.settle(HUB, "hub")?;
        for node in 1..=NODES {
            let name = all.name(node);
            ip(&format!("netns add {name}"))?;
            ip(&format!(
                "link add card netns {name} type veth peer name to{node} netns {hub}"
            ))?;
            ip(&format!("-n {hub} link set to{node} master hub up"))?;
            all.settle(node, "card")?;
        }
        Ok(all)
    }

    // Loopback's addresses go out by the card.
    fn settle(&self, node: usize, card: &str) -> Result<(), String> {
        let name = self.name(node);
        ip(&format!("-n {name} link set {card} up"))?;
        for part in ["all", card] {
            let told = format!("net.ipv4.conf.{part}.route_localnet=1");
            ip(&format!("netns exec {name} sysctl -q -w {told}"))?;
        }
        ip(&format!("-n {name} link set lo up"))?;
        ip(&format!("-n {name} addr del 127.0.0.1/8 dev lo"))?;
        ip(&format!(
            "-n {name} addr add {}/24 dev {card}",
            self.address(node)
        ))
    }

    /// What one node sends to another vanishes from now on, or does not any more.
    fn set_cut(&self, from: usize, to: usize, is_cut: bool) {
        let (name, address) = (self.name(from), self.address(to));
        let nobody = "lladdr 02:00:00:00:00:66 nud permanent";
        // A link that was not cut has nothing to be taken away.
        let _ = match is_cut {
            true => ip(&format!(
                "-n {name} neigh replace {address} {nobody} dev card"
            )),
            false => ip(&format!("-n {name} neigh del {address} dev card")),
        };
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for node in (1..=NODES).chain([HUB]) {
            // What could not be made cannot be taken away.
            let _ = ip(&format!("netns del {}", self.name(node)));
        }
    }
}

fn seconds() -> u64 {
    let asked = std::env::var("ESKER_SOAK_SECONDS").ok();
    asked.map_or(3600, |text| {
        text.parse().expect("ESKER_SOAK_SECONDS is a number")
    })
}

#[test]
#[ignore = "an hour, and root: make soak runs it where it can"]
fn links_are_cut_and_nodes_hurt_and_nothing_is_lost() {
    if let Ok(told) = std::env::var(INSIDE) {
        let words: Vec<&str> = told.split(',').collect();
        let net = [words[1], words[2]].map(|word| word.parse().unwrap());
        // The one outside takes them away.
        let all = std::mem::ManuallyDrop::new(Namespaces {
            prefix: words[0].to_owned(),
            net,
        });
        return hold(&all);
    }
    let all = Namespaces::create()
        .unwrap_or_else(|why| panic!("this needs root, and `ip netns` as of iproute2: {why}"));
    let [x, y] = all.net;
    let myself = "nemesis::cut_links::links_are_cut_and_nodes_hurt_and_nothing_is_lost";
    let ran = Command::new("ip")
        .args(["netns", "exec", &all.name(HUB)])
        .arg(std::env::current_exe().unwrap())
        .args([myself, "--exact", "--ignored", "--nocapture"])
        .env(INSIDE, format!("{},{x},{y}", all.prefix))
        .status();
    assert!(ran.unwrap().success(), "inside of the namespaces it failed");
}

/// Which links are cut, each one way.
fn draw(chance: &mut Chance) -> (&'static str, Vec<(usize, usize)>) {
    let one = 1 + usize::try_from(chance.below(NODES as u64)).unwrap();
    let side = chance.below(1 << NODES);
    let is_in = |node: usize| side >> (node - 1) & 1 == 1;
    let kind = chance.below(5);
    let pairs = (1..=NODES).flat_map(|from| (1..=NODES).map(move |to| (from, to)));
    let name = ["both ways", "unheard", "deaf", "two sides", "some, one way"];
    let cut = pairs
        .filter(|(from, to)| from != to)
        .filter(|&(from, to)| match kind {
            0 => from == one || to == one,
            1 => from == one,
            2 => to == one,
            3 => is_in(from) != is_in(to),
            _ => chance.below(4) == 0,
        });
    let cut = cut.collect();
    (name[usize::try_from(kind).unwrap()], cut)
}

/// What becomes of a node while links are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hurt {
    Nobody,
    /// Its process ends, and begins again once no link is cut.
    Killed(usize),
    /// Its process stands still, and goes on before that or behind it.
    Frozen(usize),
}

impl Hurt {
    fn draw(chance: &mut Chance) -> Hurt {
        let node = 1 + usize::try_from(chance.below(NODES as u64)).unwrap();
        match chance.below(3) {
            0 => Hurt::Nobody,
            1 => Hurt::Killed(node),
            _ => Hurt::Frozen(node),
        }
    }

    fn begin(self, nodes: &mut Processes) {
        match self {
            Hurt::Nobody => {}
            Hurt::Killed(node) => nodes.kill(node),
            Hurt::Frozen(node) => nodes.freeze(node),
        }
    }

    async fn end(self, mut nodes: Processes) -> Processes {
        match self {
            Hurt::Nobody => nodes,
            Hurt::Frozen(node) => {
                nodes.thaw(node);
                nodes
            }
            Hurt::Killed(node) => {
                let begun = tokio::task::spawn_blocking(move || {
                    nodes.begin(node);
                    nodes
                });
                begun.await.unwrap()
            }
        }
    }
}

/// What was done, of each kind.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    rounds: u64,
    cuts: u64,
    kills: u64,
    freezes: u64,
    both: u64,
}

impl Counts {
    fn add(&mut self, is_cut: bool, hurt: Hurt) {
        self.rounds += 1;
        self.cuts += u64::from(is_cut);
        self.kills += u64::from(matches!(hurt, Hurt::Killed(_)));
        self.freezes += u64::from(matches!(hurt, Hurt::Frozen(_)));
        self.both += u64::from(is_cut && hurt != Hurt::Nobody);
    }
}

fn hold(all: &Namespaces) {
    let prefix = all.prefix.clone();
    let place = Place {
        net: all.net,
        enter: Box::new(move |node| {
            let name = format!("{prefix}-{node}");
            ["ip", "netns", "exec", &name].map(str::to_owned).to_vec()
        }),
    };
    let mut nodes = Processes::start(NODES, &["read_promise=500ms"], place);
    let mut chance = Chance::new(seconds());
    block(async {
        let mut loaded = Loaded::begin(&nodes).await;
        let until = Instant::now() + Duration::from_secs(seconds());
        let (mut counts, mut longest) = (Counts::default(), Duration::ZERO);
        while Instant::now() < until {
            loaded.until_whole().await;
            loaded.registers.turn();
            let (name, mut cut) = draw(&mut chance);
            if chance.below(4) == 0 {
                cut.clear();
            }
            let hurt = Hurt::draw(&mut chance);
            let set = |is_cut| {
                cut.iter()
                    .for_each(|&(from, to)| all.set_cut(from, to, is_cut));
            };
            // Either may come first, and be over first.
            let is_hurt_first = chance.below(2) == 0;
            match is_hurt_first {
                true => hurt.begin(&mut nodes),
                false => set(true),
            }
            tokio::time::sleep(Duration::from_millis(chance.below(3000))).await;
            match is_hurt_first {
                true => set(true),
                false => hurt.begin(&mut nodes),
            }
            tokio::time::sleep(Duration::from_millis(1000 + chance.below(6000))).await;
            let thaws_first = matches!(hurt, Hurt::Frozen(_)) && chance.below(2) == 0;
            if thaws_first {
                nodes = hurt.end(nodes).await;
                tokio::time::sleep(Duration::from_millis(chance.below(3000))).await;
            }
            set(false);
            if !thaws_first {
                tokio::time::sleep(Duration::from_millis(chance.below(1000))).await;
                nodes = hurt.end(nodes).await;
            }
            let healed = loaded.began.elapsed();
            loaded.until_written(healed).await;
            let back = loaded.began.elapsed() - healed;
            longest = longest.max(back);
            counts.add(!cut.is_empty(), hurt);
            println!(
                "{}: {name}, {} links, {hurt:?}: writes are back after {back:?}",
                counts.rounds,
                cut.len()
            );
            tokio::time::sleep(Duration::from_millis(500 + chance.below(2000))).await;
        }
        let (rows, judged) = loaded.finish().await;
        println!("{counts:?}: {rows} rows acknowledged, none lost; {judged:?}");
        println!("longest until every partition was written to again: {longest:?}");
        assert!(longest < BACK_MAX && rows > 100 && judged.calls > 100);
        assert_eq!(judged.too_hard, 0, "{judged:?}");
    });
}
