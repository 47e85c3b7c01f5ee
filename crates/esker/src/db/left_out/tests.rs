//! Tests of what is left out, and for how long.

use super::*;

const FILES: [FileNumber; 3] = [FileNumber(4), FileNumber(7), FileNumber(9)];

fn broken(name: &str) -> Error {
    Error::io("read", std::io::Error::other("worn out")).in_file(name)
}

#[test]
fn what_may_pass_is_tried_again_after_a_growing_time() {
    // The file that is named, alone; each failure doubles the time, up to a bound.
    let mut left_out = LeftOut::default();
    let mut now = Duration::ZERO;
    let mut before = Duration::ZERO;
    for _ in 0..20 {
        let (blamed, delay) = left_out.note(&FILES, &broken("/db/000007.sst"), now);
        assert_eq!(blamed, [FileNumber(7)]);
        let delay = delay.unwrap();
        assert!(delay == before * 2 || before.is_zero() || delay == DELAY_FIRST * 1024);
        before = delay;
        assert!(
            left_out
                .take_due(now + delay - Duration::from_millis(1))
                .is_empty()
        );
        now += delay;
        assert_eq!(left_out.take_due(now), [FileNumber(7)]);
        assert!(left_out.take_due(now).is_empty());
    }
    assert_eq!(left_out.files().next().unwrap().1.try_count, 20);
    left_out.forget(&FILES);
    assert_eq!(left_out.files().count(), 0);
}

#[test]
fn damage_stays_out_until_it_is_asked_for() {
    // And where no input is named, all of them are.
    let mut left_out = LeftOut::default();
    let error = Error::corruption("a block").in_file("000009.sst");
    let (blamed, delay) = left_out.note(&FILES, &error, Duration::ZERO);
    assert_eq!((blamed, delay), (vec![FileNumber(9)], None));
    assert!(left_out.take_due(Duration::MAX).is_empty());
    assert_eq!(left_out.take_all(), [FileNumber(9)]);
    for other in ["000010.sst", "000009.vlog", "nonsense"] {
        let (blamed, _) = left_out.note(&FILES, &broken(other), Duration::ZERO);
        assert_eq!(blamed, FILES);
    }
}

#[test]
fn a_shortage_of_descriptors_passes() {
    let mut left_out = LeftOut::default();
    let error = Error::new(ErrorKind::OutOfFiles, "create").in_file("000012.sst");
    let (blamed, delay) = left_out.note(&FILES, &error, Duration::ZERO);
    assert_eq!(blamed, FILES);
    assert_eq!(delay, Some(DELAY_FIRST));
}
