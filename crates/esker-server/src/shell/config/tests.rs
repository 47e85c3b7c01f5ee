//! Configuration: what is read, what is refused, and what is shown.

use std::time::Duration;

use super::*;

const FILE: &str = r#"
# A node on three disks.
dir = "/var/lib/esker"
memory_limit = "1GiB"
read_threads = 8
join = ["127.0.0.1:34701", "127.0.0.1:34702"]
idle_max = "10min"

[engine]
compression = "lz4"
"#;

#[test]
fn a_file_is_taken_with_its_lines() {
    let mut config = Config::default();
    config.take_file("node.toml", FILE).unwrap();
    config.take_word("read_threads", "2").unwrap();
    config.check().unwrap();
    assert_eq!(config.settings.dir.to_str(), Some("/var/lib/esker"));
    assert_eq!(config.settings.memory_limit, 1 << 30);
    assert_eq!(config.settings.join.len(), 2);
    assert_eq!(config.settings.bounds.idle_max, Duration::from_secs(600));
    assert_eq!(
        config.settings.engine,
        [("compression".to_owned(), "lz4".to_owned())]
    );
    let rows = config.rows();
    let origin = |name: &str| rows.iter().find(|row| row.0 == name).unwrap().2.to_string();
    assert_eq!(origin("memory_limit"), "node.toml:4");
    assert_eq!(origin("read_threads"), "command line");
    assert_eq!(origin("label"), "default");
    assert_eq!(origin("engine.compression"), "node.toml:10");
}

#[test]
fn the_page_says_all_and_is_read_back() {
    let mut config = Config::default();
    config.take_file("node.toml", FILE).unwrap();
    let page = config.page();
    let mut again = Config::default();
    again.take_file("page.toml", &page).unwrap();
    assert_eq!(again.settings, config.settings);
    for setting in SETTINGS {
        assert!(page.contains(setting.doc), "{}", setting.name);
    }
}

#[test]
fn defaults_are_those_of_the_settings() {
    // Each default, shown and read back, changes nothing: the two are told once.
    let mut config = Config::default();
    for setting in SETTINGS {
        let shown = (setting.show)(&Settings::default());
        config.take_word(setting.name, &shown).unwrap();
    }
    assert_eq!(config.settings, Settings::default());
}

#[test]
fn mistakes_are_told_with_their_line_and_what_to_do() {
    for (text, told) in [
        (
            "dirr = \"x\"",
            "f.toml:1: there is no setting \"dirr\": did you mean dir?",
        ),
        (
            "\nxyzzy_plugh = 1",
            "f.toml:2: there is no setting \"xyzzy_plugh\": --print-config",
        ),
        (
            "memory_limit = \"lots\"",
            "f.toml:1: memory_limit: \"lots\" is no number of bytes",
        ),
        (
            "idle_max = 5",
            "f.toml:1: idle_max: \"5\" is no duration: write it like 5s",
        ),
        ("data_address = \"0.0.0.0:1\"", "listens on loopback only"),
        ("data_address = \"[::1]:1\"", "not of IPv4"),
        ("read_threads = 0", "1 to 256"),
        ("socket_threads = 300", "at most 256"),
        ("heartbeat = \"150ms\"", "multiple"),
        ("dir = 2020-01-01", "no setting is a datetime"),
        ("[engine]\ncompresion = \"lz4\"", "f.toml:2: "),
        ("dir = ", "f.toml:1: "),
        ("dir = \"a\"\ndir = \"b\"", "f.toml:2: "),
    ] {
        let refused = Config::default().take_file("f.toml", text).unwrap_err();
        assert!(refused.contains(told), "{text}: {refused}");
        assert!(!refused.contains('\n'), "{refused}");
    }
    let mut config = Config::default();
    config.take_word("heartbeat", "1s").unwrap();
    assert!(config.check().is_err());
}
