//! Tests of `background_rate`.

use std::sync::Arc;

use super::*;
use crate::env::clock::Clock;
use crate::env::sim::world::SimWorld;

#[test]
fn what_was_paid_before_is_waited_for() {
    // A thousand bytes a second: the first piece passes, the second waits for the first.
    let world = SimWorld::new(0);
    let background_rate = BackgroundRate::new(1000);
    background_rate.request(3000, &world.env());
    assert_eq!(world.clock.monotonic(), Duration::ZERO);
    background_rate.request(1, &world.env());
    assert_eq!(world.clock.monotonic(), Duration::from_secs(3));
}

#[test]
fn a_lifted_rate_lets_waiters_go() {
    // While one waits an hour for its turn, a job lifts the rate: it goes on at once.
    let world = SimWorld::new(0);
    let background_rate = Arc::new(BackgroundRate::new(1));
    background_rate.request(3600, &world.env());
    let lifting = Arc::clone(&background_rate);
    let job = Box::new(move || lifting.set_rate(0));
    let env = world.env();
    env.pool.spawn(crate::env::pool::Priority::Low, "lift", job);
    background_rate.request(1, &env);
    assert_eq!(world.clock.monotonic(), Duration::ZERO);
}
