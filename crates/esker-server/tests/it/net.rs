//! A network of a simulated cluster, which loses, delays and doubles what is sent.

use esker::internals::env::random::Random;
use esker_raft::NodeId;

/// Something on its way.
struct Sent<P> {
    arrives: u64,
    from: NodeId,
    to: NodeId,
    packet: P,
}

/// How bad a network is: one in so many is lost, one in so many comes twice, and everything is on
/// its way for fewer than so many ticks.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    pub lost_one_in: u64,
    pub twice_one_in: u64,
    pub delay_max: u64,
}

impl Default for Weather {
    fn default() -> Weather {
        Weather {
            lost_one_in: 10,
            twice_one_in: 15,
            delay_max: 5,
        }
    }
}

/// What is on its way; what comes later may overtake.
pub struct Net<P> {
    sent: Vec<Sent<P>>,
    pub weather: Weather,
}

impl<P> Default for Net<P> {
    fn default() -> Net<P> {
        Net {
            sent: Vec::new(),
            weather: Weather::default(),
        }
    }
}

impl<P: Clone> Net<P> {
    /// A network that is as bad as that.
    pub fn in_weather(weather: Weather) -> Net<P> {
        Net {
            weather,
            ..Net::default()
        }
    }

    /// Sends packets at `now`.
    pub fn send(&mut self, from: NodeId, packets: Vec<(NodeId, P)>, now: u64, dice: &mut Random) {
        let weather = self.weather;
        for (to, packet) in packets {
            if dice.one_in(weather.lost_one_in) {
                continue;
            }
            for _ in 0..1 + u64::from(dice.one_in(weather.twice_one_in)) {
                self.sent.push(Sent {
                    arrives: now + dice.below(weather.delay_max),
                    from,
                    to,
                    packet: packet.clone(),
                });
            }
        }
    }

    /// What has arrived by `now`: from where, where, what. What goes over a link that is cut, one
    /// way or both, is lost; who does not read finds it when it goes on.
    pub fn arrived(
        &mut self,
        now: u64,
        is_cut: impl Fn(NodeId, NodeId) -> bool,
        reads: impl Fn(NodeId) -> bool,
    ) -> Vec<(NodeId, NodeId, P)> {
        let all = std::mem::take(&mut self.sent).into_iter();
        let (due, later): (Vec<_>, Vec<_>) =
            all.partition(|sent| sent.arrives <= now && reads(sent.to));
        self.sent = later;
        let whole = due.into_iter().filter(|sent| !is_cut(sent.from, sent.to));
        whole
            .map(|sent| (sent.from, sent.to, sent.packet))
            .collect()
    }
}
