//! Any text as settings: `name=text` line by line, as users, manifests and benchmarks spell them.

use esker::internals::base::options::catalog;
use esker::internals::base::options::keyspace::KeyspaceOptions;
use esker::internals::base::options::pairs::{from_pairs, to_pairs};
use esker::internals::base::options::profile::Profile;
use esker::internals::base::options::resolve::resolve;

/// Settings taken from one input; more would only take longer.
const PAIRS_MAX: usize = 16;

/// Runs the target on one input.
pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let pairs: Vec<(&str, &str)> = text
        .lines()
        .filter_map(|line| line.split_once('='))
        .take(PAIRS_MAX)
        .collect();
    if let Ok(resolved) = resolve(Profile::default(), &pairs, 2) {
        assert!(resolved.memtable_budget_bytes() > 0);
    }
    if let Ok(options) = from_pairs(pairs.iter().copied()) {
        // What the manifest would keep describes the same options.
        let kept = to_pairs(&options);
        let again = from_pairs(kept.iter().map(|(name, text)| (&name[..], &text[..])));
        assert_eq!(to_pairs(&again.expect("what was shown")), kept);
    }
    for (name, text) in pairs {
        let Ok(setting) = catalog::find(name) else {
            continue;
        };
        let mut options = KeyspaceOptions::default();
        if setting.parse(text).is_ok() && catalog::set_keyspace(&mut options, name, text).is_ok() {
            let shown = catalog::get_keyspace(&options, name).expect("it was set");
            catalog::set_keyspace(&mut options, name, &shown).expect("what was shown");
            let again = catalog::get_keyspace(&options, name).expect("it was set");
            assert_eq!(shown, again);
        }
    }
}
