//! The command `kv`: keys of a table in a cluster.

use clap::{Args, Subcommand};

use crate::fail::{Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::remote::checks::{CheckAndSet, check_and_set};
use crate::remote::flags::{ClusterFlags, refuse_local};
use crate::remote::keys::{self, Place};
use crate::remote::link::Link;
use crate::remote::rows;
use crate::remote::scans;

/// Read and write keys of a table in a cluster
#[derive(Debug, Args)]
#[command(after_help = "\
A key of a table is a hash key and a sort key. Rows of one hash key lie together, are sorted by
their sort keys, and change together where a command says so.

Examples:
  export ESKER_META=127.0.0.1:34601 ESKER_TABLE=temp      name both once, for all commands below
  esker kv set --table temp ship:dora state 'in port'     set a value
  esker kv get --table temp ship:dora state               print it
  esker kv multi-set --table temp log:1 0007 sailed 0008 arrived    two rows, both or none
  esker kv scan --table temp ship:dora                    the rows of a hash key
  esker kv incr --table temp visits dora                  count

Each command has a page of its own: `esker kv set --help`. It works with a cluster of Esker and with
one of Apache Pegasus.")]
pub struct Kv {
    #[command(flatten)]
    cluster: ClusterFlags,
    /// Name of the table
    #[arg(long, value_name = "NAME", env = "ESKER_TABLE", global = true)]
    table: Option<String>,
    #[command(subcommand)]
    action: Action,
}

/// What to do with keys.
#[derive(Debug, Subcommand)]
enum Action {
    /// Print the value of a key
    Get(keys::Get),
    /// Set the value of a key
    Set(keys::Set),
    /// Remove a key
    Del(keys::Del),
    /// Tell whether a key is there
    Exists(keys::Exists),
    /// Print how many seconds a key has left
    Ttl(keys::Ttl),
    /// Add to a number, and print the sum
    Incr(keys::Incr),
    /// Set a value if another one, or the same, passes a check
    CheckAndSet(CheckAndSet),
    /// Print the values of several sort keys of one hash key
    MultiGet(rows::MultiGet),
    /// Set several sort keys of one hash key, all or none
    MultiSet(rows::MultiSet),
    /// Remove several sort keys of one hash key, all or none
    MultiDel(rows::MultiDel),
    /// Print rows
    Scan(scans::Scan),
    /// Count rows
    Count(scans::Count),
}

/// Reads or writes keys.
pub fn kv(shared: &GlobalFlags, args: &Kv) -> Outcome {
    refuse_local(shared)?;
    let name = args.table.as_deref().filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| {
        Failure::usage(
            "no table was named; give --table NAME or set ESKER_TABLE, `esker table list` lists \
             those there are",
        )
    })?;
    let link = Link::open(&args.cluster)?;
    let table = link.table(name)?;
    let place = Place {
        shared,
        link: &link,
        table: &table,
        name,
    };
    match &args.action {
        Action::Get(args) => keys::get(&place, args),
        Action::Set(args) => keys::set(&place, args),
        Action::Del(args) => keys::del(&place, args),
        Action::Exists(args) => keys::exists(&place, args),
        Action::Ttl(args) => keys::ttl_of(&place, args),
        Action::Incr(args) => keys::incr(&place, args),
        Action::CheckAndSet(args) => check_and_set(&place, args),
        Action::MultiGet(args) => rows::multi_get(&place, args),
        Action::MultiSet(args) => rows::multi_set(&place, args),
        Action::MultiDel(args) => rows::multi_del(&place, args),
        Action::Scan(args) => scans::scan(&place, args),
        Action::Count(args) => scans::count(&place, args),
    }
}
