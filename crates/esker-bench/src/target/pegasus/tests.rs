//! Tests of `pegasus`.

use super::*;

#[test]
fn an_address_names_meta_servers_and_a_table() {
    // One server, two of them, no table, and texts that are none.
    let parsed = TableAddress::parse("pegasus://127.0.0.1:34601/usertable").expect("an address");
    assert_eq!(parsed.metas, ["127.0.0.1:34601"]);
    assert_eq!(parsed.table, "usertable");
    assert_eq!(parsed.to_string(), "pegasus://127.0.0.1:34601/usertable");
    let parsed = TableAddress::parse("pegasus://a:1,b:2").expect("an address");
    assert_eq!((parsed.metas.len(), parsed.table.as_str()), (2, ""));
    for wrong in ["1000", "pegasus://", "http://a:1/t"] {
        let failure = TableAddress::parse(wrong).expect_err("no address");
        assert!(
            failure.message.contains("pegasus://HOST:PORT/TABLE"),
            "{failure}"
        );
    }
}
