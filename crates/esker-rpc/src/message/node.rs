//! What a data server is asked about itself.

use crate::codec::scalars::{Address, HostPort};
use crate::error::ErrorName;
use crate::message::meta::TableDescription;
use crate::message::service::{NegotiationRequest, NegotiationResponse, RemoteCommand};

calls! {
    /// What a data server is asked about itself.
    pub enum NodeCall;
    /// What it answers.
    pub enum NodeAnswer;

    QueryTables "RPC_QUERY_APP_INFO" (QueryTablesRequest)
        -> QueryTablesResponse, Reads, true;
    NodeCommand "RPC_CLI_CLI_CALL" (RemoteCommand) -> String, Updates, true;
    NodeNegotiation "RPC_NEGOTIATION" (NegotiationRequest)
        -> NegotiationResponse, Reads, true;
}

wire_struct! {
    /// Asks for the tables of which a server has replicas.
    pub struct QueryTablesRequest as "query_app_info_request" {
        1 meta_server: Address,
        2 hp_meta_server: Option<HostPort>,
    }
}

wire_struct! {
    /// The tables.
    pub struct QueryTablesResponse as "query_app_info_response" {
        1 err: ErrorName,
        2 apps: Vec<TableDescription>,
    }
}
