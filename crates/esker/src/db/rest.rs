//! Who looks whether the database is at rest, and whether the limits of rest hold.

/// Looks in a row between which little was written until what was put off begins, though the
/// database is not at rest: four to six seconds, in which whoever writes several megabytes a second
/// fills a memtable or a segment of the log.
const CALM_LOOKS: u32 = 3;

/// The books of `settling`, under the lock of `db/work`.
///
/// Law: from a write until it was settled somebody looks. A look takes a while, and goes on without
/// the lock: so what is written during it is noted here, and followed by a timer when it ends.
#[derive(Debug, Default)]
pub struct Rest {
    watch: Watch,
    is_settling: bool,
    is_closing: bool,
    /// Whether much is being written.
    is_loaded: bool,
    /// Looks since much was written.
    calm_looks: u32,
    /// Whether something waits until less is written.
    is_put_off: bool,
}

/// Who looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Watch {
    /// Nobody: nothing was written since the last look.
    #[default]
    Nobody,
    /// A timer waits.
    Timer,
    /// A look is under way, and nothing was written since it began.
    Look,
    /// A look is under way, which has not seen what was written since it began.
    Overtaken,
}

/// What is to follow a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing: nobody looks any more.
    Sleep,
    /// The next look of the same rest.
    LookAgain,
    /// A timer for what was written meanwhile.
    WatchAnew,
}

impl Rest {
    /// Whether the limits of a database at rest hold, instead of those under load.
    pub fn is_settling(&self) -> bool {
        self.is_settling
    }

    /// Whether what there is to settle now will be seen without another timer.
    pub fn is_looked_after(&self) -> bool {
        self.is_settling || matches!(self.watch, Watch::Timer | Watch::Overtaken)
    }

    /// Something was written: the limits of load hold again. Says whether a timer must begin.
    #[must_use]
    pub fn note_write(&mut self) -> bool {
        self.is_settling = false;
        match self.watch {
            Watch::Nobody => {
                self.watch = Watch::Timer;
                true
            }
            Watch::Timer | Watch::Overtaken => false,
            Watch::Look => {
                self.watch = Watch::Overtaken;
                false
            }
        }
    }

    /// As [`Rest::note_write`], where a memtable or a segment of the log became full: what would
    /// rewrite it alone is put off, for more is about to come.
    #[must_use]
    pub fn note_load(&mut self) -> bool {
        self.is_loaded = true;
        self.calm_looks = 0;
        self.note_write()
    }

    /// Whether much is being written.
    pub fn is_loaded(&self) -> bool {
        self.is_loaded
    }

    /// Something waits until less is written. Whoever looks next has it looked for again.
    pub fn put_off(&mut self) {
        assert!(self.is_loaded, "it is put off for what is written");
        self.is_put_off = true;
    }

    /// Whether something waits until less is written.
    pub fn is_put_off(&self) -> bool {
        self.is_put_off
    }

    /// A timer found that the database is not at rest. Says whether what was put off may begin all
    /// the same, since little has been written for a while.
    #[must_use]
    pub fn note_unrest(&mut self) -> bool {
        self.calm_looks = self.calm_looks.saturating_add(1);
        self.calm_looks >= CALM_LOOKS && self.end_load()
    }

    /// The timer gives up: nothing can be settled any more. Says whether something was put off.
    #[must_use]
    pub fn stop(&mut self) -> bool {
        assert_eq!(self.watch, Watch::Timer, "only a timer gives up");
        self.watch = Watch::Nobody;
        self.end_load()
    }

    /// A timer found the database at rest, and looks what is to be done. Says whether something was
    /// put off, which may begin.
    #[must_use]
    pub fn begin_look(&mut self) -> bool {
        assert_eq!(self.watch, Watch::Timer, "each timer looks once");
        self.watch = Watch::Look;
        self.end_load()
    }

    fn end_load(&mut self) -> bool {
        self.is_loaded = false;
        std::mem::take(&mut self.is_put_off)
    }

    /// Lets the limits of rest hold, unless something was written since the look began; says
    /// whether they do.
    #[must_use]
    pub fn settle(&mut self) -> bool {
        if self.watch != Watch::Overtaken {
            self.is_settling = true;
        }
        self.is_settling
    }

    /// Lets the limits of rest hold, for who closes the database and waits.
    pub fn settle_at_close(&mut self) {
        self.is_settling = true;
        self.is_closing = true;
    }

    /// Whether somebody waits for that, to close the database: what can as well be done after the
    /// next opening is not done then.
    pub fn is_closing(&self) -> bool {
        self.is_closing
    }

    /// A look ended, which wants another if it `has_more`. The timer that is to follow is noted.
    #[must_use]
    pub fn end_look(&mut self, has_more: bool) -> Next {
        let next = match self.watch {
            Watch::Overtaken => Next::WatchAnew,
            Watch::Look if has_more => Next::LookAgain,
            Watch::Look => Next::Sleep,
            Watch::Nobody | Watch::Timer => panic!("only a look that has begun ends"),
        };
        self.watch = match next {
            Next::Sleep => Watch::Nobody,
            Next::LookAgain | Next::WatchAnew => Watch::Timer,
        };
        next
    }
}

#[cfg(test)]
mod tests;
