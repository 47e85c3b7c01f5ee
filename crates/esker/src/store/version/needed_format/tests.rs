//! Tests of `needed_format`.

use std::sync::Arc;

use super::*;
use crate::base::types::ids::{FileNumber, KeyspaceId, Level};
use crate::base::types::seqno::SeqNo;
use crate::store::sst::adoption::Adoption;
use crate::store::version::edit::SettingsText;
use crate::store::version::plain_file::record;

fn adding(change: impl FnOnce(&mut FileRecord)) -> Change {
    let mut file = record(7, b"a", b"b");
    change(&mut file);
    Change::AddFile {
        keyspace: KeyspaceId::DEFAULT,
        level: Level::ZERO,
        run: 7,
        record: Arc::new(file),
    }
}

#[test]
fn a_file_asks_for_the_format_of_what_is_in_it() {
    // A plain one for none, an adopted one for the second, milliseconds for the third.
    let adoption = Some(Adoption {
        number: FileNumber(1),
        smallest_seqno: SeqNo::new(1),
    });
    let plain = || adding(|_| {});
    let adopted = || adding(|file| file.adoption = adoption);
    let millis = || adding(|file| file.has_millis = true);
    assert_eq!(needed_format(&[]), FORMAT_VERSION);
    assert_eq!(needed_format(&[plain()]), FORMAT_VERSION);
    assert_eq!(needed_format(&[plain(), adopted()]), ADOPTED_FORMAT);
    assert_eq!(needed_format(&[millis(), adopted()]), MILLIS_FORMAT);
    let mut edit = vec![Change::SetFormat { version: 2 }, plain(), millis()];
    let raised = Change::SetFormat {
        version: MILLIS_FORMAT,
    };
    assert_eq!(take_format(&mut edit, 2), Some(raised));
    assert_eq!(edit, [plain(), millis()]);
    assert_eq!(take_format(&mut edit, MILLIS_FORMAT), None);
}

#[test]
fn a_short_time_to_live_asks_for_the_format_of_what_ends_by_it() {
    // Also of a keyspace that has no file yet, which an older Esker could not open.
    let settings = |ttl: &str| SettingsText::from([("ttl".into(), ttl.into())]);
    let created = |ttl| Change::CreateKeyspace {
        id: KeyspaceId::DEFAULT,
        name: "a".into(),
        comparator_name: "bytewise".into(),
        merge_name: None,
        settings: settings(ttl),
    };
    let changed = |ttl| Change::ChangeSettings {
        id: KeyspaceId::DEFAULT,
        settings: settings(ttl),
        merge_name: None,
    };
    for ttl in ["1500ms", "1ms"] {
        assert_eq!(needed_format(&[created(ttl)]), MILLIS_FORMAT);
        assert_eq!(needed_format(&[changed(ttl)]), MILLIS_FORMAT);
    }
    for ttl in ["7d", "2s", "none", "30"] {
        assert_eq!(needed_format(&[created(ttl)]), FORMAT_VERSION);
        assert_eq!(needed_format(&[changed(ttl)]), FORMAT_VERSION);
    }
}
