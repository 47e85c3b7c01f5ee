//! Where the files of declared modules are looked for.

use crate::tidy::modules::declared;
use crate::tidy::source::Source;

#[test]
fn each_kind_of_file_has_its_folder() {
    // A root and a mod.rs look beside themselves, any other file looks into its own folder.
    for (path, is_root, wanted) in [
        ("c/src/lib.rs", true, "c/src/a.rs"),
        ("c/src/x/mod.rs", false, "c/src/x/a.rs"),
        ("c/src/x/y.rs", false, "c/src/x/y/a.rs"),
        ("c/tests/it.rs", true, "c/tests/a.rs"),
    ] {
        let found = declared(&Source::new(path, "mod a;"), is_root);
        assert_eq!(found[0].candidates[0], wanted);
    }
}

#[test]
fn inline_modules_and_path_attributes_are_followed() {
    // The block's name is a folder; an attribute overrides every rule.
    let text = "pub mod outer { mod a; }\n#[path = \"../z.rs\"]\nmod b;\n#[cfg(test)]\nmod tests;";
    let found = declared(&Source::new("c/src/x/y.rs", text), false);
    assert_eq!(found[0].candidates[0], "c/src/x/y/outer/a.rs");
    assert_eq!(found[1].candidates, ["c/src/z.rs"]);
    assert_eq!((found[2].name.as_str(), found[2].is_test), ("tests", true));
    assert!(!found[0].is_test && !found[1].is_test);
}
