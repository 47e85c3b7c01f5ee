//! What a node said last.

use super::*;

#[test]
fn the_last_words_of_a_node_say_whether_it_has_left() {
    let dir = tempfile::tempdir().unwrap();
    let roster = Roster {
        dir: dir.path().to_owned(),
        rows: Vec::new(),
    };
    assert_eq!(roster.last_words_of(2), "it said nothing");
    std::fs::create_dir(roster.dir_of(2)).unwrap();
    std::fs::write(roster.dir_of(2).join(identity::FILE), "its number").unwrap();
    let log = |lines: &str| std::fs::write(roster.log_of(2), lines).unwrap();
    log(&format!(
        "12:00 note  it serves\nesker: node 2 {REMOVED}\n\n"
    ));
    assert_eq!(roster.last_words_of(2), format!("node 2 {REMOVED}"));
    assert!(roster.has_left(2) && !roster.has_left(3));
    // It was told so in another life, of another cluster.
    log(&format!("esker: node 2 {REMOVED}\n12:01 note  it serves\n"));
    assert!(!roster.has_left(2));
    // Its directory was taken away: the next one there is another node.
    log(&format!("esker: node 2 {REMOVED}\n"));
    assert!(roster.has_left(2));
    std::fs::remove_dir_all(roster.dir_of(2)).unwrap();
    assert!(!roster.has_left(2));
}
