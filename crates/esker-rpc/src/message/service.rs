//! What servers of both kinds are asked: a command in words, and an agreement about security.

use crate::codec::scalars::Blob;

wire_struct! {
    /// A command in words, as an operator types it; the answer is text.
    pub struct RemoteCommand as "command" {
        1 cmd: String,
        2 arguments: Vec<String>,
    }
}

wire_enum! {
    /// Where the agreement about security stands.
    pub enum NegotiationStatus as "negotiation_status" {
        INVALID = 0,
        SASL_LIST_MECHANISMS = 1,
        SASL_LIST_MECHANISMS_RESP = 2,
        SASL_SELECT_MECHANISMS = 3,
        SASL_SELECT_MECHANISMS_RESP = 4,
        SASL_INITIATE = 5,
        SASL_CHALLENGE = 6,
        SASL_CHALLENGE_RESP = 7,
        SASL_SUCC = 8,
        SASL_AUTH_DISABLE = 9,
        SASL_AUTH_FAIL = 10,
    }
}

wire_struct! {
    /// A step of a client.
    pub struct NegotiationRequest as "negotiation_request" {
        1 status: NegotiationStatus,
        2 msg: Blob,
    }
}

wire_struct! {
    /// A step of a server. One without security says `SASL_AUTH_DISABLE`.
    pub struct NegotiationResponse as "negotiation_response" {
        1 status: NegotiationStatus,
        2 msg: Blob,
    }
}

impl NegotiationResponse {
    /// That of a server without security.
    pub fn disabled() -> NegotiationResponse {
        NegotiationResponse {
            status: NegotiationStatus::SASL_AUTH_DISABLE,
            ..NegotiationResponse::default()
        }
    }
}
