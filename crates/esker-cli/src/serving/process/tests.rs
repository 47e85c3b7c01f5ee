//! Processes that have just begun, and those that never have words.

use std::process::Stdio;

use super::*;

#[test]
fn a_process_without_words_is_told_from_one_that_has_them() {
    assert!(has_no_words("R    [esker]"));
    assert!(has_no_words("I<   [kworker/0:1H]"));
    assert!(!has_no_words(
        "Sl   /usr/bin/esker serve --json --dir /tmp/[x] --meta-port 1"
    ));
    assert!(!has_no_words(""));
    assert_eq!(condition_of("T    [esker]"), Condition::Paused);
    assert_eq!(condition_of("Z    [esker] <defunct>"), Condition::Dead);
    assert_eq!(condition_of(""), Condition::Dead);
}

#[test]
fn a_process_lives_from_the_moment_in_which_its_start_is_told() {
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..20 {
        // Its words are those of a node.
        let node = dir.path().join("node1").display().to_string();
        let mut child = Command::new("sh")
            .args(["-c", "read word", "serve", "--dir", &node, "--json"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let row = Row {
            number: 1,
            pid: child.id(),
            ports: [1, 2, 3],
        };
        let roster = Roster {
            dir: dir.path().to_owned(),
            rows: vec![row.clone()],
        };
        let condition = look(&roster, &row).condition;
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(condition, Condition::Running);
    }
}
