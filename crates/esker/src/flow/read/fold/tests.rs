//! Tests of `fold`.

use std::sync::Arc;

use super::*;
use crate::base::hooks::merge::MergeOperator;
use crate::base::hooks::merge_builtin::builtin;

struct Refusing;

impl MergeOperator for Refusing {
    fn name(&self) -> &str {
        "refusing"
    }
    fn fold(
        &self,
        _: &[u8],
        _: Option<&[u8]>,
        _: &[&[u8]],
    ) -> std::result::Result<Vec<u8>, String> {
        Err("operand 0 is not a date".into())
    }
    fn combine(&self, _: &[u8], _: &[u8], _: &[u8]) -> Option<Vec<u8>> {
        None
    }
}

#[test]
fn operands_fold_oldest_first() {
    // Collected newest first, as a read meets them; with and without a base.
    let folder = Folder::new("orders", builtin("append"));
    let newest_first = [b"3".as_slice(), b"2", b"1"];
    assert_eq!(
        folder.fold(b"k", Some(b"0"), &newest_first).unwrap(),
        b"0,1,2,3"
    );
    assert_eq!(folder.fold(b"k", None, &newest_first).unwrap(), b"1,2,3");
}

#[test]
fn a_missing_operator_is_named() {
    // The database was opened without the operator that wrote the operands.
    let folder = Folder(Arc::new(FolderParts {
        keyspace: "counts".into(),
        operator: "uint64add".into(),
        rule: None,
    }));
    let error = folder.fold(b"k", None, &[b"1"]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(
        error.message(),
        "keyspace `counts` holds merge operands; open it with its merge operator `uint64add`"
    );
}

#[test]
fn a_refusal_names_key_and_reason() {
    // The user's operator rejects an operand of a long key.
    let folder = Folder::new("orders", Some(MergeRule(Arc::new(Refusing))));
    let error = folder.fold(&[b'k'; 99], None, &[b"x"]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(
        error.message().contains("operand 0 is not a date"),
        "{error}"
    );
    assert!(error.message().contains(&"k".repeat(64)), "{error}");
    assert!(!error.message().contains(&"k".repeat(65)), "{error}");
}
