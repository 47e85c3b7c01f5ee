//! The stage's files from elsewhere: taken in among its writes, and exported to another database.

use super::*;
use esker::Expiry;

impl Stage {
    /// Takes in files that a writer made of random entries, for one keyspace or two.
    pub fn ingest(&mut self) {
        let number = self.number;
        let alive = self.logged_lives();
        let mut random = std::mem::replace(&mut self.set_random, Random::new(0));
        let pick = |random: &mut Random| alive[random.below(alive.len() as u64) as usize];
        let targets = BTreeSet::from([pick(&mut random), pick(&mut random)]);
        let mut actions = Vec::new();
        for &life in &targets {
            // In the order in which they act: what deletes ranges, then each key once.
            if random.one_in(3) {
                let mut ends = [0; 2].map(|_| random.below(60));
                ends.sort_unstable();
                let [start, end] = ends.map(|end| format!("k{end:03}").into_bytes());
                actions.push((life, Action::DeleteRange(start, end)));
            }
            actions.push((life, Action::Put(marker_key(number), marker_value(number))));
            let keys: BTreeSet<u64> = (0..random.below(12)).map(|_| random.below(60)).collect();
            for key in keys {
                let key = format!("k{key:03}").into_bytes();
                let len = [60, 500, 2_000][random.below(3) as usize];
                let value = format!("{number}:").bytes().cycle().take(len).collect();
                let mut until = 1000 * (self.clock.unix_seconds() + 1 + random.below(40));
                if random.one_in(2) {
                    until += random.below(1000);
                }
                actions.push((
                    life,
                    match random.below(6) {
                        0 => Action::Delete(key),
                        1 => Action::Merge(key, u64::from(number).to_le_bytes().to_vec()),
                        2 => Action::PutUntil(key, value, until),
                        _ => Action::Put(key, value),
                    },
                ));
            }
        }
        self.set_random = random;
        // As durable as what was synced, once it is there.
        self.play_actions(actions, Durability::Sync, |stage, actions| {
            stage.commit_files(actions)
        });
    }

    fn commit_files(&self, actions: &[(usize, Action)]) -> esker::Result<()> {
        let env = self.env();
        let lives: BTreeSet<usize> = actions.iter().map(|(life, _)| *life).collect();
        let mut sets = Vec::new();
        for life in lives {
            let keyspace = self.keyspace_of(life);
            let dir = PathBuf::from(format!("/sets/{}-{life}", self.number));
            let mut options = KeyspaceOptions {
                merge: Some(self.journal.lock().unwrap().lives[life].rule.clone()),
                ..KeyspaceOptions::default()
            };
            options.sst.file_size_bytes = 2 << 10;
            if keyspace.name() == ORDERED {
                options.comparator = own_comparator();
            }
            if self.number.is_multiple_of(2) {
                options.sst.compression = esker::Compression::Searchable;
            }
            let mut writer = SstWriter::create_in(&env, &dir, options)?;
            for (_, action) in actions.iter().filter(|(owner, _)| *owner == life) {
                match action {
                    Action::Put(key, value) => writer.put(key, value)?,
                    Action::PutUntil(key, value, until) => {
                        writer.put_until(key, value, Expiry::from_unix_ms(*until))?;
                    }
                    Action::Delete(key) => writer.delete(key)?,
                    Action::DeleteRange(start, end) => writer.delete_range(start, end)?,
                    Action::Merge(key, operand) => writer.merge(key, operand)?,
                }
            }
            writer.finish()?;
            sets.push((keyspace, dir));
        }
        let parts: Vec<_> = sets.iter().map(|(keyspace, dir)| (keyspace, dir)).collect();
        let options = IngestOptions::default().transfer(match self.number % 3 {
            0 => Transfer::Copy,
            1 => Transfer::Move,
            _ => Transfer::Link,
        });
        self.db().ingest_all(&parts, &options)?;
        Ok(())
    }

    /// Exports all keyspaces, has another database take them in, holds that against the journal,
    /// and removes both.
    pub fn check_export(&mut self, dir: &Path) {
        let names = self.db().keyspaces();
        let all: Vec<_> = names
            .iter()
            .map(|name| self.db().existing_keyspace(name).expect("listed just now"))
            .collect();
        let all: Vec<_> = all.iter().collect();
        let (set, other) = (dir.join("set"), dir.join("db"));
        let made = self.db().export_all(&all, &set);
        if self.hear("export", made).is_none() {
            return;
        }
        let taken = open_with(Db::builder(&other).env(self.env()), self.is_changed)
            .and_then(|db| Ok((db.ingest_by_name(&set, &IngestOptions::default())?, db)));
        if let Some((_, db)) = self.hear("ingest an export", taken) {
            // What was taken in has no mark there.
            self.compare_contents(&db, Loss::Kill).unwrap();
            let closed = db.close();
            self.hear("close the other", closed);
        }
        for dir in [set, other] {
            for name in self.sim.list(&dir).unwrap_or_default() {
                // A folder that is not empty stays.
                let _ = self.sim.remove_file(&dir.join(name));
            }
        }
    }
}
