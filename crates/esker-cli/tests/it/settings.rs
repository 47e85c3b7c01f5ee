//! The page of settings in docs is what the tool writes.

use std::path::Path;

use esker::internals::base::options::catalog;
use esker::internals::base::options::profile::Profile;

use crate::tool::Bench;

// The tool without a database: the page is about the program.
fn markdown(words: &[&str]) -> String {
    let bench = Bench::new();
    let mut command = bench.command(words);
    let output = command.env_remove("ESKER_DB").output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_page_of_settings_is_current() {
    // BLESS=1 writes it anew.
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/settings.md");
    let now = markdown(&["settings", "--all", "--markdown"]);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&page, &now).unwrap();
    }
    let committed = std::fs::read_to_string(&page).unwrap();
    assert!(
        committed == now,
        "docs/settings.md is out of date: BLESS=1 cargo test -p esker-cli --test it settings"
    );
}

#[test]
fn the_page_tells_of_every_setting_and_profile() {
    // Each setting has one row among its like, and each value of a profile its reason.
    let page = markdown(&["settings", "--all", "--markdown"]);
    for setting in catalog::settings() {
        let (unit, default) = (setting.shape.unit_word(), setting.default_text());
        let row = format!("| `{}` | {unit} | `{default}` |", setting.name);
        assert_eq!(page.matches(&row).count(), 1, "{row}");
    }
    for (name, profile) in Profile::NAMES {
        let (_, behind) = page.split_once(&format!("Why, in `{name}`:")).unzip();
        let (section, _) = behind.unwrap_or("").split_once("Why, in").unzip();
        let section = section.or(behind).unwrap_or("");
        for line in profile.lines() {
            let told = format!("- `{}={}`: {}.", line.setting, line.value, line.reason);
            assert_eq!(section.matches(&told).count(), 1, "{told}");
        }
    }
}

#[test]
fn some_settings_make_a_table_alone() {
    // One by name, or those for everyone.
    let one = markdown(&["settings", "memory_limit", "--markdown"]);
    assert_eq!(one.lines().count(), 3);
    let normal = markdown(&["settings", "--markdown"]);
    assert!(normal.lines().count() > 5 && normal.starts_with("| setting |"));
}

#[test]
fn a_small_disk_limit_needs_no_second_setting() {
    // And names of other engines are understood, here and where one setting is asked for.
    let bench = Bench::new();
    bench.ok(&["put", "a", "1", "--set", "disk_limit=20MiB"]);
    bench.ok(&["put", "a", "1", "--set", "write_buffer_size=8388608"]);
    let wrong = ["put", "a", "1", "--set", "bloom_bits=many"];
    let refused = bench.run(&wrong).exits(2);
    assert!(
        refused
            .err
            .contains("`bloom_bits` stands for `sst.filter_bits`")
    );
}
