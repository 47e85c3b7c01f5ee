//! What a test compresses with, in a build that may lack some compressors.

use esker::internals::base::codec::compress::CompressionType;

/// That way of compression, or `none` where this build does not have it.
pub fn or_plain(name: &'static str) -> &'static str {
    let is_missing = |way: &(&str, CompressionType)| way.0 == name && !way.1.is_built();
    match CompressionType::NAMES.iter().any(is_missing) {
        true => "none",
        false => name,
    }
}
