//! In which modes a lock is held, and which of them go together.
//!
//! The modes and the table are Gray's ("Granularity of Locks and Degrees of Consistency in a Shared
//! Data Base", 1976). A key has three modes, a keyspace all five: who locks keys in it announces
//! that by an intention on the keyspace, so that one look there tells whether anybody is inside.

/// How an owner holds a lock. In an order in which a mode comes after all that it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// IS: keys inside are locked shared.
    IntentionShared,
    /// IX: keys inside are locked exclusively. Of a key: it is written beside others who do so.
    IntentionExclusive,
    /// S: the whole is read; nobody else changes any of it.
    Shared,
    /// SIX: the whole is read and keys inside are locked exclusively.
    SharedIntentionExclusive,
    /// X: nobody else reads or changes any of it under a lock.
    Exclusive,
}

/// How an owner holds the lock of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyMode {
    /// Others may hold it shared, too.
    Shared,
    /// Who writes to it without having read it, and minds nobody who does the same: those who do
    /// read it, or are to write to it alone, are kept out.
    Beside,
    /// Nobody else holds it.
    Exclusive,
}

/// Several modes: bit `m` for the mode with number `m`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModeSet(u8);

const IS: u8 = 1 << Mode::IntentionShared as u8;
const IX: u8 = 1 << Mode::IntentionExclusive as u8;
const S: u8 = 1 << Mode::Shared as u8;
const SIX: u8 = 1 << Mode::SharedIntentionExclusive as u8;
const X: u8 = 1 << Mode::Exclusive as u8;

/// What nobody else may hold beside each mode.
const CONFLICTS: [u8; Mode::COUNT] = [
    X,
    S | SIX | X,
    IX | SIX | X,
    IX | S | SIX | X,
    IS | IX | S | SIX | X,
];

/// What the holder of each mode need not ask for.
const COVERED: [u8; Mode::COUNT] = [
    IS,
    IS | IX,
    IS | S,
    IS | IX | S | SIX,
    IS | IX | S | SIX | X,
];

impl Mode {
    /// How many modes there are.
    pub const COUNT: usize = 5;

    /// All modes, each after those that it covers.
    pub const ALL: [Mode; Mode::COUNT] = [
        Mode::IntentionShared,
        Mode::IntentionExclusive,
        Mode::Shared,
        Mode::SharedIntentionExclusive,
        Mode::Exclusive,
    ];

    /// The modes that no other owner may hold at the same time.
    pub fn conflicts(self) -> ModeSet {
        ModeSet(CONFLICTS[self.index()])
    }

    /// Whether one owner may not hold this while another holds `other`.
    pub fn conflicts_with(self, other: Mode) -> bool {
        self.conflicts().has(other)
    }

    /// Whether who holds this may do what `other` allows.
    pub fn covers(self, other: Mode) -> bool {
        ModeSet(COVERED[self.index()]).has(other)
    }

    /// The weakest mode that covers both.
    pub fn joined(self, other: Mode) -> Mode {
        let covers_both = |mode: &Mode| mode.covers(self) && mode.covers(other);
        let mut modes = Mode::ALL.into_iter();
        modes
            .find(covers_both)
            .expect("exclusive covers every mode")
    }

    /// What the field calls it.
    pub fn name(self) -> &'static str {
        match self {
            Mode::IntentionShared => "IS",
            Mode::IntentionExclusive => "IX",
            Mode::Shared => "S",
            Mode::SharedIntentionExclusive => "SIX",
            Mode::Exclusive => "X",
        }
    }

    /// The place in [`Mode::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }
}

impl KeyMode {
    /// As a mode of any lock.
    pub fn mode(self) -> Mode {
        match self {
            KeyMode::Shared => Mode::Shared,
            KeyMode::Beside => Mode::IntentionExclusive,
            KeyMode::Exclusive => Mode::Exclusive,
        }
    }

    /// How the keyspace is held by who need not lock keys in it. Not always the mode of the key: an
    /// intention on the keyspace says nothing of one of its keys.
    pub fn whole(self) -> Mode {
        match self {
            KeyMode::Shared => Mode::Shared,
            KeyMode::Beside | KeyMode::Exclusive => Mode::Exclusive,
        }
    }

    /// What its holder announces on the keyspace.
    pub fn intention(self) -> Mode {
        match self {
            KeyMode::Shared => Mode::IntentionShared,
            KeyMode::Beside | KeyMode::Exclusive => Mode::IntentionExclusive,
        }
    }
}

impl ModeSet {
    /// Adds a mode.
    pub fn add(&mut self, mode: Mode) {
        self.0 |= 1 << mode.index();
    }

    /// Whether the mode is one of them.
    pub fn has(self, mode: Mode) -> bool {
        self.0 & (1 << mode.index()) != 0
    }

    /// Whether some mode is in both.
    pub fn meets(self, other: ModeSet) -> bool {
        self.0 & other.0 != 0
    }

    /// Those that are not in `other`.
    #[must_use]
    pub fn without(self, other: ModeSet) -> ModeSet {
        ModeSet(self.0 & !other.0)
    }
}

#[cfg(test)]
mod tests;
