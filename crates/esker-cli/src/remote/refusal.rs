//! What an error of the client means for the person who asked.

use esker_rpc::client::ClientError;
use esker_rpc::error::{ErrorCode, ErrorName, Status};

use crate::fail::Failure;

/// What is said of a partition without a leader.
const NO_LEADER: &str = "the partition has no leader now: `esker table describe` shows its \
                         replicas, and `esker table recover` what can be done if most of them are \
                         lost";

/// What is said where nobody leads the meta service, which all commands on tables need.
const NO_META: &str = "most of the nodes that have a replica of it must run: start those that do \
                       not; if they are lost for ever, `esker serve --dir DIR --recover-meta` of \
                       one that is left says what can be done";

/// The same failure where nobody leads the meta service either: what is said of partitions could
/// not be followed.
pub fn without_meta(failure: Failure) -> Failure {
    let advice = format!("no server leads the meta service, nor the partition: {NO_META}");
    match failure {
        Failure::Told { code, message } => Failure::Told {
            code,
            message: message.replace(NO_LEADER, &advice),
        },
        other => other,
    }
}

/// True if the error says that nobody leads a partition.
pub fn is_leaderless(error: &ClientError) -> bool {
    matches!(error, ClientError::Refused(name) if name.code() == ErrorCode::InvalidState)
}

/// The failure of a write: one that may have been done has an exit code of its own, so that a
/// script can tell.
pub fn write_failure(doing: &str, error: &ClientError) -> Failure {
    match failure(doing, error) {
        Failure::Told { message, .. } if !error.is_undone() => Failure::unknown(message),
        other => other,
    }
}

/// The failure of a change of tables. A meta server that refuses one has not begun it, unless it
/// says that it does not know.
pub fn change_failure(doing: &str, error: &ClientError) -> Failure {
    match error {
        ClientError::Refused(name) | ClientError::Explained(name, _)
            if name.code() != ErrorCode::Timeout =>
        {
            failure(doing, error)
        }
        error => write_failure(doing, error),
    }
}

/// The failure of a command that was `doing` something, which reads like "cannot read the key".
pub fn failure(doing: &str, error: &ClientError) -> Failure {
    let advice = match error {
        ClientError::Refused(name) => of_refusal(name),
        // The server's own words know more than the name of the error.
        ClientError::Explained(..) => None,
        ClientError::Status(status) => of_status(*status),
        ClientError::TimedOut => Some("--timeout gives it more time"),
        ClientError::Unreachable => {
            Some("servers that are needed are not there or do not answer; --timeout waits longer")
        }
        ClientError::Leaderless => Some(NO_META),
        ClientError::TooEarly => {
            Some("it hears all nodes within five seconds: ask again, or --timeout waits longer")
        }
        ClientError::OutcomeUnknown => Some("read it, to know"),
        ClientError::Malformed(_) => Some("is that a server of Pegasus, or of Esker?"),
        ClientError::TooLong => Some("ask for fewer keys at once"),
        ClientError::Senseless(_) => return Failure::usage(format!("{doing}: {error}")),
    };
    Failure::failed(match advice {
        Some(advice) => format!("{doing}: {error}; {advice}"),
        None => format!("{doing}: {error}"),
    })
}

/// True if the error says that there is no such table.
pub fn is_no_table(error: &ClientError) -> bool {
    let (ClientError::Refused(name) | ClientError::Explained(name, _)) = error else {
        return false;
    };
    matches!(
        name.code(),
        ErrorCode::ObjectNotFound | ErrorCode::AppNotExist | ErrorCode::AppDropped
    )
}

/// True for a refusal that says no more than that the request makes no sense, as Pegasus does.
pub fn is_nonsense(error: &ClientError) -> bool {
    matches!(error, ClientError::Refused(name) if name.code() == ErrorCode::InvalidParameters)
}

fn of_refusal(name: &ErrorName) -> Option<&'static str> {
    Some(match name.code() {
        ErrorCode::AppExist => "there is such a table already, `esker table list` shows it",
        ErrorCode::Busy | ErrorCode::CapacityExceeded | ErrorCode::TryAgain => {
            "it has too much to do now: try again a little later"
        }
        ErrorCode::InvalidState => NO_LEADER,
        ErrorCode::NotEnoughMember => {
            "too few replicas live for a write: `esker node list` shows which nodes live"
        }
        ErrorCode::ServiceNotActive | ErrorCode::UnderRecovery => {
            "it is starting: try again a little later"
        }
        ErrorCode::Timeout => "nobody there knows whether it was done, or will be: look, to know",
        ErrorCode::StateFreezed => "an administrator has frozen the cluster",
        ErrorCode::BusyCreating | ErrorCode::BusyDropping => {
            "the table is being made or dropped: try again a little later"
        }
        ErrorCode::InvalidData => "is it too large? servers take up to 1 MiB in one write",
        ErrorCode::InvalidParameters => "`--help` tells what the command takes",
        ErrorCode::HandlerNotFound => {
            "is there a meta server at that address? a data server does not know the call"
        }
        ErrorCode::NotImplemented => "this server does not have that; a newer one may",
        ErrorCode::AclDeny | ErrorCode::Unauthenticated => "ask whose cluster it is",
        _ => return None,
    })
}

fn of_status(status: Status) -> Option<&'static str> {
    match status {
        Status::INVALID_ARGUMENT => Some("the server takes the request for nonsense"),
        Status::CORRUPTION | Status::IO_ERROR => {
            Some("the server's disk needs looking after, its log tells more")
        }
        Status::INCOMPLETE => Some("ask for less at once"),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
