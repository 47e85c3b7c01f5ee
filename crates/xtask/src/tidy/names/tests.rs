//! Each name rule fires on a planted name, and on nothing else.

use crate::tidy::names::check;
use crate::tidy::tree::tests::planted;

fn fired(path: &str, text: &str) -> usize {
    check(&planted(&[(path, text)])).len()
}

#[test]
fn empty_file_and_folder_names_are_found() {
    // Whole words only, in every part of the path, in every kind of file.
    for path in [
        "crates/esker/src/util.rs",
        "crates/esker/src/common/mod.rs",
        "crates/esker/src/file_info.rs",
        "docs/misc.md",
        "crates/esker/tests/data/a.bin",
        "crates/esker/src/data.rs",
    ] {
        assert_eq!(fired(path, ""), 1, "{path}");
    }
    for path in [
        "crates/esker/src/metadata.rs",
        "crates/esker-rpc/src/message/data.rs",
    ] {
        assert_eq!(fired(path, ""), 0, "{path}");
    }
}

#[test]
fn empty_type_names_are_found() {
    // A word of the name is enough; longer words, fields and uses of foreign types are not.
    let path = "crates/esker/src/a.rs";
    for text in [
        "struct FileInfo;",
        "pub enum CacheManager {}",
        "trait Helper {}",
        "type Data = u8;",
        "union CommonWord { a: u8 }",
    ] {
        assert_eq!(fired(path, text), 1, "{text}");
    }
    for text in [
        "struct Metadata;",
        "struct S { data: u8 }",
        "struct T(PhantomData<u8>);",
    ] {
        assert_eq!(fired(path, text), 0, "{text}");
    }
}
