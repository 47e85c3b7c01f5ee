//! The command line: the flags of every command, and one line for each command.

use clap::{Parser, Subcommand};

use crate::commands::{
    batch, bench, care, checkpoint, dump, file_sets, inspect, keyspaces, load, look, prepared,
    read, repair, settings, setup, write,
};
use crate::demo;
use crate::global_flags::GlobalFlags;
use crate::remote::{balance, kv, node, table};
use crate::serving::{cluster, serve};

const EXAMPLES: &str = "\
Examples:
  export ESKER_DB=harbour            name the database once, instead of --db each time
  esker put ship:anna 'in port'      write one value
  esker get ship:anna                print it
  esker scan ship:                   print the entries whose keys begin so
  esker load reviews.txt.gz          read many records; --help tells the formats
  esker levels --html tree.html      see where the files of the tree lie
  esker verify                       read every byte and check it
  esker repair                       tell what of a damaged database can be saved
  esker table list                   the tables of a cluster; `esker kv` reads and writes them

Keys and names of keyspaces are printed and read with the same escapes, and so are values where a
line has key and value: \\\\ is a backslash, \\t a tab, \\n a line feed, \\r a carriage return, and
\\xNN any byte, for bytes that are no UTF-8 and for characters that a terminal obeys. A value that
`put` is given and `get` prints alone is taken as it is. --hex and --base64 need no escapes.

Commands that only read change nothing, and work while another process has the database open.
Exit codes: 0 done, 1 something failed, 2 the command line makes no sense, 3 the key is not there, a
check did not pass or damage was found, 4 a write was sent to a cluster and may be there or not, 130
and 143 stopped by Ctrl-C or kill. Values go to standard output, all else to standard error.";

/// Work with an Esker database: an ordered key-value store in a directory.
#[derive(Debug, Parser)]
#[command(name = "esker", version, after_help = EXAMPLES, max_term_width = 100)]
pub struct Cli {
    /// What every command understands.
    #[command(flatten)]
    pub shared: GlobalFlags,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print the values of keys
    Get(read::Get),
    /// Set the value of a key
    Put(write::Put),
    /// Fold an operand into the value of a key
    Merge(write::Merge),
    /// Write many entries together or not at all
    Batch(batch::Batch),
    /// Remove a key, a prefix or a range
    Delete(write::Delete),
    /// Print when keys expire
    Expiry(read::Expiry),
    /// Print entries in the order of their keys
    Scan(read::Scan),
    /// Count entries
    Count(read::Count),
    /// Read records from files into the database
    Load(load::Load),
    /// Write entries as text that `load` reads back exactly
    Dump(dump::Dump),
    /// List, create and drop keyspaces
    Keyspaces(keyspaces::Keyspaces),
    /// List, commit and roll back prepared transactions
    Prepared(prepared::Prepared),
    /// Show what the database knows about itself
    Stats(look::Stats),
    /// Show the files of the tree, level by level
    Levels(look::Levels),
    /// Merge files so that nothing obsolete is left
    Compact(care::Compact),
    /// Make a second database from this one, by linking its files
    Checkpoint(checkpoint::Checkpoint),
    /// Put the files of a keyspace into a directory, for `ingest`
    Export(file_sets::Export),
    /// Take files into a keyspace: of an export, or as a program wrote them
    Ingest(file_sets::Ingest),
    /// Read every byte and check it
    Verify(care::Verify),
    /// Tell what of a damaged database can be saved, and save it
    Repair(repair::Repair),
    /// Show what lies in the files of a database, also in damaged ones
    Inspect(inspect::Inspect),
    /// List the settings: value, origin, range, meaning
    Settings(settings::Settings),
    /// Read and write keys of a table in a cluster
    Kv(kv::Kv),
    /// Create, list, describe and drop tables of a cluster
    Table(table::Table),
    /// Look after the nodes of a cluster
    Node(node::Node),
    /// Even out what the nodes of a cluster have
    Balance(balance::Balance),
    /// Run one node of a cluster
    Serve(serve::Serve),
    /// Run several nodes on this machine
    Cluster(cluster::Cluster),
    /// Measure: db_bench's dialects and more
    Bench(bench::Bench),
    /// Load real text, measure, kill itself, and prove that nothing was lost
    Demo(demo::Demo),
    /// Print completions for a shell
    Completions(setup::Completions),
    /// Print the manual page, or write one for each command
    Man(setup::Man),
    /// The part of the demo that gets killed
    #[command(hide = true)]
    DemoWriter(demo::DemoWriter),
}
