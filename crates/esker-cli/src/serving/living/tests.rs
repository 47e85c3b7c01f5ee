//! What a page of a node says of the meta service.

use super::*;

#[test]
fn a_page_says_who_leads() {
    let page = |leads: bool, is_led: bool, replica: Option<u64>| {
        said(&json!({ "leads_meta": leads, "meta_is_led": is_led, "meta_replica": replica }))
    };
    assert_eq!(page(true, true, Some(2)), Said::Leads);
    assert_eq!(page(false, true, Some(2)), Said::IsLed);
    assert_eq!(page(false, false, Some(2)), Said::Has(2));
    assert_eq!(page(false, false, None), Said::HasNone);
    assert_eq!(said(&json!({ "leads_meta": false })), Said::IsMute);
}
