//! Servers that answer late, never, with rubbish, out of order, or break off.

use std::time::Duration;

use esker_rpc::client::{CallSettings, Client, ClientError, Table};
use esker_rpc::error::{ErrorCode, ErrorName};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep};

use crate::fixture::{Fixture, ms, run};
use crate::memory::fault::Fault;

/// One data server with that fault, and a table whose calls may take 300 ms.
async fn with(fault: Fault) -> (Fixture, Table) {
    let fixture = Fixture::with(1, 1).await;
    let table = fixture.table().await.with(call(false));
    set(&fixture, fault);
    (fixture, table)
}

fn call(resends_writes: bool) -> CallSettings {
    CallSettings {
        timeout: ms(300),
        resends_writes,
    }
}

fn set(fixture: &Fixture, fault: Fault) {
    fixture.cluster.state().nodes[0].fault = fault;
}

fn seen(fixture: &Fixture, call: &str) -> u64 {
    let name = format!("RPC_RRDB_RRDB_{call}");
    let state = fixture.cluster.state();
    state.seen.get(&name).copied().unwrap_or_default()
}

const LOSING: [Fault; 6] = [
    Fault::Silent,
    Fault::Rubbish,
    Fault::Huge,
    Fault::CutsReplies,
    Fault::Late(ms(500)),
    Fault::Closes,
];

#[test]
fn a_write_whose_outcome_is_unknown_is_reported_and_sent_once() {
    for fault in LOSING {
        run(async {
            let (fixture, table) = with(fault).await;
            let started = Instant::now();
            let incr = table.incr(b"hk", b"n", 1, 0).await;
            assert_eq!(incr, Err(ClientError::OutcomeUnknown), "{fault:?}");
            let set_ = table.set(b"hk", b"sk", b"v", 0).await;
            assert_eq!(set_, Err(ClientError::OutcomeUnknown), "{fault:?}");
            assert!(started.elapsed() < ms(1400));
            set(&fixture, Fault::None);
            let count = u64::from(fault != Fault::Closes);
            assert_eq!(seen(&fixture, "INCR"), count, "{fault:?}");
            assert_eq!(seen(&fixture, "PUT"), count, "{fault:?}");
            // The table is of use again, over a new connection where the old one was lost.
            let sum = table.incr(b"hk", b"n", 1, 0).await;
            assert_eq!(sum, Ok(i64::try_from(count).unwrap() + 1), "{fault:?}");
        });
    }
}

#[test]
fn a_put_is_sent_again_where_that_is_asked_for_and_an_increment_never() {
    for fault in LOSING {
        run(async {
            let (fixture, table) = with(fault).await;
            let table = table.with(CallSettings {
                timeout: ms(1200),
                resends_writes: true,
            });
            let put = tokio::spawn({
                let table = table.clone();
                async move { table.set(b"hk", b"sk", b"v", 0).await }
            });
            // One attempt came to nothing: of a connection that is closed no call is seen.
            let is_lost = || match fault {
                Fault::Closes => fixture.node_stops[0].connection_count() > 1,
                _ => seen(&fixture, "PUT") > 0,
            };
            while !is_lost() {
                sleep(ms(1)).await;
            }
            sleep(ms(60)).await;
            set(&fixture, Fault::None);
            let result = put.await.unwrap();
            let puts = seen(&fixture, "PUT");
            match fault {
                // It waits for the one answer, which the server may yet give, as long as it was
                // told.
                Fault::Late(_) => assert_eq!((result, puts), (Ok(()), 1)),
                Fault::Silent => assert_eq!((result, puts), (Err(ClientError::OutcomeUnknown), 1)),
                Fault::Closes => assert!(result == Ok(()) && puts > 0),
                _ => assert!(result == Ok(()) && puts > 1, "{fault:?}"),
            }
            set(&fixture, fault);
            let incr = table.with(CallSettings {
                timeout: ms(100),
                resends_writes: true,
            });
            let incr = incr.incr(b"hk", b"n", 1, 0).await;
            assert_eq!(incr, Err(ClientError::OutcomeUnknown), "{fault:?}");
            assert!(seen(&fixture, "INCR") <= 1);
        });
    }
}

#[test]
fn an_unknown_outcome_stays_unknown_whatever_comes_after() {
    run(async {
        let (fixture, table) = with(Fault::Closes).await;
        let put = tokio::spawn({
            let table = table.with(call(true));
            async move { table.set(b"hk", b"sk", b"v", 0).await }
        });
        // It comes again, so the first attempt is lost.
        while fixture.node_stops[0].connection_count() < 2 {
            sleep(ms(1)).await;
        }
        // A refusal that says "not done" speaks of the last attempt alone.
        {
            let mut state = fixture.cluster.state();
            state.nodes[0].fault = Fault::None;
            state.nodes[0].refuses = Some(ErrorCode::Busy);
        }
        assert_eq!(put.await.unwrap(), Err(ClientError::OutcomeUnknown));
        let alone = table.set(b"hk", b"sk", b"v", 0).await;
        assert_eq!(
            alone,
            Err(ClientError::Refused(ErrorName::Known(ErrorCode::Busy)))
        );
    });
}

#[test]
fn a_read_is_tried_again_until_its_deadline() {
    for fault in LOSING {
        run(async {
            let (fixture, table) = with(fault).await;
            let started = Instant::now();
            let error = table.get(b"hk", b"sk").await.unwrap_err();
            assert!(error.is_undone(), "{fault:?}: {error}");
            assert!(started.elapsed() < ms(1300));
            let read = tokio::spawn({
                let table = table.clone();
                async move { table.get(b"hk", b"sk").await }
            });
            sleep(ms(50)).await;
            set(&fixture, Fault::None);
            assert_eq!(read.await.unwrap(), Ok(None), "{fault:?}");
        });
    }
}

#[test]
fn replies_in_any_order_and_more_than_once_find_their_calls() {
    for fault in [Fault::Reversed, Fault::Repeats, Fault::Late(ms(20))] {
        run(async {
            let (fixture, table) = with(fault).await;
            let table = table.with(fixture.settings.call);
            let mut calls = Vec::new();
            for key in 0..300_u32 {
                let table = table.clone();
                calls.push(tokio::spawn(async move {
                    let key = key.to_be_bytes();
                    table.set(&key, b"", &key, 0).await.unwrap();
                    table.get(&key, b"").await
                }));
            }
            for (key, call) in (0_u32..).zip(calls) {
                assert_eq!(
                    call.await.unwrap(),
                    Ok(Some(key.to_be_bytes().to_vec())),
                    "{fault:?}"
                );
            }
        });
    }
}

#[test]
fn a_reply_after_the_deadline_is_nobodys() {
    run(async {
        let (fixture, table) = with(Fault::Late(ms(400))).await;
        table.set(b"hk", b"a", b"1", 0).await.unwrap_err();
        set(&fixture, Fault::None);
        for _ in 0..20 {
            assert_eq!(table.get(b"hk", b"a").await, Ok(Some(b"1".to_vec())));
            sleep(ms(10)).await;
        }
    });
}

#[test]
fn a_connection_that_has_fallen_silent_is_given_up() {
    // Calls with deadlines that are shorter than the silence: none of them waits long enough alone.
    run(async {
        let (fixture, table) = with(Fault::Silent).await;
        let table = table.with(CallSettings {
            timeout: ms(60),
            resends_writes: false,
        });
        let connections = || fixture.node_stops[0].connection_count();
        table.get(b"hk", b"sk").await.unwrap_err();
        assert_eq!(connections(), 1);
        let started = Instant::now();
        while connections() < 2 {
            table.get(b"hk", b"sk").await.unwrap_err();
            assert!(started.elapsed() < ms(2000));
        }
        assert!(started.elapsed() > ms(200));
        set(&fixture, Fault::None);
        assert_eq!(table.get(b"hk", b"sk").await, Ok(None));
    });
}

#[test]
fn a_silent_connection_without_calls_is_kept() {
    run(async {
        let (fixture, table) = with(Fault::None).await;
        table.get(b"hk", b"sk").await.unwrap();
        sleep(ms(900)).await;
        table.get(b"hk", b"sk").await.unwrap();
        assert_eq!(fixture.node_stops[0].connection_count(), 1);
    });
}

/// Puts a listener that nobody reads from in the place of the data server.
async fn never_reads(fixture: &Fixture) -> TcpListener {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    if let std::net::SocketAddr::V4(address) = listener.local_addr().unwrap() {
        fixture.cluster.state().nodes[0].address = address;
    }
    listener
}

#[test]
fn a_call_that_never_left_is_known_to_be_undone() {
    // The peer reads nothing: the first calls fill the socket, and the others wait behind them.
    run(async {
        let fixture = Fixture::with(1, 1).await;
        let listener = never_reads(&fixture).await;
        let accepting = tokio::spawn(async move { listener.accept().await.unwrap() });
        let mut settings = fixture.settings;
        settings.in_flight_bytes_max = 32 << 20;
        let client = Client::new(fixture.metas.clone(), settings);
        let table = client.table("t").await.unwrap().with(call(false));
        let mut calls = Vec::new();
        for number in 0..64_u32 {
            let table = table.clone();
            calls.push(tokio::spawn(async move {
                let value = vec![7; 1 << 20];
                table.set(&number.to_be_bytes(), b"", &value, 0).await
            }));
        }
        let mut counts = [0, 0];
        for call in calls {
            match call.await.unwrap().unwrap_err() {
                ClientError::OutcomeUnknown => counts[0] += 1,
                ClientError::TimedOut => counts[1] += 1,
                other => panic!("{other}"),
            }
        }
        // At least those beyond the bound on bytes in flight were never sent.
        assert!(counts[0] >= 1 && counts[1] >= 32, "{counts:?}");
        let (mut stream, _) = accepting.await.unwrap();
        // What is said to be unsent does not come later.
        let mut received = 0;
        let mut buffer = vec![0; 1 << 20];
        loop {
            let reading = tokio::time::timeout(ms(300), stream.read(&mut buffer));
            match reading.await {
                Ok(Ok(0) | Err(_)) | Err(_) => break,
                Ok(Ok(len)) => received += len,
            }
        }
        assert!(
            received <= (counts[0] + 1) * ((1 << 20) + 200),
            "{received} {counts:?}"
        );
    });
}

#[test]
fn servers_that_cannot_be_reached_fail_at_the_deadline_undone() {
    run(async {
        let mut fixture = Fixture::with(1, 1).await;
        let table = fixture.table().await.with(call(false));
        fixture.node_stops.remove(0).stop();
        let started = Instant::now();
        let error = table.incr(b"hk", b"n", 1, 0).await.unwrap_err();
        assert_eq!(error, ClientError::Unreachable);
        assert!((ms(100)..ms(1300)).contains(&started.elapsed()));
        // No meta server either.
        fixture.meta_stops.remove(0).stop();
        let error = fixture.client().table("t").await.unwrap_err();
        assert_eq!(error, ClientError::Unreachable);
    });
}

#[test]
fn a_call_that_may_take_long_outlasts_the_silence() {
    run(async {
        let (fixture, table) = with(Fault::Late(ms(900))).await;
        let table = table.with(CallSettings {
            timeout: ms(1500),
            resends_writes: false,
        });
        assert_eq!(table.incr(b"hk", b"n", 1, 0).await, Ok(1));
        assert_eq!(fixture.node_stops[0].connection_count(), 1);
    });
}

#[test]
fn a_reply_that_is_too_long_fails_its_own_call_alone() {
    run(async {
        let mut fixture = Fixture::with(1, 1).await;
        fixture.settings.reply_len_max = 4096;
        let table = fixture.table().await;
        table.set(b"hk", b"sk", &[7; 5000], 0).await.unwrap();
        set(&fixture, Fault::Late(ms(200)));
        let slow = tokio::spawn({
            let table = table.clone();
            async move { table.incr(b"hk", b"n", 1, 0).await }
        });
        sleep(ms(50)).await;
        set(&fixture, Fault::None);
        assert_eq!(table.get(b"hk", b"sk").await, Err(ClientError::TooLong));
        assert_eq!(slow.await.unwrap(), Ok(1));
        assert_eq!((seen(&fixture, "GET"), seen(&fixture, "INCR")), (1, 1));
        assert_eq!(fixture.node_stops[0].connection_count(), 1);
    });
}

#[test]
fn a_peer_that_reads_nothing_costs_no_more_memory_than_is_allowed() {
    // Calls that give up leave their bytes in the queue: those count until they are gone.
    let measured = allocation_counter::measure(|| {
        run(async {
            let mut fixture = Fixture::with(1, 1).await;
            let _listener = never_reads(&fixture).await;
            fixture.settings.in_flight_bytes_max = 8 << 20;
            fixture.settings.silence_max = Duration::from_secs(60);
            let table = fixture.table().await.with(CallSettings {
                timeout: ms(30),
                resends_writes: false,
            });
            let value = vec![7; 1 << 20];
            for number in 0..60_u32 {
                table
                    .set(&number.to_be_bytes(), b"", &value, 0)
                    .await
                    .unwrap_err();
            }
        });
    });
    // What is in flight, what the writer has copied of it, one value, and one call.
    assert!(measured.bytes_max < 30 << 20, "{}", measured.bytes_max);
}

#[test]
fn a_byte_now_and_then_is_no_sign_of_life() {
    run(async {
        let mut fixture = Fixture::with(1, 1).await;
        fixture.settings.silence_max = ms(200);
        let listener = never_reads(&fixture).await;
        let (closed, has_closed) = tokio::sync::oneshot::channel();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            // The beginning of a long reply.
            stream.write_all(&[0, 1, 0, 0]).await.unwrap();
            while stream.write_all(&[0]).await.is_ok() {
                sleep(ms(40)).await;
            }
            closed.send(()).unwrap();
        });
        let table = fixture.table().await.with(CallSettings {
            timeout: ms(50),
            resends_writes: false,
        });
        let asking = tokio::spawn(async move {
            loop {
                table.get(b"hk", b"sk").await.unwrap_err();
            }
        });
        has_closed.await.unwrap();
        asking.abort();
    });
}
