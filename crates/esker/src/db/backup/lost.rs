//! Where repair puts what it takes out of a database: nothing is ever deleted.

use std::path::{Path, PathBuf};

use crate::base::types::error::{Error, Result};
use crate::env::copy::link_or_copy;
use crate::env::fs::Fs;
use crate::store::names::{LOST_DIR, lost_draft_name, lost_name};

/// How many files of one name the folder takes: each repair adds one of a name at most.
const SAME_NAME_MAX: usize = 1000;

/// Files that leave the database: first they get a second name in the folder, and once nothing
/// needs the first name any more, that goes. A crash in between leaves both.
pub struct Lost<'a> {
    fs: &'a dyn Fs,
    dir: &'a Path,
    saved: Vec<String>,
}

impl<'a> Lost<'a> {
    /// No files yet.
    pub fn new(fs: &'a dyn Fs, dir: &'a Path) -> Lost<'a> {
        let saved = Vec::new();
        Lost { fs, dir, saved }
    }

    /// Gives each of `names` a second name in the folder, for good.
    pub fn save(&mut self, names: impl IntoIterator<Item = String>) -> Result<()> {
        let folder = self.dir.join(LOST_DIR);
        let mut is_made = false;
        for name in names {
            if !is_made {
                self.fs.create_folder(&folder)?;
                is_made = true;
            }
            let target = self.free_name(&folder, &name)?;
            // A copy is no copy until all of it is there.
            let draft = folder.join(lost_draft_name(&name));
            if self.fs.exists(&draft)? {
                self.fs.remove_file(&draft)?;
            }
            link_or_copy(self.fs, &self.dir.join(&name), &draft)?;
            self.fs.rename(&draft, &target)?;
            self.saved.push(name);
        }
        if is_made {
            self.fs.sync_dir(&folder)?;
        }
        Ok(())
    }

    /// Gives one more file a second name in the folder, and leaves it its first.
    pub fn keep_copy(&mut self, name: String) -> Result<()> {
        let kept = self.saved.len();
        self.save([name])?;
        self.saved.truncate(kept);
        Ok(())
    }

    /// Takes away the first names of everything that was saved.
    pub fn remove_saved(self) -> Result<()> {
        for name in &self.saved {
            let path = self.dir.join(name);
            if self.fs.exists(&path)? {
                self.fs.remove_file(&path)?;
            }
        }
        self.fs.sync_dir(self.dir)
    }

    fn free_name(&self, folder: &Path, name: &str) -> Result<PathBuf> {
        for count in 0..SAME_NAME_MAX {
            let path = folder.join(lost_name(name, count));
            if !self.fs.exists(&path)? {
                return Ok(path);
            }
        }
        let place = folder.display();
        Err(Error::invalid(format!(
            "{place} has too many files named {name}; move them away"
        )))
    }
}
