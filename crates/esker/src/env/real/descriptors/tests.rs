//! Tests of `descriptors`.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

#[derive(Debug, Default)]
struct Counted(AtomicUsize);

impl FileKeeper for Counted {
    fn close_idle(&self) -> usize {
        let open = self.0.load(Ordering::SeqCst);
        self.0.store(open / 2, Ordering::SeqCst);
        open - open / 2
    }

    fn open_count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

#[test]
fn who_wants_little_gets_it_and_others_share_what_there_is() {
    // 1 024 descriptors, of which the program itself has 100.
    assert_eq!(share(1_024, 100, 300, 500), 300);
    // 796 of them for a database that wants 5 120: 4 096 files and 1 024 segments.
    assert_eq!(share(1_024, 100, 4_096, 5_120), 636);
    assert_eq!(share(1_024, 100, 1_024, 5_120), 159);
    // Where hardly any are left, most of them.
    assert_eq!(share(64, 20, 4_096, 5_120), 26);
    assert_eq!(share(64, 80, 4_096, 5_120), 0);
}

#[test]
fn a_refused_opening_closes_idle_files_until_it_passes() {
    // The first three times there is no descriptor; what is kept open gives way half by half.
    let keeper = Arc::new(Counted(AtomicUsize::new(100)));
    let weak: Weak<dyn FileKeeper> = Arc::downgrade(&(Arc::clone(&keeper) as Arc<dyn FileKeeper>));
    keep(100, &weak);
    for errno in [Errno::MFILE, Errno::NFILE] {
        let mut refusals = 3;
        let opened = patiently(|| {
            if refusals == 0 {
                return Ok(());
            }
            refusals -= 1;
            Err(errno.into())
        });
        opened.unwrap();
    }
    assert!(keeper.open_count() < 4, "{keeper:?}");
    let refused = patiently(|| Err::<(), _>(Errno::MFILE.into())).unwrap_err();
    assert!(is_shortage(&refused));
    assert_eq!(keeper.open_count(), 0);
}

#[test]
fn any_other_refusal_is_told_at_once() {
    let mut tries = 0;
    let refused = patiently(|| {
        tries += 1;
        Err::<(), _>(Errno::NOENT.into())
    });
    assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::NotFound);
    assert_eq!(tries, 1);
}
