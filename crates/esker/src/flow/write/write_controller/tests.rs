//! Tests of `write_controller`.

use super::*;

#[test]
fn writers_look_for_rates_only_while_there_are_any() {
    // Two keyspaces are limited; one is freed, and the other is dropped.
    let controller = WriteController::new(1 << 20, 1 << 20, Arc::default());
    let is_any = || controller.is_any_limited.load(Ordering::Relaxed);
    assert!(!is_any());
    let (one, other) = (KeyspaceId(1), KeyspaceId(2));
    controller.set_rate(one, 1_000, None);
    controller.set_rate(other, 2_000, Some("a file".into()));
    assert!(is_any());
    controller.set_rate(one, RATE_UNLIMITED, None);
    assert!(is_any());
    controller.forget(other);
    assert!(!is_any());
    assert_eq!(controller.rate(other), (RATE_UNLIMITED, None));
    assert_eq!(controller.rates.read().unwrap().len(), 1);
    // One that never had any.
    controller.forget(KeyspaceId(3));
    assert!(!is_any());
}
