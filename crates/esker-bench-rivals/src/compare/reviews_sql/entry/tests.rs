//! Words and help, which need neither a client nor a server.

use super::*;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn help_is_told_and_nothing_is_played() {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let outcome = play(
        &words("--dir=nowhere --help"),
        &mut Console::new(&mut out, &mut err, false),
    );
    assert_eq!(outcome, Ok(()));
    let text = String::from_utf8(out).unwrap();
    assert!(
        text.contains("--engine") && text.contains("make reviews-sql"),
        "{text}"
    );
}

#[test]
fn a_slip_is_told_before_anything_is_built() {
    assert!(check(&words("--size=medium --engine=innodb")).is_ok());
    assert_eq!(check(&words("--engine=oracle")).unwrap_err().exit_code(), 2);
}
