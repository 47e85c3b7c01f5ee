//! What a test asked of a database and what it was told; and whether a database agrees.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use esker::internals::base::hooks::merge_builtin::builtin;
use esker::{Db, Durability, MergeRule, Readable, Retain, RetainRule, retain};

use crate::workload::REPLICA;

/// One change of one key or range.
#[derive(Clone, Debug)]
pub enum Action {
    /// Sets a value.
    Put(Vec<u8>, Vec<u8>),
    /// Sets a value until that moment, in unix milliseconds.
    PutUntil(Vec<u8>, Vec<u8>, u64),
    /// Removes a key.
    Delete(Vec<u8>),
    /// Removes the keys from the first up to the second.
    DeleteRange(Vec<u8>, Vec<u8>),
    /// Folds an operand.
    Merge(Vec<u8>, Vec<u8>),
}

/// What became of a write as far as its caller knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It was under way.
    Pending,
    /// It was acknowledged.
    Done,
    /// It failed, and it is not known whether it was done.
    Unknown,
    /// It failed, and nothing was written; or a crash took it.
    Refused,
    /// It was found after a crash with nothing unsynced left.
    Settled,
}

/// One batch. In each keyspace it also puts a marker, by which its survival is known.
#[derive(Clone, Debug)]
pub struct Entry {
    pub number: u32,
    pub durability: Durability,
    pub actions: Vec<(usize, Action)>,
    pub answer: Answer,
}

impl Entry {
    /// The lives of keyspaces that it writes to.
    pub fn lives(&self) -> BTreeSet<usize> {
        self.actions.iter().map(|(life, _)| *life).collect()
    }

    fn is_logged(&self) -> bool {
        self.durability != Durability::Memory
    }
}

/// Whether a keyspace is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    Creating,
    Alive,
    Dropping,
    Dropped,
}

/// One life of a keyspace, from its creation to its drop.
#[derive(Clone, Debug)]
pub struct Life {
    pub name: String,
    pub rule: MergeRule,
    pub presence: Presence,
    /// Writes with an index below this are in sorted files, if they went to this life.
    pub flushed: usize,
}

/// What came between the last acknowledgement and the reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// A power cut: what was not synced may be gone.
    PowerCut,
    /// A killed process: what was `Memory` may be gone.
    Kill,
}

/// Everything asked and answered so far.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    pub entries: Vec<Entry>,
    pub lives: Vec<Life>,
    /// Logged writes with an index below this are on the medium.
    pub floor: usize,
}

/// The value of a marker: its length and bytes follow from the number.
pub fn marker_value(number: u32) -> Vec<u8> {
    let len = 8 + number as usize * 37 % 150;
    let bytes = format!("marker {number} ");
    bytes.bytes().cycle().take(len).collect()
}

/// The key of a marker.
pub fn marker_key(number: u32) -> Vec<u8> {
    format!("!{number:08}").into_bytes()
}

/// Where chaff lies: what the retain rule drops, which may be there or not.
const CHAFF: &[u8] = b"~";

/// Chaff that goes with a write: each key is written again and again, so that an older version that
/// came up again would show.
pub fn chaff(number: u32) -> Option<(Vec<u8>, Vec<u8>)> {
    if !number.is_multiple_of(3) {
        return None;
    }
    let key = [CHAFF, format!("{}", number / 3 % 4).as_bytes()].concat();
    // Some lie in the value log.
    let padding = [0, 50, 700][number as usize / 3 % 3];
    Some((key, format!("{number:0padding$}").into_bytes()))
}

/// Drops the chaff; of other values it is asked to look at some.
pub fn retain_rule() -> Arc<dyn RetainRule> {
    retain::by("no chaff", |entry| {
        if entry.key.starts_with(CHAFF) {
            return Ok(Retain::Drop);
        }
        if entry.key.len().is_multiple_of(2) {
            entry.value()?;
        }
        Ok(Retain::Keep)
    })
}

/// A merge operator by name.
pub fn rule(name: &str) -> MergeRule {
    builtin(name).expect("a built-in operator")
}

/// What a keyspace holds.
pub type Found = BTreeMap<Vec<u8>, Vec<u8>>;

// A key as the model holds it: a value, until when, and the operands behind it.
#[derive(Default)]
struct Cell {
    base: Option<(Vec<u8>, Option<u64>)>,
    operands: Vec<Vec<u8>>,
}

impl Journal {
    /// The life of that name that is there, or is coming or going.
    pub fn life_of(&self, name: &str) -> Option<usize> {
        let is_there = |life: &Life| life.name == name && life.presence != Presence::Dropped;
        self.lives.iter().rposition(is_there)
    }

    /// Everything written so far to all keyspaces and logged is on the medium.
    pub fn note_synced(&mut self, count: usize) {
        self.floor = self.floor.max(count);
    }

    /// Compares a database with what was asked and answered. `Ok` with the numbers of the
    /// writes that it holds, else what is wrong with it.
    pub fn check(&self, db: &Db, now_unix_ms: u64, loss: Loss) -> Result<BTreeSet<u32>, String> {
        let mut found: BTreeMap<usize, Found> = BTreeMap::new();
        for name in db.keyspaces() {
            let life = self.life_of(&name);
            let life = life.ok_or_else(|| format!("keyspace {name} was invented"))?;
            let keyspace = db.existing_keyspace(&name).ok_or("a keyspace went away")?;
            found.insert(life, read_all(&keyspace, &name)?);
        }
        for (index, life) in self.lives.iter().enumerate() {
            if life.presence == Presence::Alive && !found.contains_key(&index) {
                return Err(format!("keyspace {} is gone", life.name));
            }
        }
        let present = self.survivors(&found)?;
        self.check_chaff(&present, db, &found, now_unix_ms)?;
        self.check_comparator(&present, &found, loss)?;
        self.check_contents(&present, &found, now_unix_ms)?;
        Ok(present)
    }

    /// As [`Journal::check`] of a database of which some bytes were damaged: `Ok(false)` when
    /// reads failed, but every value that was read is right.
    pub fn check_damaged(&self, db: &Db, now_unix_ms: u64) -> Result<bool, String> {
        let names: Vec<String> = self
            .lives
            .iter()
            .filter(|life| life.presence == Presence::Alive)
            .map(|life| life.name.clone())
            .collect();
        let keyspaces = names.iter().map(|name| db.existing_keyspace(name));
        let keyspaces: Option<Vec<_>> = keyspaces.collect();
        let keyspaces = keyspaces.ok_or("a keyspace is gone")?;
        let can_read = |keyspace: &esker::Keyspace| {
            let mut entries = keyspace.iter()?;
            entries.try_for_each(|entry| entry.map(drop))
        };
        if keyspaces.iter().all(|keyspace| can_read(keyspace).is_ok()) {
            return self.check(db, now_unix_ms, Loss::Kill).map(|_| true);
        }
        let present = self
            .entries
            .iter()
            .filter(|entry| entry.answer == Answer::Settled);
        let present = present.map(|entry| entry.number).collect();
        for keyspace in keyspaces {
            let life = self.life_of(keyspace.name()).expect("named by a life");
            let expected = self.contents_of(life, &present, now_unix_ms);
            check_readable(&keyspace, &expected)?;
        }
        Ok(false)
    }

    /// What was settled may be lost again, from some write on that was not synced.
    pub fn unsettle(&mut self) {
        for entry in self.entries.iter_mut().skip(self.floor) {
            if entry.answer == Answer::Settled {
                entry.answer = Answer::Pending;
            }
        }
    }

    // The numbers of the writes of which the marker was found, in every keyspace or in none.
    fn survivors(&self, found: &BTreeMap<usize, Found>) -> Result<BTreeSet<u32>, String> {
        let mut present = BTreeSet::new();
        let mut marker_count = 0;
        for entry in &self.entries {
            let key = marker_key(entry.number);
            let lives = entry.lives();
            let seen = lives.iter().filter_map(|life| found.get(life));
            let hits: Vec<bool> = seen.map(|all| all.contains_key(&key)).collect();
            let hit_count = hits.iter().filter(|is_hit| **is_hit).count();
            if hit_count > 0 && hit_count < hits.len() {
                return Err(format!(
                    "half of the batch {} ({:?}) is there",
                    entry.number, entry.durability
                ));
            }
            if hit_count > 0 {
                present.insert(entry.number);
            }
            marker_count += hit_count;
        }
        let is_marker = |key: &&Vec<u8>| key.starts_with(b"!");
        let in_all: usize = found
            .values()
            .map(|all| all.keys().filter(is_marker).count())
            .sum();
        if in_all != marker_count {
            return Err("a marker was invented".into());
        }
        Ok(present)
    }

    fn check_comparator(
        &self,
        present: &BTreeSet<u32>,
        found: &BTreeMap<usize, Found>,
        loss: Loss,
    ) -> Result<(), String> {
        let mut first_lost: Option<u32> = None;
        // By keyspace, the first `Memory` write that is not there.
        let mut forgotten: BTreeMap<usize, u32> = BTreeMap::new();
        for (index, entry) in self.entries.iter().enumerate() {
            let lives = entry.lives();
            if !lives.iter().any(|life| found.contains_key(life)) {
                // Its keyspaces were dropped: nobody can tell.
                continue;
            }
            let Entry {
                number,
                durability,
                answer,
                ..
            } = entry;
            let is_present = present.contains(number);
            let is_single_memory = !entry.is_logged() && lives.len() == 1;
            if is_present {
                if *answer == Answer::Refused {
                    return Err(format!("write {number} was refused or lost, and is there"));
                }
                // What is never in the log is behind nothing in it.
                let is_behind = lives.iter().any(|life| self.lives[*life].name != REPLICA);
                if let Some(lost) = first_lost.filter(|_| is_behind) {
                    return Err(format!("write {number} is there, {lost} before it is not"));
                }
                if let Some((_, lost)) = forgotten
                    .iter()
                    .find(|(life, _)| is_single_memory && lives.contains(life))
                {
                    return Err(format!("memory write {number} outlived {lost} before it"));
                }
                continue;
            }
            let must = match answer {
                Answer::Settled => true,
                Answer::Refused | Answer::Unknown | Answer::Pending => false,
                Answer::Done => {
                    let is_flushed = |life: &usize| index < self.lives[*life].flushed;
                    let is_held = match loss {
                        Loss::PowerCut => index < self.floor,
                        Loss::Kill => true,
                    };
                    lives.iter().any(is_flushed) || entry.is_logged() && is_held
                }
            };
            if must {
                return Err(format!(
                    "write {number} ({durability:?}, {answer:?}) is lost"
                ));
            }
            if matches!(answer, Answer::Refused | Answer::Unknown) {
                continue;
            }
            if entry.is_logged() {
                first_lost.get_or_insert(*number);
            } else if is_single_memory {
                for life in lives {
                    forgotten.entry(life).or_insert(*number);
                }
            }
        }
        Ok(())
    }

    fn check_contents(
        &self,
        present: &BTreeSet<u32>,
        found: &BTreeMap<usize, Found>,
        now_unix_ms: u64,
    ) -> Result<(), String> {
        for (life, all) in found {
            let expected = self.contents_of(*life, present, now_unix_ms);
            if let Some(difference) = difference(&expected, all) {
                return Err(format!("keyspace {}: {difference}", self.lives[*life].name));
            }
        }
        Ok(())
    }

    // What the retain rule drops is there as it was written last, or not at all.
    fn check_chaff(
        &self,
        present: &BTreeSet<u32>,
        db: &Db,
        found: &BTreeMap<usize, Found>,
        now_unix_ms: u64,
    ) -> Result<(), String> {
        for life in found.keys() {
            let name = &self.lives[*life].name;
            let keyspace = db.existing_keyspace(name).ok_or("a keyspace went away")?;
            let written = self.all_contents_of(*life, present, now_unix_ms);
            for (key, value) in written.iter().filter(|(key, _)| key.starts_with(CHAFF)) {
                let there = keyspace.get(key).map_err(|error| error.to_string())?;
                if there.is_some_and(|there| there[..] != value[..]) {
                    let key = key.escape_ascii();
                    return Err(format!(
                        "keyspace {name}: an older version of {key} came up"
                    ));
                }
            }
        }
        Ok(())
    }

    /// What a keyspace holds when those writes were done and no others, but for chaff.
    pub fn contents_of(&self, life: usize, present: &BTreeSet<u32>, now_unix_ms: u64) -> Found {
        let mut all = self.all_contents_of(life, present, now_unix_ms);
        all.retain(|key, _| !key.starts_with(CHAFF));
        all
    }

    fn all_contents_of(&self, life: usize, present: &BTreeSet<u32>, now_unix_ms: u64) -> Found {
        let mut cells: BTreeMap<Vec<u8>, Cell> = BTreeMap::new();
        let done = self
            .entries
            .iter()
            .filter(|entry| present.contains(&entry.number));
        for (at, action) in done.flat_map(|entry| &entry.actions) {
            if *at == life {
                act(&mut cells, action);
            }
        }
        let rule = &self.lives[life].rule;
        let values = cells
            .into_iter()
            .filter_map(|(key, cell)| Some((value_of(&key, cell, rule, now_unix_ms)?, key)));
        values.map(|(value, key)| (key, value)).collect()
    }

    /// Takes note of what a crash left: what is not in `present` is gone for good, and what is
    /// there will stay, whatever comes, if `is_durable`.
    pub fn settle(&mut self, present: &BTreeSet<u32>, names: &[String], is_durable: bool) {
        for life in &mut self.lives {
            let is_there = names.contains(&life.name);
            life.presence = match (life.presence, is_there) {
                (Presence::Creating | Presence::Dropping, true) => Presence::Alive,
                (Presence::Creating | Presence::Dropping, false) => Presence::Dropped,
                (other, _) => other,
            };
        }
        for entry in &mut self.entries {
            let lives = &self.lives;
            let is_visible = entry
                .actions
                .iter()
                .any(|(life, _)| lives[*life].presence == Presence::Alive);
            if !is_visible {
                continue;
            }
            entry.answer = match (present.contains(&entry.number), is_durable) {
                (false, _) => Answer::Refused,
                (true, true) => Answer::Settled,
                (true, false) if entry.answer == Answer::Settled => Answer::Settled,
                (true, false) => Answer::Done,
            };
        }
    }
}

fn act(cells: &mut BTreeMap<Vec<u8>, Cell>, action: &Action) {
    match action {
        Action::Put(key, value) => {
            let base = Some((value.clone(), None));
            let operands = Vec::new();
            cells.insert(key.clone(), Cell { base, operands });
        }
        Action::PutUntil(key, value, until) => {
            let base = Some((value.clone(), Some(*until)));
            let operands = Vec::new();
            cells.insert(key.clone(), Cell { base, operands });
        }
        Action::Delete(key) => {
            cells.remove(key);
        }
        Action::DeleteRange(start, end) => cells.retain(|key, _| key < start || key >= end),
        Action::Merge(key, operand) => {
            let cell = cells.entry(key.clone()).or_default();
            cell.operands.push(operand.clone());
        }
    }
}

fn value_of(key: &[u8], cell: Cell, rule: &MergeRule, now_unix_ms: u64) -> Option<Vec<u8>> {
    let is_live = |until: &Option<u64>| until.is_none_or(|until| now_unix_ms < until);
    let base = cell.base.filter(|(_, until)| is_live(until));
    if cell.operands.is_empty() {
        return base.map(|(value, _)| value);
    }
    let base = base.as_ref().map(|(value, _)| value.as_slice());
    let operands: Vec<&[u8]> = cell.operands.iter().map(Vec::as_slice).collect();
    Some(
        rule.0
            .fold(key, base, &operands)
            .expect("built-in operators always fold"),
    )
}

/// Everything in a keyspace but chaff, read forwards; backwards and by key it must be the same.
pub fn read_all(keyspace: &impl Readable, name: &str) -> Result<Found, String> {
    let failed = |error: esker::Error| format!("reading {name}: {error}");
    let mut all = Found::new();
    let mut last: Option<Vec<u8>> = None;
    for entry in keyspace.iter().map_err(failed)? {
        let (key, value) = entry.map_err(failed)?;
        if last.as_ref().is_some_and(|last| last[..] >= key[..]) {
            return Err(format!("keyspace {name} is out of order"));
        }
        last = Some(key.to_vec());
        all.insert(key.to_vec(), value.to_vec());
    }
    let mut backwards = all.iter().rev();
    for entry in keyspace.iter().map_err(failed)?.rev() {
        let (key, value) = entry.map_err(failed)?;
        if backwards.next() != Some((&key.to_vec(), &value.to_vec())) {
            return Err(format!("keyspace {name} differs when read backwards"));
        }
    }
    if backwards.next().is_some() {
        return Err(format!("keyspace {name} is shorter when read backwards"));
    }
    for (key, value) in all.iter().step_by(17) {
        let got = keyspace.get(key).map_err(failed)?;
        if got.as_deref() != Some(value) {
            return Err(format!("keyspace {name}: a get differs from the scan"));
        }
    }
    all.retain(|key, _| !key.starts_with(CHAFF));
    Ok(all)
}

// Every key by itself: its value, or an error; and what a scan yields before it fails.
fn check_readable(keyspace: &esker::Keyspace, expected: &Found) -> Result<(), String> {
    for (key, value) in expected {
        match keyspace.get(key) {
            Ok(Some(got)) if got[..] == value[..] => {}
            Ok(got) => {
                let key = String::from_utf8_lossy(key);
                return Err(format!("a get of {key} gave a wrong {got:?}"));
            }
            Err(_) => {}
        }
    }
    let Ok(entries) = keyspace.iter() else {
        return Ok(());
    };
    let readable = entries.map_while(|entry| entry.ok());
    let readable = readable.filter(|(key, _)| !key.starts_with(CHAFF));
    for ((key, value), right) in readable.zip(expected) {
        if (&key[..], &value[..]) != (&right.0[..], &right.1[..]) {
            let key = String::from_utf8_lossy(&key);
            return Err(format!("a scan gave a wrong entry at {key}"));
        }
    }
    Ok(())
}

/// What tells the two apart first.
pub fn difference(expected: &Found, found: &Found) -> Option<String> {
    let text = |bytes: &[u8]| {
        let front = &bytes[..bytes.len().min(60)];
        format!(
            "{:?} ({} bytes)",
            String::from_utf8_lossy(front),
            bytes.len()
        )
    };
    for (key, value) in expected {
        match found.get(key) {
            None => return Some(format!("key {} is missing", text(key))),
            Some(other) if other != value => {
                let (other, value) = (text(other), text(value));
                return Some(format!("key {} is {other} instead of {value}", text(key)));
            }
            Some(_) => {}
        }
    }
    let surplus = found.keys().find(|key| !expected.contains_key(*key));
    surplus.map(|key| format!("key {} should not be there", text(key)))
}
