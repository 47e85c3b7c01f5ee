//! The plan tells every option once, under whoever has it.

use super::*;

#[test]
fn what_all_have_is_told_once_and_the_rest_beside_its_engine() {
    let text = plan_text(&Contender::ALL, 1_000_000_000);
    assert_eq!(text.matches("--skip-networking").count(), 1, "{text}");
    assert_eq!(
        text.matches("--esker-durability=buffered").count(),
        1,
        "{text}"
    );
    assert!(text.contains("memory 0.45 of raw: cache "), "{text}");
    for contender in Contender::ALL {
        assert!(
            text.contains(&format!("{}: ENGINE=", contender.name())),
            "{text}"
        );
    }
}

#[test]
fn help_names_every_line_and_the_way_to_run_it() {
    let text = help();
    for word in [
        "load ",
        "reads ",
        "inserts ",
        "commits ",
        "mix ",
        "indexed ",
        "make reviews-sql",
        "--engine",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
}
