//! Signs of life on a terminal for work that takes more than a second; silent when piped.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work shorter than this shows nothing: a bar that flashes by says nothing.
const QUIET: Duration = Duration::from_secs(1);

/// Time between two drawings: smooth for the eye, nothing for the processor.
const TICK: Duration = Duration::from_millis(100);

/// A bar for work that knows how far it is. It draws on standard error, and only if that is a
/// terminal.
pub struct Bar {
    bar: ProgressBar,
    began: Instant,
    is_shown: bool,
}

impl Bar {
    /// A bar over `total` bytes, or without an end when nobody knows the total.
    pub fn bytes(doing: &str, total: Option<u64>) -> Bar {
        Bar::new(doing, total, bytes_template(total.is_some()))
    }

    /// A bar over `total` things, or without an end when nobody knows the total.
    pub fn things(doing: &str, total: Option<u64>) -> Bar {
        let template = match total {
            Some(_) => "{msg} {wide_bar} {human_pos} of {human_len}, {per_sec}, {eta} left",
            None => "{spinner} {msg} {human_pos}, {per_sec}",
        };
        Bar::new(doing, total, template)
    }

    fn new(doing: &str, total: Option<u64>, template: &str) -> Bar {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        bar.set_style(style(template));
        bar.set_message(doing.to_owned());
        Bar {
            bar,
            began: Instant::now(),
            is_shown: false,
        }
    }

    /// Tells how far the work is.
    pub fn set(&mut self, position: u64) {
        if !self.is_shown && self.began.elapsed() >= QUIET {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.is_shown = true;
        }
        self.bar.set_position(position);
    }

    /// Tells how far the work of a bar over bytes is, and how much it is in all.
    pub fn set_of(&mut self, position: u64, total: u64) {
        if self.bar.length() != Some(total) {
            self.bar.set_style(style(bytes_template(true)));
            self.bar.set_length(total);
        }
        self.set(position);
    }

    /// Writes a line on standard error without tearing the bar.
    pub fn say(&self, line: &str) {
        self.bar.suspend(|| remark!("{line}"));
    }
}

fn bytes_template(has_total: bool) -> &'static str {
    match has_total {
        true => {
            "{msg} {wide_bar} {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}, \
             {eta} left"
        }
        false => "{spinner} {msg} {binary_bytes}, {binary_bytes_per_sec}",
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates of this file are right")
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A turning sign for work that happens inside one call.
pub struct Spinner {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Spinner {
    /// Starts to turn a second from now, until dropped.
    pub fn start(doing: &str) -> Spinner {
        let (end, ended) = channel();
        let doing = doing.to_owned();
        let builder = std::thread::Builder::new();
        // Where the system gives no thread, the work is done without a sign.
        let thread = builder.spawn(move || turn(&doing, &ended)).ok();
        Spinner {
            end: Some(end),
            thread,
        }
    }
}

fn turn(doing: &str, ended: &Receiver<()>) {
    if ended.recv_timeout(QUIET) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    let bar = ProgressBar::new_spinner();
    bar.set_message(doing.to_owned());
    while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
        bar.tick();
    }
    bar.finish_and_clear();
}

impl Drop for Spinner {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // A panic while drawing has been printed already and harms no work.
            let _ = thread.join();
        }
    }
}
