//! By what a new database is known.

use crate::env::bundle::Env;
use crate::env::random::Random;
use crate::store::version::state::Identity;

/// The identity of a database that is created now.
pub fn fresh(env: &Env) -> Identity {
    let created = env.clock.unix_time();
    let seed = created.as_nanos() as u64 ^ u64::from(std::process::id()) << 32;
    let bytes = Random::new(seed).bytes(16);
    Identity {
        database_id: bytes.try_into().expect("sixteen bytes were asked for"),
        created_unix_s: created.as_secs(),
    }
}
