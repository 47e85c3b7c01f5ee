//! The live line: how far, how fast, how long still, and whether the engine stalls.

use std::time::Duration;

use crate::console::Remarks;
use crate::quantity;
use crate::run::course::Tick;

/// Time between two drawings: faster than this nobody reads.
const DRAW_EVERY: Duration = Duration::from_millis(250);

/// Clears what is left of an older, longer line.
const CLEAR: &str = "\x1b[K";

/// Draws one line over and over; silent when nobody watches.
pub struct Live<'a, 'b> {
    remarks: &'a Remarks<'b>,
    label: String,
    drawn: Option<Duration>,
    last: (Duration, u64),
}

impl<'a, 'b> Live<'a, 'b> {
    /// A line that begins with `label`.
    pub fn new(remarks: &'a Remarks<'b>, label: &str) -> Live<'a, 'b> {
        Live {
            remarks,
            label: label.into(),
            drawn: None,
            last: (Duration::ZERO, 0),
        }
    }

    /// Draws the line anew if it is time.
    pub fn tick(&mut self, tick: &Tick) {
        if !self.remarks.is_live() {
            return;
        }
        let is_due = self
            .drawn
            .is_none_or(|drawn| tick.elapsed >= drawn + DRAW_EVERY || tick.elapsed < drawn);
        if !is_due {
            return;
        }
        let (at, ops) = self.last;
        let seconds = tick.elapsed.saturating_sub(at).as_secs_f64();
        let rate = tick.ops.saturating_sub(ops) as f64 / seconds.max(1e-9);
        // A line that cannot be drawn is no reason to stop measuring.
        let _ = self
            .remarks
            .write(&format!("\r{}{CLEAR}", line(&self.label, tick, rate)));
        self.drawn = Some(tick.elapsed);
        self.last = (tick.elapsed, tick.ops);
    }

    /// Takes the line away.
    pub fn end(self) {
        if self.drawn.is_some() {
            // As above: only a picture is lost.
            let _ = self.remarks.write(&format!("\r{CLEAR}"));
        }
    }
}

/// The line for a person.
fn line(label: &str, tick: &Tick, rate: f64) -> String {
    let mut text = format!("{label:<12} : ");
    if tick.is_warming {
        text += "warming up, ";
    }
    let share = share_done(tick);
    if let Some(share) = share {
        text += &format!("{:5.1} %  ", share * 100.0);
    }
    text += &format!("{} op/s  ", quantity::count(rate.round()));
    if let Some(share) = share.filter(|share| *share > 0.0) {
        let left = tick.elapsed.as_secs_f64() * (1.0 - share) / share;
        // Less than a century; the cast keeps to the range of the integer.
        let left = left.clamp(0.0, 3e9) as u64;
        text += &format!("ETA {}:{:02}  ", left / 60, left % 60);
    }
    if !tick.stall.is_zero() {
        text += &format!("stalled {:.1} s", tick.stall.as_secs_f64());
    }
    text.trim_end().to_owned()
}

/// Which share is done, by count or by time.
fn share_done(tick: &Tick) -> Option<f64> {
    let by_ops = tick.ops_wanted.filter(|wanted| *wanted > 0);
    let by_ops = by_ops.map(|wanted| tick.ops as f64 / wanted as f64);
    let by_time = tick
        .duration
        .map(|all| tick.elapsed.as_secs_f64() / all.as_secs_f64().max(1e-9));
    let share = match (by_ops, by_time) {
        (Some(ops), Some(time)) => Some(ops.max(time)),
        (ops, time) => ops.or(time),
    };
    share.map(|share| share.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests;
