//! Tests of the mark and of caught panics.

use super::*;

#[test]
fn the_mark_is_there_while_the_code_runs_and_gone_after_a_panic() {
    // Within each other, too: the inner end does not take the outer mark off.
    assert!(refuse().is_ok());
    run(|| {
        assert!(catch(|| assert!(is_running())).is_ok());
        assert!(refuse().is_err());
    });
    assert!(!is_running());
    assert_eq!(catch(|| panic!("one {}", 1)), Err::<(), _>("one 1".into()));
    assert!(!is_running());
    forbid();
}

#[test]
fn a_panic_may_carry_anything() {
    // Even what panics when it is dropped.
    struct Evil;
    impl Drop for Evil {
        fn drop(&mut self) {
            panic!("once more");
        }
    }
    let caught = catch(|| std::panic::panic_any(Evil));
    assert_eq!(caught, Err::<(), _>("no message".into()));
}

#[test]
#[should_panic(expected = "would wait for itself")]
fn what_cannot_return_an_error_panics() {
    run(forbid);
}

#[test]
fn a_panic_of_the_users_is_told_and_one_of_the_engine_goes_through() {
    let theirs = told(|| {
        run(|| assert!(!is_running(), "theirs"));
        Ok(())
    });
    assert!(theirs.unwrap_err().to_string().contains("theirs"));
    assert!(!is_running());
    // One that was caught on the way is no excuse for another that comes later.
    let ours = catch_unwind(|| {
        told(|| -> Result<()> {
            assert!(catch(|| panic!("theirs")).is_err());
            panic!("ours")
        })
    });
    assert_eq!(panic_text(ours.unwrap_err()), "ours");
}
