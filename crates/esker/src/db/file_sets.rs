//! What handles do with files from elsewhere: each method names the flow below.

use std::path::Path;

use crate::base::types::error::Result;
use crate::db::handle::Db;
use crate::db::ingest::adopting::{self, IngestOptions, Part};
use crate::db::ingest::by_name;
use crate::db::ingest::exporting;
use crate::db::ingest::sst_writer::FileSetSummary;
use crate::db::keyspace_handle::Keyspace;

impl Keyspace {
    /// Takes in the files in `dir`, which an [`SstWriter`](crate::SstWriter) wrote or an export
    /// made, as if all that is in them were written now: above what the keyspace holds. All of it
    /// is visible at one moment, and after a crash either all or nothing is there.
    ///
    /// The files are checked before anything changes, and become part of the database as they are:
    /// it takes about as long as reading them once, and without `verify` hardly any time. From then
    /// on nobody may write to the files of the set: they are those of the database.
    ///
    /// At the end all writers wait for a flush of what the keyspace got a moment ago and for one
    /// record of the manifest; readers do not wait. For as long the keyspace is locked as by a
    /// transaction: who holds locks in it is waited for, an optimistic transaction that wrote to it
    /// is refused if it is committed right then, and a plain write that waits for more than a
    /// second too: as where a set must be written anew for what the keyspace holds, and somebody
    /// writes there all the time. A transaction that read or wrote a key that is in the files is
    /// refused when it is committed later.
    ///
    /// Gives what came into the database: with [`Place::Below`](crate::Place) that may be less than
    /// the set holds.
    ///
    /// Errors: `Invalid` for another order of keys or merge operator, and when there is no finished
    /// set; `Corruption` for files that are damaged or not those that are listed; `Unsupported` for
    /// a newer format; `LockTimeout` when a transaction keeps a lock in the keyspace; `Conflict`
    /// when one is prepared that claims a key between the first and the last of a file; `Closed`
    /// when the database is closed meanwhile, which waits for this. Nothing is changed then, here
    /// or there.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path().join("db"))?;
    /// use esker::{IngestOptions, KeyspaceOptions, SstWriter};
    ///
    /// db.put("anna", "in port")?;
    /// let files = dir.path().join("files");
    /// let mut writer = SstWriter::create(&files, KeyspaceOptions::default())?;
    /// writer.put("anna", "at sea")?;
    /// writer.put("berta", "in port")?;
    /// writer.finish()?;
    /// let taken = db.ingest(&files, &IngestOptions::default())?;
    /// assert_eq!(taken.entry_count, 2);
    /// assert_eq!(db.get("anna")?.expect("it is there"), "at sea");
    /// # Ok(())
    /// # }
    /// ```
    pub fn ingest(&self, dir: impl AsRef<Path>, options: &IngestOptions) -> Result<FileSetSummary> {
        let part = Part {
            target: self.parts(),
            dir: dir.as_ref(),
            name: None,
        };
        adopting::ingest(self.database().core(), &[part], options)
    }

    /// Makes a set of files, in the new directory `dir`, of all that the keyspace holds: for
    /// [`Keyspace::ingest`] into another database, or to be kept. Nothing is copied where files can
    /// have second names, and what becomes of the database does not touch them.
    ///
    /// Writes go on meanwhile. Large values come along with the segments that they lie in, which
    /// may hold values of other keyspaces too.
    ///
    /// Errors: `Invalid` when the directory is there and not empty; those of a flush; `OutOfSpace`
    /// and `Io`. What was made is removed again then; what a crash leaves is never taken for a set.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path().join("db"))?;
    /// use esker::{Db, IngestOptions};
    ///
    /// db.put("anna", "in port")?;
    /// let files = dir.path().join("files");
    /// db.export(&files)?;
    /// db.put("anna", "at sea")?;
    ///
    /// let other = Db::open(dir.path().join("other"))?;
    /// let ships = other.keyspace("ships")?;
    /// ships.ingest(&files, &IngestOptions::default())?;
    /// assert_eq!(ships.get("anna")?.expect("it is there"), "in port");
    /// # Ok(())
    /// # }
    /// ```
    pub fn export(&self, dir: impl AsRef<Path>) -> Result<FileSetSummary> {
        exporting::export(self.database().core(), &[self.parts()], dir.as_ref())
    }
}

impl Db {
    /// As [`Keyspace::export`], of several keyspaces at one moment: a batch over them is in the set
    /// whole or not at all.
    ///
    /// Errors: as that; `Invalid` for a keyspace that is named twice, and for one of another
    /// database.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path().join("db"))?;
    /// let crew = db.keyspace("crew")?;
    /// db.batch().put(&db, "anna", "in port").put(&crew, "anna", "seven").commit()?;
    /// let exported = db.export_all(&[&db, &crew], dir.path().join("files"))?;
    /// assert_eq!(exported.entry_count, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn export_all(
        &self,
        keyspaces: &[&Keyspace],
        dir: impl AsRef<Path>,
    ) -> Result<FileSetSummary> {
        let parts = keyspaces
            .iter()
            .map(|keyspace| keyspace.parts_in(self.database()));
        let parts: Vec<_> = parts.collect::<Result<_>>()?;
        exporting::export(self.database().core(), &parts, dir.as_ref())
    }

    /// As [`Keyspace::ingest`], of several sets into several keyspaces, at one moment: all of them
    /// or none. A keyspace may be named several times, with sets of an `SstWriter`: each comes
    /// above the one before, as if it were written later.
    ///
    /// Errors: as that; `Invalid` for a keyspace that is named twice with an export, or to be
    /// placed below what is there, and for one of another database.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path().join("db"))?;
    /// use esker::{IngestOptions, KeyspaceOptions, SstWriter};
    ///
    /// let (ships, crews) = (dir.path().join("ships"), dir.path().join("crews"));
    /// for (files, value) in [(&ships, "in port"), (&crews, "seven")] {
    ///     let mut writer = SstWriter::create(files, KeyspaceOptions::default())?;
    ///     writer.put("anna", value)?;
    ///     writer.finish()?;
    /// }
    /// let crew = db.keyspace("crew")?;
    /// // Nobody ever sees the ship without its crew.
    /// db.ingest_all(&[(&db, &ships), (&crew, &crews)], &IngestOptions::default())?;
    /// assert_eq!(crew.get("anna")?.expect("it is there"), "seven");
    /// # Ok(())
    /// # }
    /// ```
    pub fn ingest_all<P: AsRef<Path>>(
        &self,
        sets: &[(&Keyspace, P)],
        options: &IngestOptions,
    ) -> Result<FileSetSummary> {
        let parts = sets.iter().map(|(keyspace, dir)| {
            Ok(Part {
                target: keyspace.parts_in(self.database())?,
                dir: dir.as_ref(),
                name: None,
            })
        });
        let parts: Vec<Part<'_>> = parts.collect::<Result<_>>()?;
        adopting::ingest(self.database().core(), &parts, options)
    }

    /// Takes in all keyspaces of the set in `dir`, at one moment, each into the one of the name
    /// that it has there; where there is none it is made, with the settings that it had. Gives the
    /// names too.
    ///
    /// Errors: as [`Keyspace::ingest`]; `Unsupported` for a merge operator that is not known.
    /// The set is checked before a keyspace is made; one that was made when another error comes, or
    /// a crash, stays, empty.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// # let db = esker::Db::open(dir.path().join("db"))?;
    /// use esker::{Db, IngestOptions};
    ///
    /// let crew = db.keyspace("crew")?;
    /// crew.put("anna", "seven")?;
    /// db.export_all(&[&db, &crew], dir.path().join("files"))?;
    ///
    /// let other = Db::open(dir.path().join("other"))?;
    /// let options = IngestOptions::default();
    /// let (_, names) = other.ingest_by_name(dir.path().join("files"), &options)?;
    /// assert_eq!(names, ["default", "crew"]);
    /// assert_eq!(other.keyspace("crew")?.get("anna")?.expect("it is there"), "seven");
    /// # Ok(())
    /// # }
    /// ```
    pub fn ingest_by_name(
        &self,
        dir: impl AsRef<Path>,
        options: &IngestOptions,
    ) -> Result<(FileSetSummary, Vec<String>)> {
        by_name::ingest_by_name(self.database().core(), dir.as_ref(), options)
    }
}
