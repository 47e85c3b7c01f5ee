//! What a node said last, and what its number means.

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

#[test]
fn a_number_that_means_two_nodes_is_told_and_given_to_no_third() {
    // Directory node2 was lost, and its node joined anew as the sixth; the fifth never started.
    let mut identities = vec![(1, 1), (2, 6), (3, 3), (4, 4)];
    let told = |number, identities: &[(u64, u64)]| apart(number, identities).unwrap_or_default();
    assert_eq!(next_number(5, &[]), 6);
    assert_eq!(next_number(5, &identities), 7);
    // Lost twice: the sixth is none any more, and was.
    assert_eq!(next_number(5, &[(1, 1), (2, 7), (3, 3)]), 8);
    let here = "node 2 here is node 6 of the cluster";
    assert_eq!(told(2, &identities), here);
    assert_eq!(told(6, &identities), "node 6 of the cluster is node 2 here");
    for number in [1, 3, 4, 5, 7] {
        assert_eq!(told(number, &identities), "");
    }
    // As it was when the seventh was given the number of the directory before.
    identities.push((6, 7));
    assert_eq!(
        told(6, &identities),
        "node 6 here is node 7 of the cluster, and node 6 of the cluster is node 2 here"
    );
    assert_eq!(next_number(6, &identities), 8);
}
