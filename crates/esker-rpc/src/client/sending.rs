//! Brings a call to its partition, and again where that is safe.

use std::net::SocketAddrV4;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout_at};

use crate::client::connection::NoReply;
use crate::client::failure::{ClientError, Result};
use crate::client::pool::Pool;
use crate::client::route::{Route, Routing};
use crate::client::settings::CallSettings;
use crate::codec::frame::{RequestHead, Version, put_request, read_result};
use crate::codec::reply_reader::Reply;
use crate::error::{ErrorCode, ErrorName, Reaction};
use crate::message::call::{Access, Call};

/// Wait before a call is sent again; it doubles up to the second number.
const BACK_OFF: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(500)];

/// A read is given up at one server after this part of its time: it may be asked elsewhere.
const READ_ATTEMPTS: u32 = 3;

/// Asking for another route takes at most this part of the time that is left.
const REROUTE_PART: u32 = 3;

/// Which partition a call is for.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    /// The one of keys with that hash.
    Hash(u64),
    /// That one.
    Partition(u32),
}

/// What a table's calls share.
#[derive(Debug)]
pub struct Sender {
    /// Connections.
    pub pool: Arc<Pool>,
    /// Who leads what.
    pub route: Arc<Route>,
}

/// Where one attempt goes.
struct Attempt {
    head: RequestHead,
    address: Option<SocketAddrV4>,
}

/// What is done after an attempt that brought no result.
enum Next {
    // With another route.
    Reroute,
    // With the same one.
    Again,
    // Nothing more: it is not safe, or of no use.
    End,
}

impl Sender {
    /// Sends `request` until its partition's leader answers, something forbids to go on, or the
    /// deadline of `settings` comes.
    pub async fn send<C: Call>(
        &self,
        target: Target,
        request: &C::Request,
        settings: CallSettings,
    ) -> Result<C::Response> {
        let routed = self.send_routed::<C>(target, request, settings).await;
        routed.map(|(response, _)| response)
    }

    /// The same, and with which version of the route it was answered.
    pub async fn send_routed<C: Call>(
        &self,
        target: Target,
        request: &C::Request,
        settings: CallSettings,
    ) -> Result<(C::Response, u64)> {
        let deadline = settings.deadline();
        let mut routing = self.route.current(deadline).await?;
        if self.route.take_doubt(routing.version) {
            routing = self.reroute(routing, deadline).await?;
        }
        let mut back_off = BACK_OFF[0];
        // True once a write may have been done, whatever later attempts come to.
        let mut is_unknown = false;
        // A connection that is lost for the first time is made again, without asking anybody: it
        // may have been idle for long.
        let mut has_lost = false;
        loop {
            let until = attempt_until::<C>(settings, deadline);
            let (failure, next) = match self.try_once::<C>(&routing, target, request, until).await {
                Ok(reply) if reply.error.is_ok() => {
                    return Ok((result::<C>(reply)?, routing.version));
                }
                Ok(reply) => after_refusal(reply.error),
                Err(none) => {
                    if none.is_late {
                        self.route.doubt(routing.version);
                    }
                    is_unknown |= none.was_sent && C::ROW.access != Access::Reads;
                    let is_first_loss = none.was_sent && !none.is_late && !has_lost;
                    has_lost |= is_first_loss;
                    after_silence(C::ROW.access, none, settings, is_first_loss)
                }
            };
            let failed = |failure| match is_unknown {
                true => Err(ClientError::OutcomeUnknown),
                false => Err(failure),
            };
            if Instant::now() + back_off >= deadline || matches!(next, Next::End) {
                return failed(failure);
            }
            sleep_until(Instant::now() + back_off).await;
            back_off = (back_off * 2).min(BACK_OFF[1]);
            if let Next::Reroute = next {
                routing = match self.reroute(routing, deadline).await {
                    Ok(routing) => routing,
                    Err(gone) => return failed(gone),
                };
            }
        }
    }

    /// Sends a read once, to the server that had answered with that version of the route: `None` if
    /// it does not lead any more, cannot be reached or does not answer.
    pub async fn send_to_same<C: Call>(
        &self,
        (target, version): (Target, u64),
        request: &C::Request,
        settings: CallSettings,
    ) -> Result<Option<C::Response>> {
        let deadline = settings.deadline();
        let routing = self.route.current(deadline).await?;
        if routing.version != version {
            return Ok(None);
        }
        let until = attempt_until::<C>(settings, deadline);
        match self.try_once::<C>(&routing, target, request, until).await {
            Ok(reply) if reply.error.is_ok() => result::<C>(reply).map(Some),
            Ok(reply) => match after_refusal(reply.error) {
                (failure, Next::End) => Err(failure),
                _ => Ok(None),
            },
            Err(_) => Ok(None),
        }
    }

    /// Sends a call that is never answered to the leader of its partition, if that is known.
    pub async fn tell<C: Call>(&self, target: Target, request: C::Request) {
        // A deadline that has passed: only what is known already is used.
        let Ok(routing) = self.route.current(Instant::now()).await else {
            return;
        };
        let attempt = attempt(&routing, target, Instant::now());
        if let Some(address) = attempt.address
            && let Some(connection) = self.pool.connection(address).await
        {
            connection.tell(|out, sequence| {
                put_request(out, &attempt.head, (C::ROW.name, sequence), &request);
            });
        }
    }

    async fn try_once<C: Call>(
        &self,
        routing: &Routing,
        target: Target,
        request: &C::Request,
        until: Instant,
    ) -> std::result::Result<Reply, NoReply> {
        let attempt = attempt(routing, target, until);
        let unsent = |is_late| NoReply {
            was_sent: false,
            is_late,
        };
        let address = attempt.address.ok_or(unsent(false))?;
        let connecting = timeout_at(until, self.pool.connection(address)).await;
        let connection = connecting.map_err(|_| unsent(true))?.ok_or(unsent(false))?;
        let put = |out: &mut Vec<u8>, sequence| {
            put_request(out, &attempt.head, (C::ROW.name, sequence), request);
        };
        connection.call(put, until).await
    }

    /// A route that is not `routing`; the same again if no meta server answers in a part of what is
    /// left until `deadline`: data servers go on where these are away. An error if one says that
    /// there is no such table.
    async fn reroute(&self, routing: Arc<Routing>, deadline: Instant) -> Result<Arc<Routing>> {
        let now = Instant::now();
        let until = now + deadline.saturating_duration_since(now) / REROUTE_PART;
        match self.route.newer_than(routing.version, until).await {
            Ok(newer) => Ok(newer),
            Err(ClientError::Refused(name)) if name.code() == ErrorCode::ObjectNotFound => {
                Err(ClientError::Refused(name))
            }
            Err(_) => Ok(routing),
        }
    }
}

fn attempt(routing: &Routing, target: Target, until: Instant) -> Attempt {
    let timeout = until.saturating_duration_since(Instant::now());
    let (index, partition_hash) = match target {
        Target::Hash(hash) => (routing.partition_of(hash), hash),
        // As all clients do for scans of a whole table.
        Target::Partition(index) => (index, u64::from(index)),
    };
    let head = RequestHead {
        version: Version::V1,
        app_id: routing.app_id,
        partition_index: i32::try_from(index).expect("at most 65 536"),
        client_timeout_ms: i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX),
        partition_hash,
        is_backup_request: false,
    };
    Attempt {
        head,
        address: routing.primary(index),
    }
}

/// When one attempt ends: a read may be asked again, elsewhere, and a write may not.
fn attempt_until<C: Call>(settings: CallSettings, deadline: Instant) -> Instant {
    match C::ROW.access {
        Access::Reads => deadline.min(Instant::now() + settings.timeout / READ_ATTEMPTS),
        _ => deadline,
    }
}

fn result<C: Call>(reply: Reply) -> Result<C::Response> {
    let result = reply.result.ok_or(ClientError::TooLong)?;
    Ok(read_result(&result)?)
}

fn after_refusal(error: ErrorName) -> (ClientError, Next) {
    let next = match error.code().reaction() {
        Reaction::AskMeta => Next::Reroute,
        Reaction::TryLater => Next::Again,
        Reaction::Fail => Next::End,
    };
    (ClientError::Refused(error), next)
}

/// What a call without a reply has failed with so far, and whether it may be sent again.
fn after_silence(
    access: Access,
    none: NoReply,
    settings: CallSettings,
    is_first_loss: bool,
) -> (ClientError, Next) {
    let again = match is_first_loss {
        true => Next::Again,
        false => Next::Reroute,
    };
    match (none.was_sent, access) {
        (true, Access::Reads) => (ClientError::TimedOut, again),
        (true, Access::Writes) if settings.resends_writes => (ClientError::OutcomeUnknown, again),
        (true, _) => (ClientError::OutcomeUnknown, Next::End),
        (false, _) if none.is_late => (ClientError::TimedOut, again),
        (false, _) => (ClientError::Unreachable, again),
    }
}
