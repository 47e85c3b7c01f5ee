//! How long something takes, counted in what the machine gets done meanwhile.
//!
//! A claim on time cannot be held on a machine that does much else. So somebody else does little
//! pieces of the same kind all the while, a wait and a write that is synced, and they are counted:
//! what slows the one slows the other.

use std::io::Write;
use std::ops::Range;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The wait of a beat. On a machine at rest its write takes little beside.
const WAIT: Duration = Duration::from_millis(50);

/// Longest that writes may stand still for a leader that is hurt: fifteen seconds of a machine at
/// rest. Beside a load of 12 they stood for 62 beats at the most.
pub const GAP_BEATS_MAX: usize = 300;

/// A thread that waits and writes, until this is dropped.
pub struct Beats {
    /// When each ended, from the beginning on.
    ended: Arc<Mutex<Vec<Duration>>>,
    over: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Beats {
    /// Their time is told from `began` on.
    pub fn start(began: Instant) -> Beats {
        let ended = Arc::<Mutex<Vec<Duration>>>::default();
        let (over, is_over) = channel::<()>();
        let noted = Arc::clone(&ended);
        let thread = std::thread::spawn(move || {
            let mut file = tempfile::tempfile().unwrap();
            while is_over.recv_timeout(WAIT) == Err(RecvTimeoutError::Timeout) {
                file.write_all(b"one more").unwrap();
                file.sync_data().unwrap();
                noted.lock().unwrap().push(began.elapsed());
            }
        });
        Beats {
            ended,
            over: Some(over),
            thread: Some(thread),
        }
    }

    /// How many ended in that time.
    pub fn count(&self, time: &Range<Duration>) -> usize {
        let ended = self.ended.lock().unwrap();
        let until = |moment: Duration| ended.partition_point(|it| *it < moment);
        until(time.end).saturating_sub(until(time.start))
    }
}

impl Drop for Beats {
    fn drop(&mut self) {
        drop(self.over.take());
        if let Some(thread) = self.thread.take() {
            // It has panicked already, and said so.
            let _ = thread.join();
        }
    }
}
