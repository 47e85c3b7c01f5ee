//! Tests of `pairs`.

use super::*;
use crate::base::codec::compress::CompressionType;
use crate::base::hooks::merge_builtin::builtin;
use crate::base::options::setting::Scope;
use crate::base::options::sst::Compression;

fn reread(pairs: &[(String, String)]) -> Result<KeyspaceOptions> {
    from_pairs(
        pairs
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str())),
    )
}

#[cfg_attr(not(feature = "lz4"), ignore = "needs the feature `lz4`")]
#[test]
fn defaults_need_no_pairs() {
    // Thousands of plain keyspaces must not weigh on the manifest.
    let options = KeyspaceOptions {
        merge: builtin("uint64add"),
        ..KeyspaceOptions::default()
    };
    assert_eq!(to_pairs(&options), []);
}

#[cfg(not(feature = "lz4"))]
#[test]
fn a_keyspace_made_without_the_default_compression_says_so() {
    // So that a build which has it does not write what this one cannot read.
    let pairs = to_pairs(&KeyspaceOptions::default());
    let names: Vec<_> = pairs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["compression", "sst.compression_upper"]);
    assert_eq!(to_pairs(&reread(&pairs).unwrap()), pairs);
}

#[test]
fn a_compression_that_this_build_lacks_is_read_all_the_same() {
    // Whoever opens the keyspace may choose another; who does not is refused then.
    for (name, way) in CompressionType::NAMES {
        let pairs = [("compression".to_owned(), name.to_owned())];
        let compression = reread(&pairs).unwrap().sst.compression;
        assert_eq!(compression, Compression::Blocks(way));
    }
}

#[test]
fn every_setting_survives_reopening() {
    // Each setting is changed to its example, written down and read back.
    let mut options = KeyspaceOptions::default();
    let kept: Vec<_> = catalog::settings()
        .filter(|setting| setting.scope() == Scope::Keyspace)
        .filter(|setting| setting.shape != Shape::Operator)
        .collect();
    for setting in &kept {
        catalog::set_keyspace(&mut options, setting.name, setting.example).unwrap();
    }
    let pairs = to_pairs(&options);
    assert_eq!(pairs.len(), kept.len());
    assert!(pairs.contains(&("ttl".into(), "7d".into())));
    let read = reread(&pairs).unwrap();
    assert_eq!(to_pairs(&read), pairs);
    assert_eq!(
        (read.ttl_ms, read.sst, read.compaction),
        (604_800_000, options.sst, options.compaction)
    );
}

#[test]
fn what_a_newer_version_wrote_is_refused_by_name() {
    // Guessing at a setting that is not understood could lose what it was set for.
    for pair in [("sst.quantum", "on"), ("compression", "origami")] {
        let error = from_pairs([pair]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(
            error
                .message()
                .contains(&format!("`{}` = `{}`", pair.0, pair.1))
        );
    }
}
