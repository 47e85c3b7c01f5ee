//! Forms that are taken, and what is said of others.

use super::*;

fn step(units: u64, millis: u64) -> Option<Step> {
    let wait = Duration::from_millis(millis);
    Some(Step { units, wait })
}

#[test]
fn limits_are_read_in_the_forms_of_pegasus() {
    for (text, delay, reject) in [
        ("2000*delay*100", step(2000, 100), None),
        (
            "20000*delay*100,20000*reject*100",
            step(20_000, 100),
            step(20_000, 100),
        ),
        ("20K*reject*0", None, step(20_000, 0)),
        (
            " 3M*reject*200 , 2M * delay * 10 ",
            step(2_000_000, 10),
            step(3_000_000, 200),
        ),
        ("0*reject*1", None, step(0, 1)),
    ] {
        assert_eq!(Throttle::parse(text), Ok(Throttle { delay, reject }));
    }
}

#[test]
fn a_bad_limit_is_told_what_a_right_one_looks_like() {
    for (text, why) in [
        ("", "three fields"),
        ("20000", "three fields"),
        ("20000*delay", "three fields"),
        ("20000*delay*100,", "three fields"),
        ("20000*delay*100*5", "three fields"),
        ("-5*delay*100", "first is no number"),
        ("+5*delay*100", "first is no number"),
        ("K*delay*100", "first is no number"),
        ("5G*delay*100", "first is no number"),
        ("99999999999999999999*delay*1", "first is no number"),
        ("99999999999999999M*delay*1", "first is no number"),
        ("5*delay*-1", "milliseconds"),
        ("5*delay*1s", "milliseconds"),
        ("5*delay*10001", "longer than 10000 ms"),
        ("5*refuse*1", "delay or reject"),
        ("5*delay*1,6*delay*1", "twice"),
        ("5ä*delay*1", "first is no number"),
    ] {
        let said = Throttle::parse(text).expect_err(text);
        assert!(said.contains(why), "{text:?}: {said}");
        assert!(said.contains("20000*delay*100,30000*reject*200"), "{said}");
    }
}

#[test]
fn a_share_is_rounded_down_and_one_more() {
    let throttle = Throttle::parse("100*delay*5,7*reject*0").expect("a limit");
    let share = throttle.share(8);
    assert_eq!((share.delay, share.reject), (step(13, 5), step(1, 0)));
    assert_eq!(throttle.share(0).delay, step(101, 5));
}

#[test]
fn bytes_of_reads_are_a_number_or_the_old_form() {
    for (text, bytes) in [
        ("20000", 20_000),
        ("20K", 20_000),
        ("20M", 20_000_000),
        ("20000*delay*100,30000*reject*100", 30_000),
        ("5K*reject*100", 5_000),
    ] {
        assert_eq!(parse_read_bytes(text), Ok(bytes));
    }
    // A limit that never refuses would do nothing.
    for text in ["", "0", "20000*delay*100", "0*reject*1", "20m", "M"] {
        let said = parse_read_bytes(text).expect_err(text);
        assert!(said.contains("20000, 20K or 20M"), "{said}");
    }
    parse_read_bytes("20000*rejekt*100").expect_err("no form");
}

#[test]
fn who_is_denied_is_said_in_two_words() {
    let denial = |how, reads, writes| Ok(Denial { how, reads, writes });
    let parse = Denial::parse;
    assert_eq!(parse("timeout*all"), denial(Denied::Silently, true, true));
    assert_eq!(parse("timeout*read"), denial(Denied::Silently, true, false));
    assert_eq!(
        parse("reconfig*write"),
        denial(Denied::Elsewhere, false, true)
    );
    for text in ["", "reject*all", "timeout", "timeout*", "timeout*scan"] {
        let said = parse(text).expect_err(text);
        assert!(said.contains("timeout*write"), "{said}");
    }
}

#[test]
fn a_limit_of_all_that_can_be_written_is_one() {
    // One partition has all of it, and one more there is not.
    let throttle = Throttle::parse(&format!("{}*reject*0", u64::MAX)).expect("a limit");
    assert_eq!(throttle.share(1).reject, step(u64::MAX, 0));
}
