//! Tests of memory limits, in directories that look like the system's.

use super::*;

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn second_kind_is_entered_and_left() {
    // The limit and the process are written below the group it came from; then it goes back.
    let root = tempfile::tempdir().unwrap();
    let group = root.path().join("user/me");
    fs::create_dir_all(&group).unwrap();
    fs::write(group.join("cgroup.controllers"), "cpu memory io\n").unwrap();
    let fence = Fence::raise_in(root.path(), "0::/user/me\n", 42, 1 << 20).unwrap();
    let inside = group.join("esker-bench-42");
    assert_eq!(read(&inside.join("memory.max")), "1048576");
    assert_eq!(read(&inside.join("cgroup.procs")), "42");
    assert_eq!(read(&group.join("cgroup.subtree_control")), "+memory");
    drop(fence);
    assert_eq!(read(&group.join("cgroup.procs")), "42");
}

#[test]
fn first_kind_has_a_tree_for_memory() {
    // Several trees, of which one is for memory.
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("memory/box")).unwrap();
    let own = "5:cpu,cpuacct:/\n4:hugetlb,memory:/box\n0::/\n";
    let fence = Fence::raise_in(root.path(), own, 7, 4096).unwrap();
    let inside = root.path().join("memory/box/esker-bench-7");
    assert_eq!(read(&inside.join("memory.limit_in_bytes")), "4096");
    drop(fence);
}

#[test]
fn where_there_is_none_that_is_told() {
    // No tree at all, and a tree without the controller.
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("cgroup.controllers"), "cpu io\n").unwrap();
    for own in ["", "0::/\n", "4:memory:/not/there\n"] {
        let failure = Fence::raise_in(root.path(), own, 1, 1).unwrap_err();
        assert!(
            failure.message.contains("leave --limit_by away"),
            "{failure}"
        );
    }
}
