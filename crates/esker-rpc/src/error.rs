//! The names of errors on the wire, who knows them, and what a client does about each.
//!
//! An error travels as its name. A client that meets a name it does not know throws away the
//! connection, or stops reading from it for good. So each code says what is sent in its place, if
//! not every client knows it, and [`ErrorName::sent`] is the only way from a code to bytes.

use std::fmt;

/// What a client does about an error that is not `ERR_OK`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// The route is out of date: ask the meta server anew, then try again.
    AskMeta,
    /// The server cannot now: wait, then try again at the same one.
    TryLater,
    /// Nothing that the client can do changes the answer.
    Fail,
}

macro_rules! codes {
    (
        known_to_all { $($name:ident $text:literal,)* }
        known_to_some { $($some:ident $some_text:literal sent as $other:ident,)* }
    ) => {
        /// An error that has a name on the wire.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "the names are the protocol's own")]
        pub enum ErrorCode { $($name,)* $($some,)* }

        impl ErrorCode {
            /// Every code; those that all clients know come first.
            pub const ALL: &[ErrorCode] = &[$(ErrorCode::$name,)* $(ErrorCode::$some,)*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self {
                    $(ErrorCode::$name => $text,)*
                    $(ErrorCode::$some => $some_text,)*
                }
            }

            /// The code of that name.
            pub fn of(name: &str) -> Option<ErrorCode> {
                match name {
                    $($text => Some(ErrorCode::$name),)*
                    $($some_text => Some(ErrorCode::$some),)*
                    _ => None,
                }
            }

            /// The code that is sent for this one: itself if every client knows it.
            pub fn sent(self) -> ErrorCode {
                match self {
                    $(ErrorCode::$some => ErrorCode::$other,)*
                    known => known,
                }
            }
        }
    };
}

codes! {
    // Servers, Go, Java, Python 2.6 and 0.0.1.1, and Node all have these.
    known_to_all {
        Ok "ERR_OK",
        Unknown "ERR_UNKNOWN",
        ServiceNotFound "ERR_SERVICE_NOT_FOUND",
        ServiceAlreadyRunning "ERR_SERVICE_ALREADY_RUNNING",
        IoPending "ERR_IO_PENDING",
        Timeout "ERR_TIMEOUT",
        ServiceNotActive "ERR_SERVICE_NOT_ACTIVE",
        Busy "ERR_BUSY",
        NetworkInitFailed "ERR_NETWORK_INIT_FAILED",
        ForwardToOthers "ERR_FORWARD_TO_OTHERS",
        ObjectNotFound "ERR_OBJECT_NOT_FOUND",
        HandlerNotFound "ERR_HANDLER_NOT_FOUND",
        LearnFileFailed "ERR_LEARN_FILE_FAILED",
        GetLearnStateFailed "ERR_GET_LEARN_STATE_FAILED",
        InvalidVersion "ERR_INVALID_VERSION",
        InvalidParameters "ERR_INVALID_PARAMETERS",
        CapacityExceeded "ERR_CAPACITY_EXCEEDED",
        InvalidState "ERR_INVALID_STATE",
        InactiveState "ERR_INACTIVE_STATE",
        NotEnoughMember "ERR_NOT_ENOUGH_MEMBER",
        FileOperationFailed "ERR_FILE_OPERATION_FAILED",
        HandleEof "ERR_HANDLE_EOF",
        WrongChecksum "ERR_WRONG_CHECKSUM",
        InvalidData "ERR_INVALID_DATA",
        InvalidHandle "ERR_INVALID_HANDLE",
        IncompleteData "ERR_INCOMPLETE_DATA",
        VersionOutdated "ERR_VERSION_OUTDATED",
        PathNotFound "ERR_PATH_NOT_FOUND",
        PathAlreadyExist "ERR_PATH_ALREADY_EXIST",
        AddressAlreadyUsed "ERR_ADDRESS_ALREADY_USED",
        StateFreezed "ERR_STATE_FREEZED",
        LocalAppFailure "ERR_LOCAL_APP_FAILURE",
        BindIocpFailed "ERR_BIND_IOCP_FAILED",
        NetworkStartFailed "ERR_NETWORK_START_FAILED",
        NotImplemented "ERR_NOT_IMPLEMENTED",
        CheckpointFailed "ERR_CHECKPOINT_FAILED",
        WrongTiming "ERR_WRONG_TIMING",
        NoNeedOperate "ERR_NO_NEED_OPERATE",
        Corruption "ERR_CORRUPTION",
        TryAgain "ERR_TRY_AGAIN",
        ClusterNotFound "ERR_CLUSTER_NOT_FOUND",
        ClusterAlreadyExist "ERR_CLUSTER_ALREADY_EXIST",
        ReplicationFailure "ERR_REPLICATION_FAILURE",
        AppExist "ERR_APP_EXIST",
        AppNotExist "ERR_APP_NOT_EXIST",
        BusyCreating "ERR_BUSY_CREATING",
        BusyDropping "ERR_BUSY_DROPPING",
        Expired "ERR_EXPIRED",
        LockAlreadyExist "ERR_LOCK_ALREADY_EXIST",
        HoldByOthers "ERR_HOLD_BY_OTHERS",
        RecursiveLock "ERR_RECURSIVE_LOCK",
        NoOwner "ERR_NO_OWNER",
        NodeAlreadyExist "ERR_NODE_ALREADY_EXIST",
        InconsistentState "ERR_INCONSISTENT_STATE",
        ArrayIndexOutOfRange "ERR_ARRAY_INDEX_OUT_OF_RANGE",
        ZookeeperOperation "ERR_ZOOKEEPER_OPERATION",
    }
    // The first seventeen are unknown to Python 0.0.1.1, the next five to Go, the rest to every
    // client. A replacement makes a client do the same, and says the same of a write: whether it
    // was surely not begun.
    known_to_some {
        Splitting "ERR_SPLITTING" sent as Busy,
        ParentPartitionMisused "ERR_PARENT_PARTITION_MISUSED" sent as InvalidState,
        ChildNotReady "ERR_CHILD_NOT_READY" sent as InvalidState,
        ChildRegistered "ERR_CHILD_REGISTERED" sent as NoNeedOperate,
        DiskInsufficient "ERR_DISK_INSUFFICIENT" sent as Busy,
        AclDeny "ERR_ACL_DENY" sent as InvalidParameters,
        Unauthenticated "ERR_UNAUTHENTICATED" sent as InvalidParameters,
        OperationDisabled "ERR_OPERATION_DISABLED" sent as NotImplemented,
        UnderRecovery "ERR_UNDER_RECOVERY" sent as ServiceNotActive,
        IngestionFailed "ERR_INGESTION_FAILED" sent as LocalAppFailure,
        Krb5Internal "ERR_KRB5_INTERNAL" sent as Unknown,
        SaslInternal "ERR_SASL_INTERNAL" sent as Unknown,
        SaslIncomplete "ERR_SASL_INCOMPLETE" sent as Unknown,
        AppDropped "ERR_APP_DROPPED" sent as AppNotExist,
        Injected "ERR_INJECTED" sent as Unknown,
        NetworkFailure "ERR_NETWORK_FAILURE" sent as Timeout,
        ServiceAlreadyExist "ERR_SERVICE_ALREADY_EXIST" sent as ServiceAlreadyRunning,
        DirNotEmpty "ERR_DIR_NOT_EMPTY" sent as FileOperationFailed,
        FsInternal "ERR_FS_INTERNAL" sent as FileOperationFailed,
        IgnoreBadData "ERR_IGNORE_BAD_DATA" sent as Corruption,
        LearnerNotFound "ERR_LEARNER_NOT_FOUND" sent as Unknown,
        MockInternal "ERR_MOCK_INTERNAL" sent as Unknown,
        DiskIoError "ERR_DISK_IO_ERROR" sent as FileOperationFailed,
        RdbCorruption "ERR_RDB_CORRUPTION" sent as Corruption,
        RetryExhausted "ERR_RETRY_EXHAUSTED" sent as TryAgain,
        NotMatched "ERR_NOT_MATCHED" sent as Unknown,
        DupExist "ERR_DUP_EXIST" sent as AppExist,
        HttpError "ERR_HTTP_ERROR" sent as Unknown,
        CurlFailed "ERR_CURL_FAILED" sent as Unknown,
    }
}

impl ErrorCode {
    /// What a client does about it. `ERR_OK` and what nobody sends in earnest count as failures.
    pub fn reaction(self) -> Reaction {
        match self {
            ErrorCode::ObjectNotFound
            | ErrorCode::InvalidState
            | ErrorCode::InactiveState
            | ErrorCode::ParentPartitionMisused
            | ErrorCode::ChildNotReady
            | ErrorCode::ForwardToOthers => Reaction::AskMeta,
            ErrorCode::NotEnoughMember
            | ErrorCode::CapacityExceeded
            | ErrorCode::ServiceNotActive
            | ErrorCode::UnderRecovery
            | ErrorCode::BusyCreating => Reaction::TryLater,
            _ => Reaction::Fail,
        }
    }

    /// True if a server that refuses a write with it has surely not begun the write.
    pub fn is_refused_undone(self) -> bool {
        self.reaction() != Reaction::Fail
            || matches!(
                self,
                ErrorCode::Splitting
                    | ErrorCode::Busy
                    | ErrorCode::InvalidData
                    | ErrorCode::AclDeny
                    | ErrorCode::Unauthenticated
                    | ErrorCode::DiskInsufficient
                    | ErrorCode::OperationDisabled
                    | ErrorCode::InvalidParameters
                    | ErrorCode::NotImplemented
                    | ErrorCode::HandlerNotFound
            )
    }
}

/// The name of an error as it came, which need not be one that we know.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ErrorName {
    /// A name that we know.
    Known(ErrorCode),
    /// Any other.
    Strange(String),
}

impl ErrorName {
    /// `ERR_OK`.
    pub const OK: ErrorName = ErrorName::Known(ErrorCode::Ok);

    /// The name that came as `text`.
    pub fn of(text: &str) -> ErrorName {
        match ErrorCode::of(text) {
            Some(code) => ErrorName::Known(code),
            None => ErrorName::Strange(text.to_owned()),
        }
    }

    /// True for `ERR_OK`.
    pub fn is_ok(&self) -> bool {
        *self == ErrorName::OK
    }

    /// Its code; `ERR_UNKNOWN` for a strange name.
    pub fn code(&self) -> ErrorCode {
        match self {
            ErrorName::Known(code) => *code,
            ErrorName::Strange(_) => ErrorCode::Unknown,
        }
    }

    /// The name that goes on the wire for it: always one that every client knows.
    pub fn sent(&self) -> &'static str {
        self.code().sent().name()
    }
}

/// `ERR_UNKNOWN`: a response that leaves its error out has not said that all is well.
impl Default for ErrorName {
    fn default() -> ErrorName {
        ErrorName::Known(ErrorCode::Unknown)
    }
}

impl From<ErrorCode> for ErrorName {
    fn from(code: ErrorCode) -> ErrorName {
        ErrorName::Known(code)
    }
}

impl fmt::Display for ErrorName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorName::Known(code) => formatter.write_str(code.name()),
            ErrorName::Strange(text) => write!(formatter, "{}", text.escape_debug()),
        }
    }
}

/// What came of a call that reached its partition: the field `error` of a response.
///
/// The numbers are those of RocksDB's statuses. Any other number is kept as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Status(pub i32);

impl Status {
    /// It was done.
    pub const OK: Status = Status(0);
    /// Absent or expired; or no scan context has that id.
    pub const NOT_FOUND: Status = Status(1);
    /// Storage is damaged.
    pub const CORRUPTION: Status = Status(2);
    /// Not supported.
    pub const NOT_SUPPORTED: Status = Status(3);
    /// The request makes no sense.
    pub const INVALID_ARGUMENT: Status = Status(4);
    /// Storage failed.
    pub const IO_ERROR: Status = Status(5);
    /// The rows are good, and there are more.
    pub const INCOMPLETE: Status = Status(7);
    /// A response left it out, which no sound server does.
    pub const UNSAID: Status = Status(-1);
    /// The check of a check-and-set did not pass.
    pub const TRY_AGAIN: Status = Status(13);

    /// True if it was done.
    pub fn is_ok(self) -> bool {
        self == Status::OK
    }
}

/// A response that leaves its status out has not said that all is well.
impl Default for Status {
    fn default() -> Status {
        Status::UNSAID
    }
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match *self {
            Status::OK => "ok",
            Status::NOT_FOUND => "not found",
            Status::CORRUPTION => "corruption",
            Status::NOT_SUPPORTED => "not supported",
            Status::INVALID_ARGUMENT => "invalid argument",
            Status::IO_ERROR => "I/O error",
            Status::INCOMPLETE => "incomplete",
            Status::TRY_AGAIN => "check failed",
            Status(number) => return write!(formatter, "status {number}"),
        };
        formatter.write_str(words)
    }
}

#[cfg(test)]
mod tests;
