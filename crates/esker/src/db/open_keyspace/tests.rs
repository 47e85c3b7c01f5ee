//! Tests of `open_keyspace`.

use super::*;
use crate::base::codec::compress::CompressionType;
use crate::base::options::profile::Profile;
use crate::base::options::resolve::resolve;
use crate::base::options::sst::Compression;
use crate::db::identity;
use crate::env::sim::SimWorld;

#[test]
fn a_stored_compression_that_was_left_out_is_told_unless_another_is_chosen() {
    // As a build with every compressor writes it down; in a build with all, nothing is refused.
    let asked = |pairs: &[(&str, &str)]| resolve(Profile::Balanced, pairs, 1).unwrap();
    let plain = asked(&[]);
    for (name, way) in CompressionType::NAMES {
        let mut stored = plain.clone();
        stored.keyspace_asked.sst.compression = Compression::Blocks(way);
        let identity = identity::fresh(&SimWorld::new(1).env());
        let version = first_version(identity, Orders::new(Vec::new()), &stored).unwrap();
        let state = version.keyspace(KeyspaceId::DEFAULT).unwrap();
        match options_of(state, &plain, &[]) {
            Ok(options) if way.is_built() => {
                assert_eq!(options.sst.compression, Compression::Blocks(way));
            }
            // What a full build takes by itself is not written down, so nobody asked for it.
            Ok(options) => {
                assert_eq!(way, CompressionType::Lz4);
                assert_eq!(options.sst.compression, plain.keyspace.sst.compression);
            }
            Err(error) => {
                assert!(!way.is_built());
                assert_eq!(error.kind(), ErrorKind::NotBuilt);
                let told = format!("keyspace \"default\" has `compression` = `{name}`");
                assert!(error.message().starts_with(&told), "{error}");
            }
        }
        let other = options_of(state, &asked(&[("compression", "none")]), &[]);
        assert_eq!(
            other.unwrap().sst.compression,
            Compression::Blocks(CompressionType::None)
        );
    }
}
