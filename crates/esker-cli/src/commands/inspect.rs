//! Showing what lies in single files of a database: which ones, and one after the other.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use esker::ErrorKind;
use esker::internals::store::names::FileName;
use serde_json::json;

use crate::contents::page::{Page, Wholeness};
use crate::contents::{manifest, sst, vlog, wal};
use crate::fail::{Code, Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::open;
use crate::out::Out;

/// Show what lies in the files of a database, also in damaged ones
#[derive(Debug, Args)]
#[command(after_help = "\
Reads single files without opening the database, passes over damage, and changes nothing:
  wal        segments of the log: every batch and its writes
  vlog       segments of the value log: every value, held against its checksum
  sst        sorted files: properties, parts and every data block
  manifest   manifests: every edit of the set of files

With --json each thing found is one line. Exits with 3 if some bytes could not be read; at the
end of the newest segment of the log and of the manifest that is what a crash leaves.

Examples:
  esker inspect manifest           every manifest of the database
  esker inspect sst 000012.sst     one file, looked for here and then in the database
  esker inspect wal --json | jq 'select(.item == \"batch\")'")]
pub struct Inspect {
    /// Which files: wal, vlog, sst or manifest
    #[arg(value_name = "KIND", value_enum, hide_possible_values = true)]
    kind: Kind,
    /// Only this file; else all of that kind in the database
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Which files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Segments of the log.
    Wal,
    /// Segments of the value log.
    Vlog,
    /// Sorted files.
    Sst,
    /// Manifests.
    Manifest,
}

impl Kind {
    fn has(self, name: FileName) -> bool {
        match self {
            Kind::Wal => matches!(name, FileName::Wal(_)),
            Kind::Vlog => matches!(name, FileName::Vlog(_)),
            Kind::Sst => matches!(name, FileName::Sst(_)),
            Kind::Manifest => matches!(name, FileName::Manifest(_)),
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Kind::Wal => "segment of the log",
            Kind::Vlog => "segment of the value log",
            Kind::Sst => "sorted file",
            Kind::Manifest => "manifest",
        }
    }
}

/// Shows the files; damage is told in its place and exits with 3.
pub fn inspect(shared: &GlobalFlags, args: &Inspect) -> Outcome {
    let kind = args.kind;
    let paths = match &args.file {
        Some(file) => vec![place_of(shared, file)],
        None => all_of(kind, open::directory(shared)?)?,
    };
    let mut out = Out::lock();
    let mut wholeness = Wholeness::Whole;
    for path in &paths {
        match show(kind, shared, path, &mut out) {
            Ok(found) => wholeness = wholeness.and(found),
            // Another process that has the database open removed it meanwhile.
            Err(Stop::Engine(error)) if args.file.is_none() && error.is_missing_file() => {}
            Err(Stop::Engine(error)) => return Err(error.into()),
            Err(Stop::Here(failure)) => return Err(failure),
        }
    }
    out.finish()?;
    if paths.is_empty() {
        remark!("esker: the database has no {}", kind.noun());
    }
    match wholeness {
        Wholeness::Whole => Ok(()),
        Wholeness::Damaged => {
            remark!(
                "esker: some bytes could not be read; `esker verify` tells whether that matters"
            );
            Err(Failure::Silent(Code::NotFound))
        }
    }
}

/// Why the show ends.
enum Stop {
    Engine(esker::Error),
    Here(Failure),
}

impl From<esker::Error> for Stop {
    fn from(error: esker::Error) -> Stop {
        Stop::Engine(error)
    }
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Stop {
        Stop::Here(error.into())
    }
}

fn show(kind: Kind, shared: &GlobalFlags, path: &Path, out: &mut Out) -> Result<Wholeness, Stop> {
    let mut page = Page::new(out, shared, path);
    // What opens is read before the first line, so that a file that is gone leaves no heading.
    match kind {
        Kind::Wal => {
            let items = esker::internals::db::inspect::wal(path)?;
            page.heading("segment of the log")?;
            for item in items {
                wal::show(&mut page, &item?)?;
            }
        }
        Kind::Vlog => match esker::internals::db::inspect::vlog(path) {
            Ok(contents) => vlog::show(&mut page, &contents)?,
            Err(error) => show_broken(&mut page, error)?,
        },
        Kind::Sst => match esker::internals::db::inspect::sst(path) {
            Ok(contents) => sst::show(&mut page, &contents)?,
            Err(error) => show_broken(&mut page, error)?,
        },
        Kind::Manifest => {
            let contents = esker::internals::db::inspect::manifest(path)?;
            manifest::show(&mut page, &contents)?;
        }
    }
    Ok(page.wholeness())
}

// A file of which nothing can be read is told as damage; other errors are errors.
fn show_broken(page: &mut Page<'_>, error: esker::Error) -> Result<(), Stop> {
    if error.kind() != ErrorKind::Corruption {
        return Err(error.into());
    }
    page.heading("damaged")?;
    Ok(page.damage(error.message(), json!({}))?)
}

/// Where the file is: as the command line says, else in the database.
fn place_of(shared: &GlobalFlags, file: &Path) -> PathBuf {
    match &shared.db {
        Some(dir) if !file.exists() && dir.join(file).exists() => dir.join(file),
        _ => file.to_owned(),
    }
}

/// All files of that kind in the directory, oldest first.
fn all_of(kind: Kind, dir: &Path) -> Outcome<Vec<PathBuf>> {
    let failed = |error| Failure::system(format_args!("cannot list {}", dir.display()), &error);
    let mut names = Vec::new();
    for entry in fs::read_dir(dir).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let name = name.to_str().and_then(FileName::parse);
        names.extend(name.filter(|name| kind.has(*name)));
    }
    names.sort_unstable();
    let paths = names.into_iter().map(|name| dir.join(name.to_string()));
    Ok(paths.collect())
}
