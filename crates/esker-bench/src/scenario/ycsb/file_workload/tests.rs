//! Tests of the file workload's lines and settings.

use super::*;
use crate::fail::FailureKind;
use crate::scenario::ycsb::record::fields;

fn workload(text: &str, is_load: bool) -> Outcome<FileWorkload> {
    let mut properties = Properties::default();
    properties.add_text(text).unwrap();
    FileWorkload::from_properties(&properties, is_load)
}

fn parsed(shape: &LineShape, line: &str) -> Option<(String, String)> {
    let (mut key, mut record) = (b"user7".to_vec(), Vec::new());
    shape.parse(line.as_bytes(), &mut key, &mut record)?;
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let told = fields(&record).map(|field| {
        let (name, value) = field.unwrap();
        format!("{}={}", text(name), text(value))
    });
    Some((text(&key), told.collect::<Vec<_>>().join(";")))
}

#[test]
fn fields_of_the_key_leave_the_record() {
    // Product, user and time make the key; score and text are the record.
    let text = "datafile=x\nusecustomkey=true\nkeyfield=0,2\nfieldnum=4\n\
                fieldnames=p,score,u,text";
    let shape = workload(text, true).unwrap().lines;
    assert_eq!(
        parsed(&shape, "P1\t5.0\tU1\tgood\tmore"),
        Some(("P1\tU1".into(), "score=5.0;text=good".into()))
    );
    // Empty fields are fields; a line that is too short is none.
    assert_eq!(
        parsed(&shape, "P1\t\tU1\t"),
        Some(("P1\tU1".into(), "score=;text=".into()))
    );
    assert_eq!(parsed(&shape, "P1\t5.0\tU1"), None);
}

#[test]
fn without_own_keys_the_whole_line_is_the_record() {
    // The key stays what it was.
    let shape = workload("datafile=x\nfieldnum=2\ndelimiter=,", true)
        .unwrap()
        .lines;
    assert_eq!(
        parsed(&shape, "a,b,c"),
        Some(("user7".into(), "field0=a;field1=b".into()))
    );
}

#[test]
fn delimiters_are_plain_text() {
    // A pattern that means one text is that text; others are refused.
    assert_eq!(delimiter("\t").unwrap(), b"\t");
    assert_eq!(delimiter("\\t").unwrap(), b"\t");
    assert_eq!(delimiter("\\|").unwrap(), b"|");
    assert_eq!(delimiter("||").unwrap_err().kind, FailureKind::Usage);
    for pattern in ["", "[,;]", "\\s+", "a|b", ".", "\\"] {
        assert!(delimiter(pattern).is_err(), "{pattern}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    // Each with the property that is to blame.
    for (text, is_load, blamed) in [
        ("", true, "datafile"),
        ("writeinread=flase", false, "datafile"),
        ("usecustomkey=true", false, "keyfile"),
        ("datafile=x\nfieldnum=0", true, "fieldnum=0"),
        ("datafile=x\nfieldnum=3\nfieldnames=a,b", true, "fieldnames"),
        (
            "datafile=x\nusecustomkey=true\nkeyfield=15",
            true,
            "keyfield=15",
        ),
        (
            "datafile=x\nusecustomkey=true\nkeyfield=0,0",
            true,
            "keyfield=0,0",
        ),
        ("writerate=1.5", false, "writerate=1.5"),
        ("batchread=0", false, "batchread=0"),
        (
            "datafile=x\nwriteinread=false\nreadproportion=0\nwriteproportion=0",
            false,
            "nothing",
        ),
    ] {
        let failed = workload(text, is_load).unwrap_err();
        assert_eq!(failed.kind, FailureKind::Usage, "{text}");
        assert!(failed.message.contains(blamed), "{text}: {failed}");
    }
    assert!(workload("writerate=0.1", false).is_ok());
}
