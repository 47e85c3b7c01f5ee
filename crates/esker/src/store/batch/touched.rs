//! The keyspaces that a batch writes to, each once.

use crate::base::types::id_map::IdMap;
use crate::base::types::ids::KeyspaceId;

/// Keyspaces up to which all of them are looked at; of more it is looked up whether one is known.
const LOOKED_AT_MAX: usize = 8;

/// The keyspaces that a batch writes to, in the order of their first entries. One takes no memory
/// of its own.
#[derive(Clone, Debug, Default)]
pub enum Touched {
    /// None yet.
    #[default]
    None,
    /// The only one.
    One(KeyspaceId),
    /// Several.
    Many(Box<Many>),
}

/// Several keyspaces.
#[derive(Clone, Debug, Default)]
pub struct Many {
    list: Vec<KeyspaceId>,
    /// The same, once there are many.
    known: IdMap<KeyspaceId, ()>,
}

impl Touched {
    /// Notes that the batch writes to one.
    #[inline]
    pub fn add(&mut self, keyspace: KeyspaceId) {
        match self {
            Touched::None => *self = Touched::One(keyspace),
            Touched::One(one) if *one == keyspace => {}
            Touched::One(one) => *self = Touched::of(&[*one, keyspace]),
            Touched::Many(many) => many.add(keyspace),
        }
    }

    /// Forgets all but the first `count`.
    pub fn truncate(&mut self, count: usize) {
        if count < self.list().len() {
            *self = Touched::of(&self.list()[..count]);
        }
    }

    /// All of them.
    pub fn list(&self) -> &[KeyspaceId] {
        match self {
            Touched::None => &[],
            Touched::One(one) => std::slice::from_ref(one),
            Touched::Many(many) => &many.list,
        }
    }

    fn of(list: &[KeyspaceId]) -> Touched {
        match list {
            [] => Touched::None,
            [one] => Touched::One(*one),
            several => {
                let mut many = Many::default();
                several.iter().for_each(|keyspace| many.add(*keyspace));
                Touched::Many(Box::new(many))
            }
        }
    }
}

impl Many {
    fn add(&mut self, keyspace: KeyspaceId) {
        // What is written one after the other mostly goes to the same one.
        if self.list.last() == Some(&keyspace) || self.has(keyspace) {
            return;
        }
        self.list.push(keyspace);
        if self.list.len() == LOOKED_AT_MAX + 1 {
            self.known = self.list.iter().map(|known| (*known, ())).collect();
        } else if self.list.len() > LOOKED_AT_MAX {
            self.known.insert(keyspace, ());
        }
    }

    fn has(&self, keyspace: KeyspaceId) -> bool {
        match self.list.len() <= LOOKED_AT_MAX {
            true => self.list.contains(&keyspace),
            false => self.known.contains_key(&keyspace),
        }
    }
}

#[cfg(test)]
mod tests;
