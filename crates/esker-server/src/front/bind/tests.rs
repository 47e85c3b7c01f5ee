//! Where a node may listen.

use super::*;

#[test]
fn only_addresses_of_this_machine_are_listened_on() {
    for allowed in [
        "127.0.0.1:0",
        "127.8.9.10:34601",
        "[::1]:34601",
        "[::ffff:127.0.0.1]:1",
    ] {
        assert!(
            check_loopback(allowed.parse().unwrap()).is_ok(),
            "{allowed}"
        );
    }
    for refused in [
        "0.0.0.0:34601",
        "10.0.0.1:34601",
        "[::]:34601",
        "[::ffff:10.0.0.1]:1",
    ] {
        let told = check_loopback(refused.parse().unwrap())
            .unwrap_err()
            .to_string();
        assert!(told.contains("listens on loopback only"), "{told}");
    }
}
