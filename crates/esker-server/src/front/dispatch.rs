//! Takes a request apart and gives it to whoever answers.

use std::sync::Arc;

use esker_rpc::codec::frame::put_refusal;
use esker_rpc::codec::request_reader::Request;
use esker_rpc::codec::scalars::Gpid;
use esker_rpc::error::{ErrorCode, ErrorName};
use esker_rpc::message::call::{Row, Unreadable};
use esker_rpc::message::data::{KeyAnswer, KeyCall};
use esker_rpc::message::meta::{MetaAnswer, MetaCall};
use esker_rpc::message::node::{NodeAnswer, NodeCall};

use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use crate::front::counters::Cause;
use crate::front::outbox::Outbox;
use crate::front::service::{Caller, KeysCall, Service};
use crate::reply::{Reply, Responder};

/// What a call holds until its reply is written: of its connection, and of its door.
pub(crate) type Permits = [OwnedSemaphorePermit; 2];

/// Where the reply to one request goes.
pub(crate) struct Return {
    pub(crate) outbox: Arc<Outbox<Permits>>,
    pub(crate) permits: Permits,
    pub(crate) unread_bytes_max: usize,
    pub(crate) name: String,
    pub(crate) sequence: i32,
}

impl Return {
    /// Refuses the request; one that is never answered is not refused either.
    pub(crate) fn refuse(self, error: &ErrorName) {
        let is_silent = |row: &Row| row.name == self.name && !row.is_answered;
        if KeyCall::ROWS.iter().any(is_silent) {
            return;
        }
        let named = (self.name.as_str(), self.sequence);
        self.outbox
            .push(self.permits, self.unread_bytes_max, |out| {
                put_refusal(out, named, error)
            });
    }

    fn responder<A: Answer>(self) -> Responder<A> {
        Responder::new(move |reply: Reply<A>| match reply {
            Reply::Answer(answer) => {
                let sequence = self.sequence;
                self.outbox
                    .push(self.permits, self.unread_bytes_max, |out| {
                        answer.put(out, sequence)
                    });
            }
            Reply::Refused(error) => self.refuse(&error),
            // The permits go back with what is dropped here.
            Reply::Unknown => {}
        })
    }
}

/// A response of one of the doors' tables of calls.
trait Answer: Send + 'static {
    fn put(&self, out: &mut Vec<u8>, sequence: i32);
}

macro_rules! answers {
    ($($Answer:ident)*) => {
        $(impl Answer for $Answer {
            fn put(&self, out: &mut Vec<u8>, sequence: i32) {
                $Answer::put(self, out, sequence);
            }
        })*
    };
}

answers! { MetaAnswer NodeAnswer }

/// What a row takes besides its bytes: kinds and numbers of fields, lengths, a stop.
const ROW_BYTES: usize = 32;

impl Answer for KeyAnswer {
    fn put(&self, out: &mut Vec<u8>, sequence: i32) {
        // Many rows are much to move while the room for them grows.
        let (rows, bytes) = self.size();
        out.reserve(bytes + rows * ROW_BYTES);
        KeyAnswer::put(self, out, sequence);
    }
}

/// Why the door itself has turned a request away, and the name of its call.
pub(crate) type Refused = (Cause, String);

/// Gives a request that came at a data server's address to `service`, unless it is none.
pub(crate) fn to_keys<S: Service>(
    service: &S,
    request: Request,
    (caller, received): (Caller, Instant),
    back: Return,
) -> Result<(), Refused> {
    let Some(arguments) = request.arguments else {
        return Err(too_long(&request.name, back));
    };
    let gpid = Gpid {
        app_id: request.head.app_id,
        partition_index: request.head.partition_index,
    };
    match KeyCall::read(&request.name, &arguments) {
        Ok(call) => {
            let call = KeysCall {
                gpid,
                partition_hash: request.head.partition_hash,
                is_backup_request: request.head.is_backup_request,
                call,
                arguments,
                caller,
                received,
            };
            service.keys(call, back.responder());
            Ok(())
        }
        Err(Unreadable::NoSuchCall) => match NodeCall::read(&request.name, &arguments) {
            Ok(call) => {
                service.node(call, back.responder());
                Ok(())
            }
            Err(unreadable) => Err(refused(&request.name, unreadable, back)),
        },
        Err(unreadable) => Err(refused(&request.name, unreadable, back)),
    }
}

/// Gives a request that came at a meta server's address to `service`, unless it is none.
pub(crate) fn to_meta<S: Service>(
    service: &S,
    request: Request,
    back: Return,
) -> Result<(), Refused> {
    let Some(arguments) = request.arguments else {
        return Err(too_long(&request.name, back));
    };
    match MetaCall::read(&request.name, &arguments) {
        Ok(call) => {
            service.meta(call, arguments, back.responder());
            Ok(())
        }
        Err(unreadable) => Err(refused(&request.name, unreadable, back)),
    }
}

fn too_long(name: &str, back: Return) -> Refused {
    back.refuse(&ErrorCode::InvalidData.into());
    (Cause::TooLong, name.escape_debug().to_string())
}

fn refused(name: &str, unreadable: Unreadable, back: Return) -> Refused {
    back.refuse(&unreadable.into());
    let cause = match unreadable {
        Unreadable::NoSuchCall => Cause::NoSuchCall,
        Unreadable::Malformed(_) => Cause::Arguments,
    };
    (cause, name.escape_debug().to_string())
}
