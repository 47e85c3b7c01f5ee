//! Tests of `rate_limiter`.

use super::*;

#[test]
fn writers_wait_in_proportion() {
    // At 10 MiB/s, one MiB every 100 ms: the first passes, later ones wait for those before.
    let limiter = RateLimiter::default();
    assert_eq!(limiter.admit(1 << 20, Duration::ZERO), Duration::ZERO);
    limiter.set_rate(10 << 20);
    assert_eq!(limiter.admit(1 << 20, Duration::ZERO), Duration::ZERO);
    let second = limiter.admit(1 << 20, Duration::ZERO);
    assert_eq!(second, Duration::from_millis(100));
    let later = limiter.admit(1, Duration::from_millis(190));
    assert_eq!(later, Duration::from_millis(10));
    assert_eq!(limiter.admit(1, Duration::from_secs(5)), Duration::ZERO);
}
