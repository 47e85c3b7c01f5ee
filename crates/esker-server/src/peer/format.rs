//! Frames between nodes, and the greetings that begin a connection.
//!
//! A frame:
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 4 | u32 | length of the payload |
//! | 4 | 4 | u32 | CRC32C of everything that follows |
//! | 8 | 1 | u8 | kind, of the list below |
//! | 9 | 3 | | 0 |
//! | 12 | 8 | u64 | number of an ask, which its answer repeats; 0 for the other kinds |
//! | 20 | … | bytes | payload |
//!
//! | kind | who sends it | payload, and its greatest length |
//! |---|---|---|
//! | 1 hello | dialler, first | a greeting: 246 |
//! | 2 welcome | listener, first | a greeting: 246 |
//! | 3 refusal | listener, instead | why: 500 |
//! | 4 raft | dialler | a frame of `esker_raft`: 16 MiB |
//! | 5 ask | dialler | as `ask.rs` has it: 2 MiB |
//! | 6 answer | listener | as `ask.rs` has it: 34 MiB |
//! | 7 alive | dialler each second, listener while bytes come | nothing: 0 |
//!
//! A greeting:
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 8 | bytes | `ESKRPEER` |
//! | 8 | 4 | u32 | version: 3 |
//! | 12 | 8 | u64 | cluster; 0 for one who belongs to none yet |
//! | 20 | 8 | u64 | node that speaks; 0 for one who has no number yet |
//! | 28 | 8 | u64 | its incarnation: how often its directory was opened |
//! | 36 | 8 | u64 | a number that its process has drawn |
//! | 44 | 8 | u64 | node that it wants to speak to; 0 for whoever listens |
//! | 52 | 16 | bytes | where the speaker listens for nodes: IPv6, or IPv4 mapped into it |
//! | 68 | 2 | u16 | the port of that; 0 for one who does not say it |
//! | 70 | 8 × 16 | u64 | as at 36, of the processes before it, the last one first; 0: unknown |
//! | 198 | 8 × 6 | u64 | meta service: number, drawn, base, node, last; 1 if it has gone on |
//!
//! A refusal:
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 1 | u8 | reason, of the list below; every other is as 0 |
//! | 1 | … | bytes | the reason in words |
//!
//! | reason | meaning |
//! |---|---|
//! | 0 | none of those below |
//! | 1 | it is of another cluster |
//! | 2 | it wants another node |
//! | 3 | its number is the listener's own |
//! | 4 | a later incarnation was seen |
//! | 5 | another process with that number was seen |
//! | 6 | there are too many |
//! | 7 | an earlier process of that number may live still: ask again |
//! | 8 | the directory has parted from the one that was seen |
//!
//! Integers are little-endian. Valid if and only if the kind is known, the bytes that are 0 are 0,
//! the length is no greater than its kind's, the number is 0 where it must be and not where it must
//! not, and the checksum is that of the bytes. A greeting has its length, that magic and version,
//! a number if and only if a cluster, no address without a port, a sound claim; a refusal a byte.

use std::fmt;
use std::net::{Ipv6Addr, SocketAddr};

use esker_rpc::codec::Incoming;

use crate::meta::epoch::Claim;
use crate::node::limits::LINEAGE;

/// Bytes before the payload.
pub const HEAD_BYTES: usize = 20;

/// Bytes of a greeting.
pub const GREETING_BYTES: usize = CLAIM_FROM + 8 * 6;

/// Most bytes of a refusal.
pub const REFUSAL_BYTES_MAX: usize = 500;

/// Most bytes of an ask: a client's write of 1 MiB, or a report of a thousand replicas.
pub const ASK_BYTES_MAX: usize = 2 << 20;

/// Most bytes of an answer: rows of a `MULTI_GET` (30 MiB), and what stands around them.
pub const ANSWER_BYTES_MAX: usize = 34 << 20;

/// Most bytes of a frame of raft: a full frame, or one message beyond the bound of frames.
pub const RAFT_BYTES_MAX: usize = 16 << 20;

const MAGIC: [u8; 8] = *b"ESKRPEER";
const VERSION: u32 = 3;

const LINEAGE_FROM: usize = 70;

const CLAIM_FROM: usize = LINEAGE_FROM + 8 * LINEAGE;

const CHECKED_FROM: usize = 8;

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The dialler says who it is.
    Hello,
    /// The listener says who it is, and goes on.
    Welcome,
    /// The listener says why it does not.
    Refusal,
    /// Messages of raft groups.
    Raft,
    /// Something that is answered.
    Ask,
    /// The answer.
    Answer,
    /// Nothing, said lest the other end takes silence for death.
    Alive,
}

impl Kind {
    /// Every kind with its number and the most bytes of its payload.
    const ALL: [(Kind, u8, usize); 7] = [
        (Kind::Hello, 1, GREETING_BYTES),
        (Kind::Welcome, 2, GREETING_BYTES),
        (Kind::Refusal, 3, REFUSAL_BYTES_MAX),
        (Kind::Raft, 4, RAFT_BYTES_MAX),
        (Kind::Ask, 5, ASK_BYTES_MAX),
        (Kind::Answer, 6, ANSWER_BYTES_MAX),
        (Kind::Alive, 7, 0),
    ];

    /// Every kind.
    const EACH: [Kind; Kind::ALL.len()] = {
        let mut each = [Kind::Alive; Kind::ALL.len()];
        let mut place = 0;
        while place < each.len() {
            each[place] = Kind::ALL[place].0;
            place += 1;
        }
        each
    };

    fn row(self) -> (Kind, u8, usize) {
        let found = Kind::ALL.into_iter().find(|row| row.0 == self);
        found.expect("every kind is in the list")
    }

    fn has_number(self) -> bool {
        matches!(self, Kind::Ask | Kind::Answer)
    }
}

/// A frame as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// What it is.
    pub kind: Kind,
    /// Number of an ask; 0 for the other kinds.
    pub number: u64,
    /// What it says.
    pub payload: Vec<u8>,
}

/// Why a connection between nodes cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeerError {
    /// No frame has that kind.
    Kind(u8),
    /// Bytes that are 0 are not, or a number is where none is, or the other way round.
    Layout,
    /// A payload is longer than one of its kind may be.
    Length(u32),
    /// The bytes are not those that were sent.
    Checksum,
    /// A greeting does not begin as greetings do: whoever speaks is no node of Esker.
    Magic,
    /// The other node speaks another version of this protocol.
    Version(u32),
    /// A frame is none that may come here.
    Unexpected(Kind),
    /// The payload is not what it must be.
    Payload(&'static str),
}

impl fmt::Display for PeerError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PeerError::Kind(byte) => write!(out, "no frame has the kind {byte}"),
            PeerError::Layout => out.write_str("a frame's head makes no sense"),
            PeerError::Length(length) => write!(out, "a frame of {length} bytes is refused"),
            PeerError::Checksum => out.write_str("a frame was damaged on its way"),
            PeerError::Magic => out.write_str("what speaks there is no node of Esker"),
            PeerError::Version(version) => {
                write!(
                    out,
                    "that node speaks version {version} of the protocol, this one {VERSION}"
                )
            }
            PeerError::Unexpected(kind) => write!(out, "a frame {kind:?} does not belong here"),
            PeerError::Payload(expected) => write!(out, "no {expected} in a frame"),
        }
    }
}

impl std::error::Error for PeerError {}

/// Appends a frame to `out`.
///
/// # Panics
/// When the payload is longer than one of its kind may be, or has a number that it must not have.
pub fn put_frame(out: &mut Vec<u8>, kind: Kind, number: u64, payload: &[u8]) {
    let (_, byte, len_max) = kind.row();
    assert!(payload.len() <= len_max);
    assert_eq!(kind.has_number(), number != 0);
    let start = out.len();
    let len = u32::try_from(payload.len()).expect("payloads have bounds below 4 GiB");
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&[byte, 0, 0, 0]);
    out.extend_from_slice(&number.to_le_bytes());
    out.extend_from_slice(payload);
    let checksum = crc32c::crc32c(&out[start + CHECKED_FROM..]);
    out[start + 4..start + CHECKED_FROM].copy_from_slice(&checksum.to_le_bytes());
}

/// Takes frames out of the bytes of a connection, however these are split.
#[derive(Debug)]
pub struct FrameReader {
    incoming: Incoming,
    expected: &'static [Kind],
}

impl Default for FrameReader {
    /// One of every kind.
    fn default() -> FrameReader {
        FrameReader::of(&Kind::EACH)
    }
}

impl FrameReader {
    /// One that refuses kinds that are not `expected` by their heads, before their bytes come.
    pub fn of(expected: &'static [Kind]) -> FrameReader {
        FrameReader {
            incoming: Incoming::default(),
            expected,
        }
    }

    /// From here on it expects these.
    pub fn expect(&mut self, expected: &'static [Kind]) {
        self.expected = expected;
    }

    /// True if some bytes of a frame are there and the rest is not, after [`FrameReader::next`] had
    /// nothing more.
    pub fn is_in_frame(&self) -> bool {
        !self.incoming.rest().is_empty()
    }

    /// Where what the connection brings is appended; then [`FrameReader::next`] is asked until it
    /// has nothing more.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.incoming.buffer()
    }

    /// The next frame, `None` while bytes are missing. After an error the connection is useless.
    #[allow(clippy::should_implement_trait, reason = "more may come after a None")]
    pub fn next(&mut self) -> Result<Option<Frame>, PeerError> {
        let rest = self.incoming.rest();
        let Some(head) = rest.first_chunk::<HEAD_BYTES>() else {
            return Ok(None);
        };
        let len = word(head, 0);
        let found = Kind::ALL.into_iter().find(|row| row.1 == head[8]);
        let (kind, _, len_max) = found.ok_or(PeerError::Kind(head[8]))?;
        let number = long(head, 12);
        if head[9..12] != [0; 3] || kind.has_number() != (number != 0) {
            return Err(PeerError::Layout);
        }
        if !self.expected.contains(&kind) {
            return Err(PeerError::Unexpected(kind));
        }
        let fitting = usize::try_from(len).ok().filter(|len| *len <= len_max);
        let payload_len = fitting.ok_or(PeerError::Length(len))?;
        let Some(whole) = rest.get(..HEAD_BYTES + payload_len) else {
            return Ok(None);
        };
        if crc32c::crc32c(&whole[CHECKED_FROM..]) != word(head, 4) {
            return Err(PeerError::Checksum);
        }
        let payload = whole[HEAD_BYTES..].to_vec();
        self.incoming.take(HEAD_BYTES + payload_len);
        Ok(Some(Frame {
            kind,
            number,
            payload,
        }))
    }
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speaker {
    /// The cluster that it is of.
    pub cluster: u64,
    /// Its number.
    pub node: u64,
    /// How often its directory was opened.
    pub incarnation: u64,
    /// A number that its process has drawn.
    pub instance: u64,
}

/// Where a process is reached, and which ones came before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Where it listens for other nodes; none if it does not say so.
    pub address: Option<SocketAddr>,
    /// The numbers that those processes drew which had its directory open before, the last one
    /// first; 0 where none is known.
    pub before: [u64; LINEAGE],
}

/// What begins a connection, from either side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Greeting {
    /// Who speaks. The cluster and the number are both 0 for one who has joined none yet.
    pub speaker: Speaker,
    /// The node that it wants to speak to; 0 for whoever listens.
    pub wants: u64,
    /// Where the speaker is reached, and who came before it.
    pub origin: Origin,
    /// The meta service that it heeds.
    pub claim: Claim,
}

impl Greeting {
    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        let Greeting { speaker, wants, .. } = self;
        for number in [
            speaker.cluster,
            speaker.node,
            speaker.incarnation,
            speaker.instance,
            *wants,
        ] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        put_address(&mut bytes, self.origin.address);
        for number in self.origin.before.into_iter().chain(self.claim.words()) {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        assert_eq!(bytes.len(), GREETING_BYTES);
        bytes
    }

    /// The greeting in `bytes`.
    pub fn decode(bytes: &[u8]) -> Result<Greeting, PeerError> {
        if !bytes.starts_with(&MAGIC) {
            return Err(PeerError::Magic);
        }
        let version = bytes.get(8..12).and_then(|version| version.first_chunk());
        let version = version.map(|version| u32::from_le_bytes(*version));
        match version {
            Some(VERSION) => {}
            Some(other) => return Err(PeerError::Version(other)),
            None => return Err(PeerError::Payload("greeting")),
        }
        let bytes: &[u8; GREETING_BYTES] = bytes
            .try_into()
            .map_err(|_| PeerError::Payload("greeting"))?;
        let speaker = Speaker {
            cluster: long(bytes, 12),
            node: long(bytes, 20),
            incarnation: long(bytes, 28),
            instance: long(bytes, 36),
        };
        let address = address(bytes).ok_or(PeerError::Payload("greeting"))?;
        if (speaker.cluster == 0) != (speaker.node == 0) {
            return Err(PeerError::Payload("greeting"));
        }
        let before = std::array::from_fn(|at| long(bytes, LINEAGE_FROM + 8 * at));
        let claim = Claim::of_words(std::array::from_fn(|at| long(bytes, CLAIM_FROM + 8 * at)));
        let claim = claim.ok_or(PeerError::Payload("greeting"))?;
        Ok(Greeting {
            speaker,
            wants: long(bytes, 44),
            origin: Origin { address, before },
            claim,
        })
    }
}

/// Why a listener refuses a node, as far as the node must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// None of those below.
    Other,
    /// It is of another cluster.
    OtherCluster,
    /// Another node is wanted than the one that listens.
    WrongNode,
    /// The number is the listener's own.
    Myself,
    /// A later incarnation was seen.
    Outdated,
    /// Another process with that number and incarnation was seen.
    SecondHolder,
    /// There are too many.
    TooMany,
    /// An earlier process of that number may live still: the dialler is to ask again.
    EarlierLives,
    /// The directory has parted from the one that was seen: one is a copy of the other.
    Parted,
}

impl Reason {
    /// Every reason at the place that is its byte.
    const ALL: [Reason; 9] = [
        Reason::Other,
        Reason::OtherCluster,
        Reason::WrongNode,
        Reason::Myself,
        Reason::Outdated,
        Reason::SecondHolder,
        Reason::TooMany,
        Reason::EarlierLives,
        Reason::Parted,
    ];
}

/// What a listener says to a node that it refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Why.
    pub reason: Reason,
    /// Why, in words, as they came.
    pub words: String,
}

impl Refusal {
    /// Its bytes; words that are too long lose their end.
    pub fn encode(&self) -> Vec<u8> {
        let place = Reason::ALL.iter().position(|reason| *reason == self.reason);
        let byte = place.and_then(|place| u8::try_from(place).ok());
        let mut bytes = vec![byte.expect("every reason is in the short list")];
        bytes.extend(self.words.bytes().take(REFUSAL_BYTES_MAX - 1));
        bytes
    }

    /// The refusal in `bytes`.
    pub fn decode(bytes: &[u8]) -> Result<Refusal, PeerError> {
        let Some((&byte, words)) = bytes.split_first() else {
            return Err(PeerError::Payload("refusal"));
        };
        let known = Reason::ALL.get(usize::from(byte));
        Ok(Refusal {
            reason: known.copied().unwrap_or(Reason::Other),
            words: String::from_utf8_lossy(words).into_owned(),
        })
    }
}

fn put_address(bytes: &mut Vec<u8>, address: Option<SocketAddr>) {
    let octets = match address.map(|address| address.ip()) {
        Some(std::net::IpAddr::V4(ip)) => ip.to_ipv6_mapped().octets(),
        Some(std::net::IpAddr::V6(ip)) => ip.octets(),
        None => [0; 16],
    };
    bytes.extend_from_slice(&octets);
    let port = address.map_or(0, |address| address.port());
    bytes.extend_from_slice(&port.to_le_bytes());
}

// The address in a greeting, if one is there; `None` if there is neither one nor none.
fn address(bytes: &[u8; GREETING_BYTES]) -> Option<Option<SocketAddr>> {
    let octets: [u8; 16] = *bytes[52..].first_chunk()?;
    let port = u16::from_le_bytes(*bytes[68..].first_chunk()?);
    match port {
        0 => (octets == [0; 16]).then_some(None),
        _ => {
            let ip = Ipv6Addr::from(octets).to_canonical();
            Some(Some(SocketAddr::new(ip, port)))
        }
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let found = bytes[at..].first_chunk();
    u32::from_le_bytes(*found.expect("the caller has asked for fixed places of fixed bytes"))
}

fn long(bytes: &[u8], at: usize) -> u64 {
    let found = bytes[at..].first_chunk();
    u64::from_le_bytes(*found.expect("the caller has asked for fixed places of fixed bytes"))
}

#[cfg(test)]
mod tests;
