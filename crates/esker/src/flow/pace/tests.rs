//! Tests of `pace`.

use std::sync::Arc;

use super::*;
use crate::env::clock::Clock;
use crate::env::sim::world::SimWorld;

#[test]
fn what_was_paid_before_is_waited_for() {
    // A thousand bytes a second: the first piece passes, the second waits for the first.
    let world = SimWorld::new(0);
    let pace = Pace::new(1000);
    pace.pay(3000, &world.env());
    assert_eq!(world.clock.monotonic(), Duration::ZERO);
    pace.pay(1, &world.env());
    assert_eq!(world.clock.monotonic(), Duration::from_secs(3));
}

#[test]
fn a_lifted_rate_lets_waiters_go() {
    // While one waits an hour for its turn, a job lifts the rate: it goes on at once.
    let world = SimWorld::new(0);
    let pace = Arc::new(Pace::new(1));
    pace.pay(3600, &world.env());
    let lifting = Arc::clone(&pace);
    let job = Box::new(move || lifting.set_rate(0));
    let env = world.env();
    env.pool.spawn(crate::env::pool::Priority::Low, "lift", job);
    pace.pay(1, &env);
    assert_eq!(world.clock.monotonic(), Duration::ZERO);
}
