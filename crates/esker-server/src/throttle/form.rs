//! What settings of limits look like: those of Pegasus.

use std::time::Duration;

/// Longest that a call may be made to wait: clients give up after about so long.
pub const DELAY_MAX: Duration = Duration::from_secs(10);

/// From so many units a second on, each call waits so long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Calls or bytes within a second.
    pub units: u64,
    /// How long a call beyond them waits: before it is done, or before it is refused.
    pub wait: Duration,
}

/// A limit of calls or bytes a second: beyond the first step they wait, beyond the second one they
/// are refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Throttle {
    /// Beyond it calls wait.
    pub delay: Option<Step>,
    /// Beyond it calls are refused.
    pub reject: Option<Step>,
}

/// How a client is denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// It hears nothing, and gives up.
    Silently,
    /// It is told to ask anew where the partition is.
    Elsewhere,
}

/// Which clients are denied, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Denial {
    /// How.
    pub how: Denied,
    /// Those that read.
    pub reads: bool,
    /// Those that write.
    pub writes: bool,
}

impl Throttle {
    /// Reads `20000*delay*100,30000*reject*200`: units a second of the whole table, what becomes of
    /// those beyond, milliseconds.
    ///
    /// Errors: what is wrong, and what a right one looks like.
    pub fn parse(text: &str) -> Result<Throttle, String> {
        let mut throttle = Throttle::default();
        for part in text.split(',') {
            let fields: Vec<&str> = part.split('*').map(str::trim).collect();
            let [units, what, millis] = fields[..] else {
                return Err(wrong(part, "it has not three fields"));
            };
            let units = units_of(units).ok_or_else(|| wrong(part, "the first is no number"))?;
            let wait = millis.parse().map(Duration::from_millis);
            let wait = wait.map_err(|_| wrong(part, "the last is no number of milliseconds"))?;
            if wait > DELAY_MAX {
                let most = DELAY_MAX.as_millis();
                return Err(wrong(part, &format!("nobody waits longer than {most} ms")));
            }
            let step = match what {
                "delay" => &mut throttle.delay,
                "reject" => &mut throttle.reject,
                _ => return Err(wrong(part, "the second is delay or reject")),
            };
            if step.replace(Step { units, wait }).is_some() {
                return Err(wrong(part, &format!("{what} is there twice")));
            }
        }
        Ok(throttle)
    }

    /// The share of one partition of so many, as Pegasus counts it: rounded down, and one more.
    pub fn share(self, partition_count: u32) -> Throttle {
        let share = |step: Step| Step {
            units: (step.units / u64::from(partition_count.max(1))).saturating_add(1),
            ..step
        };
        Throttle {
            delay: self.delay.map(share),
            reject: self.reject.map(share),
        }
    }
}

impl Denial {
    /// Reads `timeout*all`, `reconfig*write` and their like.
    ///
    /// Errors: what a right one looks like.
    pub fn parse(text: &str) -> Result<Denial, String> {
        let wrong = || {
            format!(
                "{text:?} is none: write timeout (clients hear nothing) or reconfig (they ask anew \
                 where the partition is), an asterisk, and all, read or write, like timeout*write"
            )
        };
        let (how, whom) = text.split_once('*').ok_or_else(wrong)?;
        let how = match how.trim() {
            "timeout" => Denied::Silently,
            "reconfig" => Denied::Elsewhere,
            _ => return Err(wrong()),
        };
        let (reads, writes) = match whom.trim() {
            "all" => (true, true),
            "read" => (true, false),
            "write" => (false, true),
            _ => return Err(wrong()),
        };
        Ok(Denial { how, reads, writes })
    }
}

/// Reads the bytes a second that reads of a table may bring: `20000`, `20K`, `20M`, or the form of
/// [`Throttle`], of which `reject` counts.
///
/// Errors: what is wrong, and what a right one looks like.
pub fn parse_read_bytes(text: &str) -> Result<u64, String> {
    let told = "of reads the bytes are known afterwards, so they are refused and never delayed: \
                write the bytes a second, like 20000, 20K or 20M";
    let bytes = match text.contains('*') {
        true => Throttle::parse(text)?.reject.map(|step| step.units),
        false => units_of(text.trim()),
    };
    match bytes {
        Some(0) | None => Err(format!("{text:?} is no limit; {told}")),
        Some(bytes) => Ok(bytes),
    }
}

/// A number, in ones, thousands (`K`) or millions (`M`).
fn units_of(text: &str) -> Option<u64> {
    let (digits, times) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1_000),
        b'M' => (&text[..text.len() - 1], 1_000_000),
        _ => (text, 1),
    };
    let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number: u64 = is_plain.then(|| digits.parse().ok()).flatten()?;
    number.checked_mul(times)
}

fn wrong(part: &str, why: &str) -> String {
    format!(
        "{part:?} is no limit, for {why}: write it like 20000*delay*100,30000*reject*200 (beyond \
         20000 a second each call waits 100 ms, beyond 30000 it is refused after 200 ms; K and M \
         are thousands and millions)"
    )
}

#[cfg(test)]
mod tests;
