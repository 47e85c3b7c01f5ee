//! The lines to paste are those of the guide, whose clients were tried.

use super::*;

const GUIDE: &str = include_str!("../../../../../docs/guide/clients.md");

#[test]
fn what_is_to_be_pasted_is_what_the_guide_has() {
    let at = |port: u16| std::net::SocketAddr::from(([127, 0, 0, 1], port));
    let place = Place {
        meta: at(34601),
        client: at(34801),
        peer: at(34701),
        cluster: 77,
        node: 1,
        incarnation: 1,
    };
    let words = words(&place, "esker-data", false);
    for part in [
        "Pegasus(['127.0.0.1:34601'",
        "ClientOptions.builder()",
        "PegasusClientFactory.createClient(",
        "pegasus.NewClient(config.Config{MetaServers: []string{\"127.0.0.1:34601\"",
        "require('pegasus-nodejs-client')",
        "create({metaServers: ['127.0.0.1:34601']",
    ] {
        assert!(words.contains(part), "{part} is not in {words}");
        assert!(GUIDE.contains(part), "{part} is not in the guide");
    }
}
