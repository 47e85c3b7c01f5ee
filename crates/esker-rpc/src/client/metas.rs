//! Asks whichever meta server leads.

use std::net::SocketAddrV4;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::client::failure::{ClientError, Result};
use crate::client::pool::Pool;
use crate::client::settings::ClientSettings;
use crate::codec::frame::{RequestHead, put_request, read_result};
use crate::error::{ErrorCode, ErrorName, Reaction};
use crate::message::balance::{
    GetReplicaCountResponse, ProposeBalancerResponse, SetReplicaCountResponse,
};
use crate::message::call::{Access, Call};
use crate::message::meta::{
    ControlMetaResponse, CreateTableResponse, DescribeClusterResponse, DropTableResponse,
    ListNodesResponse, ListTablesResponse, QueryConfigResponse, RecallTableResponse,
    RenameTableResponse, UpdateTableEnvResponse,
};
use crate::message::own::{
    BalanceResponse, ChangeNodeResponse, MoveReplicaResponse, RecoverTableResponse,
    SetMetaReplicasResponse, ShowNodesResponse,
};

/// Meta servers that are known, at most: those of the settings and those that others named.
const METAS_MAX: usize = 16;

/// Wait after every known meta server was asked in vain; it doubles up to the second number.
const BACK_OFF: [Duration; 2] = [Duration::from_millis(20), Duration::from_millis(500)];

/// What every answer of a meta server has.
pub trait MetaResponse {
    /// Its error.
    fn err(&self) -> &ErrorName;

    /// What it says about its error in words; empty if nothing.
    fn hint(&self) -> &str {
        ""
    }

    /// Where the leader is, if the answer says that this server is not it.
    fn leader(&self) -> Option<SocketAddrV4> {
        None
    }
}

macro_rules! meta_responses {
    ($($name:ident $(with $hint:ident)?,)*) => {
        $(impl MetaResponse for $name {
            fn err(&self) -> &ErrorName {
                &self.err
            }

            $(fn hint(&self) -> &str {
                &self.$hint
            })?
        })*
    };
}

meta_responses! {
    ControlMetaResponse,
    CreateTableResponse,
    DescribeClusterResponse,
    DropTableResponse,
    ListNodesResponse,
    ProposeBalancerResponse,
    RecallTableResponse,
    BalanceResponse with hint_message,
    ChangeNodeResponse with hint_message,
    GetReplicaCountResponse with hint_message,
    MoveReplicaResponse with hint_message,
    RecoverTableResponse with hint_message,
    SetMetaReplicasResponse with hint_message,
    SetReplicaCountResponse with hint_message,
    ShowNodesResponse with hint_message,
    RenameTableResponse with hint_message,
    UpdateTableEnvResponse with hint_message,
}

impl MetaResponse for ListTablesResponse {
    fn err(&self) -> &ErrorName {
        &self.err
    }

    fn hint(&self) -> &str {
        self.hint_message.as_deref().unwrap_or_default()
    }
}

impl MetaResponse for QueryConfigResponse {
    fn err(&self) -> &ErrorName {
        &self.err
    }

    fn leader(&self) -> Option<SocketAddrV4> {
        self.partitions.first().and_then(|first| first.primary.0)
    }
}

/// The meta servers of a cluster.
#[derive(Debug)]
pub struct Metas {
    pool: Arc<Pool>,
    settings: ClientSettings,
    known: Mutex<Known>,
}

#[derive(Debug)]
struct Known {
    addresses: Vec<SocketAddrV4>,
    // Which of them is asked first.
    leader: usize,
}

/// What came of asking one meta server.
enum Told<T> {
    Answer(T),
    // The leader is there, or elsewhere.
    Elsewhere(Option<SocketAddrV4>),
    // It cannot answer yet.
    NotYet,
    // Nothing came back; true if it may have been done.
    Nothing(bool),
}

impl Metas {
    /// Those at `addresses`, of which there is one at least.
    pub fn new(addresses: Vec<SocketAddrV4>, pool: Arc<Pool>, settings: ClientSettings) -> Metas {
        assert!(!addresses.is_empty());
        Metas {
            pool,
            settings,
            known: Mutex::new(Known {
                addresses,
                leader: 0,
            }),
        }
    }

    /// Asks until a leader answers or the deadline comes. The error of the answer is the caller's
    /// business. What must not be done twice is not asked again once it was sent.
    pub async fn ask<C: Call>(&self, request: &C::Request, deadline: Instant) -> Result<C::Response>
    where
        C::Response: MetaResponse,
    {
        let mut asked_in_vain = 0;
        let (mut is_leaderless, mut is_early) = (false, false);
        let mut back_off = BACK_OFF[0];
        while Instant::now() < deadline {
            let (address, count) = self.candidate();
            match self.ask_one::<C>(address, request, deadline).await? {
                Told::Answer(answer) => return Ok(answer),
                // Not even what is as once when it is done twice: nobody asked for it.
                Told::Nothing(true) if C::ROW.access != Access::Reads => {
                    return Err(ClientError::OutcomeUnknown);
                }
                Told::Elsewhere(Some(leader)) if self.follow(address, leader) => {}
                // One that cannot answer yet may not be the leader at all.
                told @ (Told::Elsewhere(_) | Told::NotYet | Told::Nothing(_)) => {
                    is_leaderless |= matches!(told, Told::Elsewhere(None));
                    is_early |= matches!(told, Told::NotYet);
                    self.pass_over(address);
                }
            }
            asked_in_vain += 1;
            if asked_in_vain >= count {
                asked_in_vain = 0;
                sleep_until((Instant::now() + back_off).min(deadline)).await;
                back_off = (back_off * 2).min(BACK_OFF[1]);
            }
        }
        // Where one is about to say it, that others do not lead is no news.
        Err(match (is_early, is_leaderless) {
            (true, _) => ClientError::TooEarly,
            (false, true) => ClientError::Leaderless,
            (false, false) => ClientError::Unreachable,
        })
    }

    async fn ask_one<C: Call>(
        &self,
        address: SocketAddrV4,
        request: &C::Request,
        deadline: Instant,
    ) -> Result<Told<C::Response>>
    where
        C::Response: MetaResponse,
    {
        let until = deadline.min(Instant::now() + self.settings.meta_attempt);
        let connecting = tokio::time::timeout_at(until, self.pool.connection(address)).await;
        let Ok(Some(connection)) = connecting else {
            return Ok(Told::Nothing(false));
        };
        let put = |out: &mut Vec<u8>, sequence| {
            put_request(
                out,
                &RequestHead::default(),
                (C::ROW.name, sequence),
                request,
            );
        };
        // A leader that changes something may take long, and is not to be asked twice.
        let until = match C::ROW.access {
            Access::Reads => until,
            _ => deadline,
        };
        let reply = match connection.call(put, until).await {
            Ok(reply) => reply,
            Err(none) => return Ok(Told::Nothing(none.was_sent)),
        };
        if !reply.error.is_ok() {
            return match reply.error.code().reaction() {
                Reaction::AskMeta => Ok(Told::Elsewhere(None)),
                Reaction::TryLater => Ok(Told::NotYet),
                Reaction::Fail => Err(ClientError::Refused(reply.error)),
            };
        }
        let result = reply.result.ok_or(ClientError::TooLong)?;
        let answer: C::Response = read_result(&result)?;
        Ok(match answer.err().code() {
            ErrorCode::ForwardToOthers => Told::Elsewhere(answer.leader()),
            ErrorCode::ServiceNotActive | ErrorCode::UnderRecovery => Told::NotYet,
            _ => Told::Answer(answer),
        })
    }

    /// Which one is asked next, and how many there are.
    fn candidate(&self) -> (SocketAddrV4, usize) {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        (known.addresses[known.leader], known.addresses.len())
    }

    /// Asks `leader` next, as the one at `asked` said; false if that names itself.
    fn follow(&self, asked: SocketAddrV4, leader: SocketAddrV4) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let place = known.addresses.iter().position(|one| *one == leader);
        match place {
            Some(place) => known.leader = place,
            None if known.addresses.len() < METAS_MAX => {
                known.addresses.push(leader);
                known.leader = known.addresses.len() - 1;
            }
            None => return false,
        }
        leader != asked
    }

    /// Asks another one next, unless another call has gone on already.
    fn pass_over(&self, address: SocketAddrV4) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.addresses[known.leader] == address {
            known.leader = (known.leader + 1) % known.addresses.len();
        }
    }
}
