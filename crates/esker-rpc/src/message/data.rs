//! What a data server is asked: calls on the keys of one partition.

use crate::codec::scalars::Blob;
use crate::error::Status;
use crate::message::call::Silence;

calls! {
    /// What a data server is asked.
    pub enum KeyCall;
    /// What it answers.
    pub enum KeyAnswer;

    Get "RPC_RRDB_RRDB_GET" (Blob) -> ReadResponse, Reads, true;
    Ttl "RPC_RRDB_RRDB_TTL" (Blob) -> TtlResponse, Reads, true;
    MultiGet "RPC_RRDB_RRDB_MULTI_GET" (MultiGetRequest) -> MultiGetResponse, Reads, true;
    BatchGet "RPC_RRDB_RRDB_BATCH_GET" (BatchGetRequest) -> BatchGetResponse, Reads, true;
    SortkeyCount "RPC_RRDB_RRDB_SORTKEY_COUNT" (Blob) -> CountResponse, Reads, true;
    GetScanner "RPC_RRDB_RRDB_GET_SCANNER" (GetScannerRequest)
        -> ScanResponse, Reads, true;
    Scan "RPC_RRDB_RRDB_SCAN" (ScanRequest) -> ScanResponse, Reads, true;
    ClearScanner "RPC_RRDB_RRDB_CLEAR_SCANNER" (i64) -> Silence, Reads, false;
    Put "RPC_RRDB_RRDB_PUT" (UpdateRequest) -> UpdateResponse, Writes, true;
    Remove "RPC_RRDB_RRDB_REMOVE" (Blob) -> UpdateResponse, Writes, true;
    MultiPut "RPC_RRDB_RRDB_MULTI_PUT" (MultiPutRequest) -> UpdateResponse, Writes, true;
    MultiRemove "RPC_RRDB_RRDB_MULTI_REMOVE" (MultiRemoveRequest)
        -> MultiRemoveResponse, Writes, true;
    Incr "RPC_RRDB_RRDB_INCR" (IncrRequest) -> IncrResponse, Updates, true;
    CheckAndSet "RPC_RRDB_RRDB_CHECK_AND_SET" (CheckAndSetRequest)
        -> CheckAndSetResponse, Updates, true;
    CheckAndMutate "RPC_RRDB_RRDB_CHECK_AND_MUTATE" (CheckAndMutateRequest)
        -> CheckAndMutateResponse, Updates, true;
}

impl KeyAnswer {
    /// How many rows it has, and the bytes of their keys and values.
    pub fn size(&self) -> (usize, usize) {
        let of_rows = |rows: &[KeyValue]| {
            let bytes = rows.iter().map(|row| row.key.len() + row.value.len());
            (rows.len(), bytes.sum())
        };
        match self {
            KeyAnswer::Get(answer) => (1, answer.value.len()),
            KeyAnswer::MultiGet(answer) => of_rows(&answer.kvs),
            KeyAnswer::GetScanner(answer) | KeyAnswer::Scan(answer) => of_rows(&answer.kvs),
            KeyAnswer::BatchGet(answer) => {
                let bytes = answer.data.iter();
                let bytes = bytes.map(|row| {
                    let keys = row.hash_key.len() + row.sort_key.len();
                    keys + row.value.len()
                });
                (answer.data.len(), bytes.sum())
            }
            _ => (0, 0),
        }
    }
}

wire_enum! {
    /// How a filter's pattern is looked for.
    pub enum FilterType as "filter_type" {
        FT_NO_FILTER = 0,
        FT_MATCH_ANYWHERE = 1,
        FT_MATCH_PREFIX = 2,
        FT_MATCH_POSTFIX = 3,
    }
}

wire_enum! {
    /// What a value is asked before a write.
    pub enum CasCheckType as "cas_check_type" {
        CT_NO_CHECK = 0,
        CT_VALUE_NOT_EXIST = 1,
        CT_VALUE_NOT_EXIST_OR_EMPTY = 2,
        CT_VALUE_EXIST = 3,
        CT_VALUE_NOT_EMPTY = 4,
        CT_VALUE_MATCH_ANYWHERE = 5,
        CT_VALUE_MATCH_PREFIX = 6,
        CT_VALUE_MATCH_POSTFIX = 7,
        CT_VALUE_BYTES_LESS = 8,
        CT_VALUE_BYTES_LESS_OR_EQUAL = 9,
        CT_VALUE_BYTES_EQUAL = 10,
        CT_VALUE_BYTES_GREATER_OR_EQUAL = 11,
        CT_VALUE_BYTES_GREATER = 12,
        CT_VALUE_INT_LESS = 13,
        CT_VALUE_INT_LESS_OR_EQUAL = 14,
        CT_VALUE_INT_EQUAL = 15,
        CT_VALUE_INT_GREATER_OR_EQUAL = 16,
        CT_VALUE_INT_GREATER = 17,
    }
}

wire_enum! {
    /// What a mutation does.
    pub enum MutateOperation as "mutate_operation" {
        MO_PUT = 0,
        MO_DELETE = 1,
    }
}

wire_enum! {
    /// What a put was before it was made one; in the log of the original servers only.
    pub enum UpdateType as "update_type" {
        UT_PUT = 0,
        UT_INCR = 1,
        UT_CHECK_AND_SET = 2,
        UT_CHECK_AND_MUTATE_PUT = 3,
        UT_CHECK_AND_MUTATE_REMOVE = 4,
    }
}

wire_struct! {
    /// Puts a value. The key is a raw one.
    pub struct UpdateRequest as "update_request" {
        1 key: Blob,
        2 value: Blob,
        3 expire_ts_seconds: i32,
        4 r#type: Option<UpdateType>,
        5 check_value_returned: Option<bool>,
        6 check_value_exist: Option<bool>,
        7 check_value: Option<Blob>,
    }
}

wire_struct! {
    /// What came of a put or a remove.
    pub struct UpdateResponse as "update_response" {
        1 error: Status,
        2 app_id: i32,
        3 partition_index: i32,
        4 decree: i64,
        5 server: String,
    }
}

wire_struct! {
    /// A value, if there is one.
    pub struct ReadResponse as "read_response" {
        1 error: Status,
        2 value: Blob,
        3 app_id: i32,
        4 partition_index: i32,
        6 server: String,
    }
}

wire_struct! {
    /// How long a value lives: -1 for ever.
    pub struct TtlResponse as "ttl_response" {
        1 error: Status,
        2 ttl_seconds: i32,
        3 app_id: i32,
        4 partition_index: i32,
        6 server: String,
    }
}

wire_struct! {
    /// How many sort keys there are; -1 if it took too long to count them.
    pub struct CountResponse as "count_response" {
        1 error: Status,
        2 count: i64,
        3 app_id: i32,
        4 partition_index: i32,
        6 server: String,
    }
}

wire_struct! {
    /// A row: the key is a sort key, for scans a raw key.
    pub struct KeyValue as "key_value" {
        1 key: Blob,
        2 value: Blob,
        3 expire_ts_seconds: Option<i32>,
    }
}

wire_struct! {
    /// Puts several values of one hash key, atomically.
    pub struct MultiPutRequest as "multi_put_request" {
        1 hash_key: Blob,
        2 kvs: Vec<KeyValue>,
        3 expire_ts_seconds: i32,
    }
}

wire_struct! {
    /// Removes several sort keys of one hash key, atomically.
    pub struct MultiRemoveRequest as "multi_remove_request" {
        1 hash_key: Blob,
        2 sort_keys: Vec<Blob>,
        3 max_count: i64,
    }
}

wire_struct! {
    /// How many sort keys were asked for, there or not.
    pub struct MultiRemoveResponse as "multi_remove_response" {
        1 error: Status,
        2 count: i64,
        3 app_id: i32,
        4 partition_index: i32,
        5 decree: i64,
        6 server: String,
    }
}

wire_struct! {
    /// Reads sort keys of one hash key: those that are named, or else a range.
    pub struct MultiGetRequest as "multi_get_request" {
        1 hash_key: Blob,
        2 sort_keys: Vec<Blob>,
        3 max_kv_count: i32,
        4 max_kv_size: i32,
        5 no_value: bool,
        6 start_sortkey: Blob,
        7 stop_sortkey: Blob,
        8 start_inclusive: bool,
        9 stop_inclusive: bool,
        10 sort_key_filter_type: FilterType,
        11 sort_key_filter_pattern: Blob,
        12 reverse: bool,
    }
}

wire_struct! {
    /// Rows in the order of their sort keys; status 7 if there are more.
    pub struct MultiGetResponse as "multi_get_response" {
        1 error: Status,
        2 kvs: Vec<KeyValue>,
        3 app_id: i32,
        4 partition_index: i32,
        6 server: String,
    }
}

wire_struct! {
    /// Hash key and sort key.
    pub struct FullKey as "full_key" {
        1 hash_key: Blob,
        2 sort_key: Blob,
    }
}

wire_struct! {
    /// Reads keys of one partition.
    pub struct BatchGetRequest as "batch_get_request" {
        1 keys: Vec<FullKey>,
    }
}

wire_struct! {
    /// Hash key, sort key and value.
    pub struct FullRow as "full_data" {
        1 hash_key: Blob,
        2 sort_key: Blob,
        3 value: Blob,
    }
}

wire_struct! {
    /// Those of the keys that there are.
    pub struct BatchGetResponse as "batch_get_response" {
        1 error: Status,
        2 data: Vec<FullRow>,
        3 app_id: i32,
        4 partition_index: i32,
        6 server: String,
    }
}

wire_struct! {
    /// Adds to a number that is a value in decimal digits. The key is a raw one.
    pub struct IncrRequest as "incr_request" {
        1 key: Blob,
        2 increment: i64,
        3 expire_ts_seconds: i32,
    }
}

wire_struct! {
    /// The number that is there now.
    pub struct IncrResponse as "incr_response" {
        1 error: Status,
        2 new_value: i64,
        3 app_id: i32,
        4 partition_index: i32,
        5 decree: i64,
        6 server: String,
    }
}

wire_struct! {
    /// Sets a value if another one, or the same, passes a check.
    pub struct CheckAndSetRequest as "check_and_set_request" {
        1 hash_key: Blob,
        2 check_sort_key: Blob,
        3 check_type: CasCheckType,
        4 check_operand: Blob,
        5 set_diff_sort_key: bool,
        6 set_sort_key: Blob,
        7 set_value: Blob,
        8 set_expire_ts_seconds: i32,
        9 return_check_value: bool,
    }
}

wire_struct! {
    /// Status 13 if the check did not pass; and the checked value, if it was asked for.
    pub struct CheckAndSetResponse as "check_and_set_response" {
        1 error: Status,
        2 check_value_returned: bool,
        3 check_value_exist: bool,
        4 check_value: Blob,
        5 app_id: i32,
        6 partition_index: i32,
        7 decree: i64,
        8 server: String,
    }
}

wire_struct! {
    /// One change of a check-and-mutate.
    pub struct Mutate as "mutate" {
        1 operation: MutateOperation,
        2 sort_key: Blob,
        3 value: Blob,
        4 set_expire_ts_seconds: i32,
    }
}

wire_struct! {
    /// Makes several changes below one hash key if a value passes a check.
    pub struct CheckAndMutateRequest as "check_and_mutate_request" {
        1 hash_key: Blob,
        2 check_sort_key: Blob,
        3 check_type: CasCheckType,
        4 check_operand: Blob,
        5 mutate_list: Vec<Mutate>,
        6 return_check_value: bool,
    }
}

wire_struct! {
    /// As the response of a check-and-set.
    pub struct CheckAndMutateResponse as "check_and_mutate_response" {
        1 error: Status,
        2 check_value_returned: bool,
        3 check_value_exist: bool,
        4 check_value: Blob,
        5 app_id: i32,
        6 partition_index: i32,
        7 decree: i64,
        8 server: String,
    }
}

wire_struct! {
    /// Begins a scan of one partition, from raw key to raw key.
    pub struct GetScannerRequest as "get_scanner_request" {
        1 start_key: Blob,
        2 stop_key: Blob,
        3 start_inclusive: bool,
        4 stop_inclusive: bool,
        5 batch_size: i32,
        6 no_value: bool,
        7 hash_key_filter_type: FilterType,
        8 hash_key_filter_pattern: Blob,
        9 sort_key_filter_type: FilterType,
        10 sort_key_filter_pattern: Blob,
        /// Left out it means true: Java and Python never send it.
        11 validate_partition_hash: Option<bool>,
        12 return_expire_ts: Option<bool>,
        13 full_scan: Option<bool>,
        14 only_return_count: Option<bool>,
    }
}

wire_struct! {
    /// Goes on with a scan.
    pub struct ScanRequest as "scan_request" {
        1 context_id: i64,
    }
}

wire_struct! {
    /// Rows of a scan, and with which context it goes on: -1 it has ended.
    pub struct ScanResponse as "scan_response" {
        1 error: Status,
        2 kvs: Vec<KeyValue>,
        3 context_id: i64,
        4 app_id: i32,
        5 partition_index: i32,
        6 server: String,
        7 kv_count: Option<i32>,
    }
}

/// The context of a scan that has ended.
pub const SCAN_ENDED: i64 = -1;
