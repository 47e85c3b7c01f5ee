//! What is measured: the traits that every engine implements, and our engine behind them.
//!
//! Law: nothing here knows a workload. An engine gets neutral settings and says what it made of
//! each of them.

pub mod settings;
pub mod counters;
pub mod store;
pub mod marker;
pub mod translate;
pub mod division;
pub mod embedded;
pub mod pegasus;
pub mod pegasus_cluster;
pub mod own_cluster;
pub mod protobuf;
pub mod grpc;
pub mod etcd;
