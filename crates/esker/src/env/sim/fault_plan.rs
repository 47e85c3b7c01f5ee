//! Which calls of a file system fail, and how: the plan of a test.

use std::path::Path;

use crate::env::random::Random;

/// What a call does to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallClass {
    /// Reads bytes of an open file, or maps it.
    Read,
    /// Appends, or writes at an offset.
    Write,
    /// Syncs a file or a directory.
    Sync,
    /// Makes, opens for writing, renames, links, removes, locks.
    Meta,
    /// Opens for reading, lists, asks for sizes and free space: changes nothing.
    Look,
}

/// How many calls of each class were made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallCounts {
    /// [`CallClass::Read`] calls.
    pub read: u64,
    /// [`CallClass::Write`] calls.
    pub write: u64,
    /// [`CallClass::Sync`] calls.
    pub sync: u64,
    /// [`CallClass::Meta`] calls.
    pub meta: u64,
    /// [`CallClass::Look`] calls.
    pub look: u64,
}

impl CallCounts {
    /// Calls that change the disk.
    pub fn mutating(&self) -> u64 {
        self.write + self.sync + self.meta
    }

    /// Calls of the kind that a plan is about.
    pub fn of(&self, calls: Calls) -> u64 {
        match calls {
            Calls::All => self.mutating() + self.read + self.look,
            Calls::Mutating => self.mutating(),
            Calls::Of(CallClass::Read) => self.read,
            Calls::Of(CallClass::Write) => self.write,
            Calls::Of(CallClass::Sync) => self.sync,
            Calls::Of(CallClass::Meta) => self.meta,
            Calls::Of(CallClass::Look) => self.look,
        }
    }

    fn add(&mut self, class: CallClass) {
        match class {
            CallClass::Read => self.read += 1,
            CallClass::Write => self.write += 1,
            CallClass::Sync => self.sync += 1,
            CallClass::Meta => self.meta += 1,
            CallClass::Look => self.look += 1,
        }
    }
}

/// Which calls a plan is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// Every call.
    All,
    /// Calls that change the disk: writes, syncs and changes of names.
    Mutating,
    /// Calls of one class.
    Of(CallClass),
}

impl Calls {
    fn cover(self, class: CallClass) -> bool {
        match self {
            Calls::All => true,
            Calls::Mutating => !matches!(class, CallClass::Read | CallClass::Look),
            Calls::Of(own) => own == class,
        }
    }
}

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is done; the error is `Io`.
    Io,
    /// Nothing is done; the error is `OutOfSpace`.
    NoSpace,
    /// Nothing is done; the error is `OutOfFiles`.
    NoFiles,
    /// A write puts only a part, from the front, then fails with `Io`. Other calls: as `Io`.
    ShortWrite,
    /// A file's sync fails and loses unsynced bytes for ever
    /// ([`crate::env::sim::fs::SimFs::lose_next_sync`]). Other calls: as `Io`.
    LostSync,
    /// A read succeeds with one bit changed, a map has one bit that differs from the file's. Other
    /// calls: nothing happens.
    BitFlip,
    /// The machine goes off during this call: a write or a change of names in flight may or
    /// may not survive, as the crash image decides. From then on every call fails.
    PowerOff,
}

/// One fault and the calls that it hits.
#[derive(Clone, Debug)]
pub struct Plan {
    fault: Fault,
    calls: Calls,
    skip: u64,
    is_sticky: bool,
    name_part: Option<String>,
}

impl Plan {
    /// Hits one call, after `skip` calls of its kind have passed.
    pub fn once(fault: Fault, calls: Calls, skip: u64) -> Plan {
        Plan {
            fault,
            calls,
            skip,
            is_sticky: false,
            name_part: None,
        }
    }

    /// Hits every call of its kind after `skip` of them have passed.
    pub fn sticky(fault: Fault, calls: Calls, skip: u64) -> Plan {
        Plan {
            is_sticky: true,
            ..Plan::once(fault, calls, skip)
        }
    }

    /// The same, for calls on files whose path contains `part`; only these are counted.
    pub fn in_files(self, part: &str) -> Plan {
        Plan {
            name_part: Some(part.to_owned()),
            ..self
        }
    }

    fn covers(&self, class: CallClass, path: &Path) -> bool {
        let is_named = |part: &String| path.to_string_lossy().contains(part.as_str());
        self.calls.cover(class) && self.name_part.as_ref().is_none_or(is_named)
    }
}

/// The plans in force, the counters, and the dice.
#[derive(Debug)]
pub struct Plans {
    plans: Vec<Plan>,
    counts: CallCounts,
    hit_count: u64,
    is_off: bool,
    random: Random,
}

/// What is to happen to one call.
#[derive(Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is done as if nobody watched.
    Pass,
    /// It meets a fault.
    Meet(Fault),
    /// The machine is off: nothing is done.
    Off,
}

impl Plans {
    /// No plans yet.
    pub fn new(seed: u64) -> Plans {
        Plans {
            plans: Vec::new(),
            counts: CallCounts::default(),
            hit_count: 0,
            is_off: false,
            random: Random::new(seed),
        }
    }

    /// Replaces the plans; their skips count from now.
    pub fn set(&mut self, plans: Vec<Plan>) {
        self.plans = plans;
    }

    /// Calls so far, failed ones included; those after the power went are not counted.
    pub fn counts(&self) -> CallCounts {
        self.counts
    }

    /// How many calls met a fault.
    pub fn hit_count(&self) -> u64 {
        self.hit_count
    }

    /// Whether the machine is off.
    pub fn is_off(&self) -> bool {
        self.is_off
    }

    /// A number from 0 to `bound - 1`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.random.below(bound)
    }

    /// Counts a call and decides what becomes of it. The first plan that hits wins; every plan
    /// counts the call.
    pub fn meet(&mut self, class: CallClass, path: &Path) -> Fate {
        if self.is_off {
            return Fate::Off;
        }
        self.counts.add(class);
        let mut hit = None;
        self.plans.retain_mut(|plan| {
            if !plan.covers(class, path) {
                return true;
            }
            if plan.skip > 0 {
                plan.skip -= 1;
                return true;
            }
            hit = hit.or(Some(plan.fault));
            plan.is_sticky
        });
        match hit {
            None => Fate::Pass,
            Some(fault) => {
                self.hit_count += 1;
                self.is_off = fault == Fault::PowerOff;
                Fate::Meet(fault)
            }
        }
    }
}
