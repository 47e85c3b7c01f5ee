//! A network of a simulated cluster, which loses, delays and doubles frames.

use esker::internals::env::random::Random;
use esker_raft::NodeId;

/// A frame on its way.
struct Sent {
    arrives: u64,
    from: NodeId,
    to: NodeId,
    frame: Vec<u8>,
}

/// Frames on their way.
#[derive(Default)]
pub struct Net {
    frames: Vec<Sent>,
}

impl Net {
    /// Sends frames at `now`; one in ten is lost, others take up to five ticks, some come twice.
    pub fn send(
        &mut self,
        from: NodeId,
        frames: Vec<(NodeId, Vec<u8>)>,
        now: u64,
        dice: &mut Random,
    ) {
        for (to, frame) in frames {
            if dice.one_in(10) {
                continue;
            }
            for _ in 0..1 + u64::from(dice.one_in(15)) {
                self.frames.push(Sent {
                    arrives: now + dice.below(5),
                    from,
                    to,
                    frame: frame.clone(),
                });
            }
        }
    }

    /// What has arrived by `now`, but for what comes from or to those that are cut off.
    pub fn arrived(&mut self, now: u64, cut: &[NodeId]) -> Vec<(NodeId, Vec<u8>)> {
        let all = std::mem::take(&mut self.frames).into_iter();
        let (due, later): (Vec<_>, Vec<_>) = all.partition(|sent| sent.arrives <= now);
        self.frames = later;
        let is_whole = |sent: &Sent| !cut.contains(&sent.from) && !cut.contains(&sent.to);
        let whole = due.into_iter().filter(is_whole);
        whole.map(|sent| (sent.to, sent.frame)).collect()
    }
}
