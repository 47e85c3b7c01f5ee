//! Tests of `gate`.

use super::*;

#[test]
fn the_first_fault_is_kept() {
    // Later failures are echoes of the first; the user needs the first.
    let gate = Gate::default();
    assert!(gate.check_write().is_ok());
    gate.fail(&Error::corruption("first"));
    gate.fail(&Error::corruption("second"));
    let error = gate.check_write().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Faulted);
    assert!(error.to_string().contains("first") && !error.to_string().contains("second"));
    assert!(gate.check_read().is_ok());
}

#[test]
fn lack_of_space_passes() {
    // Out of space is the one refusal that ends by itself.
    let gate = Gate::default();
    gate.set_full(Some(Error::new(ErrorKind::OutOfSpace, "disk full")));
    assert_eq!(
        gate.check_write().unwrap_err().kind(),
        ErrorKind::OutOfSpace
    );
    gate.set_full(None);
    assert!(gate.check_write().is_ok());
}

#[test]
fn closing_refuses_reads_too() {
    // And only the first close says that it closed.
    let gate = Gate::default();
    assert!(gate.close() && !gate.close());
    assert_eq!(gate.check_write().unwrap_err().kind(), ErrorKind::Closed);
    assert_eq!(gate.check_read().unwrap_err().kind(), ErrorKind::Closed);
}

#[test]
fn read_only_refuses_writes() {
    // With the remedy in the message.
    let gate = Gate::default();
    gate.set_read_only();
    let error = gate.check_write().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.message().contains("read-only"));
}
