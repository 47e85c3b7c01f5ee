//! What is said of something that cannot be done.

use super::*;

#[test]
fn the_same_is_said_once_until_it_was_done_or_has_another_reason() {
    let mut complaints = Complaints::default();
    let line = complaints.line("no ship", "no wood");
    assert_eq!(line.as_deref(), Some("no ship: no wood"));
    assert_eq!(complaints.line("no ship", "no wood"), None);
    assert!(complaints.line("no boat", "no wood").is_some());
    assert!(complaints.line("no ship", "no nails").is_some());
    assert!(complaints.line("no ship", "no wood").is_some());
    assert!(complaints.is_of("no ship"));
    complaints.settle("no ship");
    assert!(!complaints.is_of("no ship"));
    assert!(complaints.line("no ship", "no wood").is_some());
}

#[test]
fn what_is_remembered_is_bounded() {
    let mut complaints = Complaints::default();
    for ship in 0..3 * REMEMBERED_MAX {
        complaints.line(&format!("no ship {ship}"), "no wood");
    }
    assert!(complaints.0.len() <= REMEMBERED_MAX);
}
