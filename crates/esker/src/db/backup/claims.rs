//! What the sorted files of a directory say of themselves: whose they are, and in which order.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::types::comparator::Comparator;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::db::backup::job::Job;
use crate::db::open_keyspace::DEFAULT_KEYSPACE;
use crate::store::cache::sharded::ShardedCache;
use crate::store::names::FileName;
use crate::store::sst::salvage::SstRemains;
use crate::store::version::remains::Remains;

/// What the sorted files of a directory say of themselves, as far as that can be read.
#[derive(Default)]
pub struct Claims {
    /// By what the database is known, if anybody says.
    pub database_id: Option<[u8; 16]>,
    owners: BTreeMap<FileNumber, [u8; 16]>,
    /// By keyspace; no two have one name.
    names: BTreeMap<KeyspaceId, String>,
    comparators: BTreeMap<KeyspaceId, Comparator>,
}

/// What one file says of itself.
struct Claim {
    number: FileNumber,
    owner: Option<[u8; 16]>,
    keyspace: KeyspaceId,
    name: Option<String>,
    comparator: Comparator,
}

impl Claims {
    /// Reads them; keyspaces may have their keys in one of `comparators`. What `remains` of a
    /// manifest learns which keyspaces were dropped, since others have their names.
    ///
    /// Errors: `Invalid` for files of several databases where no manifest says which is this one;
    /// those of reading that are no damage.
    pub fn read(
        job: &Job<'_>,
        mut remains: Option<&mut Remains>,
        comparators: &[Comparator],
    ) -> Result<Claims> {
        let mut read = Vec::new();
        for &number in &job.listing.ssts {
            read.extend(claim_of(job, number, comparators)?);
        }
        let owners = read.iter();
        let owners = owners.filter_map(|claim| Some((claim.number, claim.owner?)));
        let owners: BTreeMap<_, _> = owners.collect();
        let mut claims = Claims {
            database_id: match &remains {
                Some(remains) => Some(remains.version.identity.database_id),
                None => only_owner(&owners)?,
            },
            owners,
            ..Claims::default()
        };
        for claim in read {
            if claims.is_strangers(claim.number) {
                continue;
            }
            claims
                .comparators
                .entry(claim.keyspace)
                .or_insert(claim.comparator);
            let Some(name) = claim.name else {
                continue;
            };
            // A file that does not say of which database it is may be of another.
            if let (Some(remains), Some(_)) = (&mut remains, claim.owner) {
                remains.note_name(claim.keyspace, &name);
            }
            claims.take_name(claim.keyspace, name);
        }
        Ok(claims)
    }

    /// Whether the file says that another database wrote it.
    pub fn is_strangers(&self, number: FileNumber) -> bool {
        let owner = self.owners.get(&number);
        owner.is_some_and(|owner| self.database_id.is_some_and(|own| *owner != own))
    }

    /// The name under which a keyspace will be found.
    pub fn name_of(&self, id: KeyspaceId, remains: Option<&Remains>) -> String {
        let known = remains.map(|remains| &remains.version);
        if let Some(state) = known.and_then(|version| version.keyspace(id)) {
            return state.name.to_string();
        }
        if id == KeyspaceId::DEFAULT {
            return DEFAULT_KEYSPACE.into();
        }
        let is_known = |name: &str| {
            let mut states = known
                .into_iter()
                .flat_map(|version| version.keyspaces.values());
            states.any(|state| *state.name == *name)
        };
        let is_free = |name: &String| {
            let mut others = self.names.iter().filter(|(other, _)| **other != id);
            !is_known(name) && others.all(|(_, taken)| taken != name)
        };
        let own = self.names.get(&id).cloned();
        let made = (1..u32::MAX).map(|count| match count {
            1 => format!("recovered-{id}"),
            _ => format!("recovered-{id}-{count}"),
        });
        let mut names = own.into_iter().chain(made);
        let free = names.find(is_free);
        free.expect("there are fewer keyspaces than such names")
    }

    /// The order of a keyspace's keys, if the manifest or a file says.
    pub fn comparator_of<'a>(
        &'a self,
        id: KeyspaceId,
        remains: Option<&'a Remains>,
    ) -> Option<&'a Comparator> {
        let known = remains.and_then(|remains| remains.version.keyspace(id));
        let known = known.map(|state| &state.comparator);
        known.or_else(|| self.comparators.get(&id))
    }

    // Two keyspaces never have one name at a time: the newer one has it.
    fn take_name(&mut self, id: KeyspaceId, name: String) {
        let mut names = self.names.iter();
        let holder = names.find(|(_, taken)| **taken == name).map(|(id, _)| *id);
        if holder >= Some(id) || self.names.contains_key(&id) {
            return;
        }
        if let Some(older) = holder {
            self.names.remove(&older);
        }
        self.names.insert(id, name);
    }
}

fn claim_of(
    job: &Job<'_>,
    number: FileNumber,
    comparators: &[Comparator],
) -> Result<Option<Claim>> {
    let path = job.dir.join(FileName::Sst(number).to_string());
    let file = job.env.fs.open_read(&path)?;
    for comparator in std::iter::once(&Comparator::Bytewise).chain(comparators) {
        let cache = Arc::new(ShardedCache::new(0));
        let remains =
            match SstRemains::read(Arc::clone(&file), number.into(), comparator.clone(), cache) {
                // Another order than the file was written with.
                Err(error) if error.kind() == ErrorKind::Invalid => continue,
                remains => remains?,
            };
        return Ok(remains.props().map(|props| {
            let keyspace = props.keyspace;
            let name = std::str::from_utf8(&props.origin.keyspace_name);
            let is_default = |name: &str| name == DEFAULT_KEYSPACE;
            let is_fit = |name: &&str| {
                !name.is_empty() && is_default(name) == (keyspace == KeyspaceId::DEFAULT)
            };
            Claim {
                number,
                owner: props.origin.database_id,
                keyspace,
                name: name.ok().filter(is_fit).map(str::to_owned),
                comparator: comparator.clone(),
            }
        }));
    }
    Ok(None)
}

// Without a manifest nobody says which of two databases was here, and to take the files of both for
// one would mix them for good.
fn only_owner(owners: &BTreeMap<FileNumber, [u8; 16]>) -> Result<Option<[u8; 16]>> {
    let mut groups: BTreeMap<[u8; 16], Vec<String>> = BTreeMap::new();
    for (number, id) in owners {
        let name = FileName::Sst(*number).to_string();
        groups.entry(*id).or_default().push(name);
    }
    if groups.len() <= 1 {
        return Ok(groups.into_keys().next());
    }
    let told = groups.values().map(|names| names.join(", "));
    Err(Error::invalid(format!(
        "files of {} databases lie here, and no manifest says which is this one's: {}; move the \
         others away",
        groups.len(),
        told.collect::<Vec<_>>().join("; and ")
    )))
}
