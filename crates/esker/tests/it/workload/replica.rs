//! The stage's unlogged keyspace: it holds the batches up to the mark that it tells.

use super::*;

impl Stage {
    /// The lives that are written to by what may be logged.
    pub(super) fn logged_lives(&self) -> Vec<usize> {
        let journal = self.journal.lock().unwrap();
        let lives = journal.lives.iter().enumerate();
        let is_meant = |life: &Life| life.presence == Presence::Alive && life.name != REPLICA;
        let alive = lives.filter(|(_, life)| is_meant(life));
        alive.map(|(index, _)| index).collect()
    }

    /// Writes one random batch with its number as the mark; now and then only the mark, or has the
    /// keyspace flushed.
    pub fn write_replica(&mut self) {
        let life = self.journal.lock().unwrap().life_of(REPLICA);
        if life.is_none() || self.db().existing_keyspace(REPLICA).is_none() {
            return;
        }
        let life = life.expect("asked just now");
        let mut random = std::mem::replace(&mut self.replica_random, Random::new(0));
        if random.one_in(8) {
            let flushed = self.keyspace_of(life).flush();
            let count = self.entry_count();
            if self.hear("flush the replica", flushed).is_some() {
                self.journal.lock().unwrap().lives[life].flushed = count;
            }
        }
        let number = self.number;
        let key = |random: &mut Random| format!("k{:03}", random.below(60)).into_bytes();
        let mut actions = Vec::new();
        if !random.one_in(6) {
            actions.push((life, Action::Put(marker_key(number), marker_value(number))));
            for _ in 0..random.below(4) {
                let key = key(&mut random);
                let len = [40, 300, 1_500][random.below(3) as usize];
                let value = format!("{number}.").bytes().cycle().take(len).collect();
                let mut until = 1000 * (self.clock.unix_seconds() + 1 + random.below(40));
                if random.one_in(2) {
                    until += random.below(1000);
                }
                let action = match random.below(8) {
                    0 => Action::Delete(key),
                    1 => Action::Merge(key, u64::from(number).to_le_bytes().to_vec()),
                    2 => Action::PutUntil(key, value, until),
                    3 => {
                        let mut end = key.clone();
                        end.push(b'5');
                        Action::DeleteRange(key, end)
                    }
                    _ => Action::Put(key, value),
                };
                actions.push((life, action));
            }
        }
        self.replica_random = random;
        self.play_actions(actions, Durability::Memory, |stage, actions| {
            stage.commit_marked(life, number, actions)
        });
    }

    fn commit_marked(
        &self,
        life: usize,
        number: u32,
        actions: &[(usize, Action)],
    ) -> esker::Result<()> {
        let now_ms = self.clock.unix_millis();
        let replica = self.keyspace_of(life);
        let mut batch = self.db().batch();
        batch.mark(&replica, number.to_be_bytes());
        for (_, action) in actions {
            match action {
                Action::Put(key, value) => batch.put(&replica, key, value),
                Action::PutUntil(key, value, until) if number % 4 == 1 => batch
                    .put(&replica, key, value)
                    .set_expiry(&replica, key, Some(end_of(*until))),
                Action::PutUntil(key, value, until) => match ttl_of(now_ms, *until) {
                    Some(ttl) => batch.put_with_ttl(&replica, key, value, ttl),
                    None => batch.put_until(&replica, key, value, Some(end_of(*until))),
                },
                Action::Delete(key) => batch.delete(&replica, key),
                Action::DeleteRange(start, end) => batch.delete_range(&replica, start, end),
                Action::Merge(key, operand) => batch.merge(&replica, key, operand),
            };
        }
        batch.commit()
    }

    /// Whether the unlogged keyspace of a database holds exactly the batches up to the mark that it
    /// tells, of which `present` are there, and tells the same of memory as of its files if nothing
    /// was written since the opening.
    pub(super) fn compare_mark(&self, db: &Db, present: &BTreeSet<u32>) -> Result<(), String> {
        let journal = self.journal.lock().unwrap();
        let Some(life) = journal.life_of(REPLICA) else {
            return Ok(());
        };
        let Some(replica) = db.existing_keyspace(REPLICA) else {
            return Ok(());
        };
        let told = replica.mark().map_err(|error| format!("mark: {error}"))?;
        let number = |mark: &[u8]| u32::from_be_bytes(mark.try_into().expect("four bytes"));
        let told = told.map(|mark| number(&mark));
        for entry in &journal.entries {
            let is_its = entry.lives().contains(&life) && entry.answer != Answer::Refused;
            let is_told = told.is_some_and(|told| entry.number <= told);
            if is_its && present.contains(&entry.number) != is_told {
                let number = entry.number;
                return Err(format!(
                    "the mark is {told:?}, and batch {number} is there: {}",
                    present.contains(&number)
                ));
            }
        }
        let flushed = replica.flushed_mark().map_err(|error| error.to_string())?;
        match flushed.map(|mark| number(&mark)) > told {
            true => Err("more is flushed than was written".into()),
            false => Ok(()),
        }
    }
}
