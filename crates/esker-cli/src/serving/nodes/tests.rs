//! Who gets a signal.

use super::*;

#[test]
fn a_process_that_got_the_number_of_a_dead_node_is_not_killed() {
    let dir = tempfile::tempdir().unwrap();
    let mut stranger = Command::new("sleep").arg("60").spawn().unwrap();
    let rows = [stranger.id(), 0].map(|pid| Row {
        number: 1,
        pid,
        ports: [1, 2, 3],
    });
    for row in rows {
        let roster = Roster {
            dir: dir.path().to_owned(),
            rows: vec![row.clone()],
        };
        // 0 with the condition of a node would end this test's own group.
        let process = look(&roster, &row);
        assert_eq!(process.condition, Condition::Dead);
        assert!(kill(&roster, &row).is_ok());
        assert!(signal(1, process, "-TERM").is_err());
        assert!(stranger.try_wait().unwrap().is_none(), "it lives");
    }
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}
