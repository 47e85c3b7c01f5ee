//! Tests of `profile`.

use super::*;

#[test]
fn names_and_profiles_agree() {
    // Two tables tell the names; they must tell the same.
    for (name, profile) in Profile::NAMES {
        assert_eq!(profile.name(), name);
    }
}

#[test]
fn no_profile_sets_a_setting_twice() {
    // The second line would silently win.
    for (name, profile) in Profile::NAMES {
        let mut seen = std::collections::HashSet::new();
        for line in profile.lines() {
            assert!(seen.insert(line.setting), "{name}: {}", line.setting);
            assert!(!line.reason.is_empty());
        }
    }
}
