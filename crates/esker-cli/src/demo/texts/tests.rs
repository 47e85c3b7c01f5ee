//! Text found, cut into records and words.

use super::{Folder, Records, for_each_record, packages, words};

#[test]
fn lock_file_names_directories() {
    // Packages with a version in quotes; what else a lock file says is passed over.
    let lock = "version = 4\n\n[[package]]\nname = \"serde\"\nversion = \"1.0.2\"\n\
                source = \"registry\"\ndependencies = [\n \"one\",\n]\n\n\
                [[package]]\nname = \"zstd-sys\"\nversion = \"2.1.2+zstd.1.5.7\"\n";
    assert_eq!(packages(lock), ["serde-1.0.2", "zstd-sys-2.1.2+zstd.1.5.7"]);
    assert!(packages("").is_empty());
}

#[test]
fn records_make_up_the_text() {
    // Lines of all lengths, one far beyond a record: the pieces joined are the text, each piece
    // but the last has at least a kilobyte, and offsets are where they begin.
    let mut text = Vec::new();
    for length in (0..200).chain([9000, 3]) {
        text.extend(std::iter::repeat_n(b'x', length));
        text.push(b'\n');
    }
    let pieces: Vec<_> = Records::new(&text).collect();
    let joined: Vec<u8> = pieces
        .iter()
        .flat_map(|(_, piece)| piece.to_vec())
        .collect();
    assert_eq!(joined, text);
    let last = pieces.len() - 1;
    assert!(
        pieces[..last]
            .iter()
            .all(|(_, piece)| (1024..=4096).contains(&piece.len()))
    );
    for window in pieces.windows(2) {
        assert_eq!(window[0].0 + window[0].1.len(), window[1].0);
    }
    assert_eq!(Records::new(b"").count(), 0);
}

#[test]
fn folders_become_records() {
    // Text in two folders, one file that is no text: keys are unique and tell where from.
    let dir = tempfile::tempdir().unwrap();
    let inner = dir.path().join("src");
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(dir.path().join("README.md"), "hello\n").unwrap();
    std::fs::write(inner.join("lib.rs"), "fn main() {}\n".repeat(200)).unwrap();
    std::fs::write(inner.join("image.png"), [0xff, 0xfe]).unwrap();
    let folders = [Folder {
        name: "demo-1.0".into(),
        path: dir.path().into(),
    }];
    let mut keys = Vec::new();
    for_each_record(&folders, &mut |key, _| {
        keys.push(String::from_utf8(key.to_vec()).unwrap());
        Ok(())
    })
    .unwrap();
    keys.sort();
    assert_eq!(
        keys,
        [
            "demo-1.0/README.md/0000000",
            "demo-1.0/src/lib.rs/0000000",
            "demo-1.0/src/lib.rs/0001027",
            "demo-1.0/src/lib.rs/0002054"
        ]
    );
}

#[test]
fn words_are_words() {
    // Letters, digits and underscores; nothing short, nothing endless.
    let text = format!("let some_name = a[42] + xyz; {}", "q".repeat(41));
    let found: Vec<&[u8]> = words(text.as_bytes()).collect();
    assert_eq!(found, [&b"let"[..], b"some_name", b"xyz"]);
}
