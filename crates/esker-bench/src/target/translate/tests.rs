//! Tests of what our engine is given.

use super::*;

#[test]
fn the_last_of_two_settings_of_a_name_is_given_alone() {
    // A cache size becomes the memory limit; two further limits follow by name.
    let limit = |text: &str| ("memory_limit".to_owned(), text.to_owned());
    let settings = StoreSettings {
        cache_bytes: Some(64 << 10),
        own: vec![limit("8MiB"), limit("16MiB")],
        ..StoreSettings::default()
    };
    let (pairs, matched) = translate(&settings);
    let limits = pairs.iter().filter(|(name, _)| name == "memory_limit");
    assert!(limits.eq([&limit("16MiB")]));
    // All that was wished is told.
    assert!(matched.len() >= 3);
}
