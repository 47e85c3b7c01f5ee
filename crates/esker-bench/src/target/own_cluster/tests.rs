//! Tests of `own_cluster`.

use super::*;

#[test]
fn nodes_are_read_from_what_the_tool_says() {
    // As `esker --json cluster status` has it; a text without nodes is told whole.
    let told = r#"[{"node": 1, "state": "running", "pid": 77, "meta": "127.0.0.1:34601",
        "data": "127.0.0.1:34801", "peer": "127.0.0.1:34701", "dir": "/d/node1"}]"#;
    let nodes = nodes(told).expect("a node");
    assert_eq!((nodes.len(), nodes[0].number, nodes[0].process), (1, 1, 77));
    assert_eq!(nodes[0].door.port(), 34801);
    let failure = super::nodes("nothing").expect_err("no list");
    assert!(failure.message.ends_with("nothing"), "{failure}");
}

#[test]
fn a_program_that_starts_no_nodes_is_refused() {
    // A test is not the tool.
    let failure = this_tool().expect_err("this is a test");
    assert!(failure.message.contains("--tool"), "{failure}");
}
