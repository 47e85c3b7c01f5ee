//! The sockets of the double.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use esker_rpc::codec::frame::put_refusal;
use esker_rpc::codec::request_reader::{Request, RequestReader};
use esker_rpc::codec::scalars::Gpid;
use esker_rpc::error::{ErrorCode, ErrorName};
use esker_rpc::message::call::Unreadable;
use esker_rpc::message::data::KeyCall;
use esker_rpc::message::meta::MetaCall;
use esker_rpc::message::node::NodeCall;
use esker_rpc::rules::limits::WRITE_BODY_BYTES_MAX;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::OwnedWriteHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::admin;
use super::cluster::{Cluster, Node};
use super::fault::Fault;

/// What is read from a socket at once.
const READ_BYTES: usize = 64 * 1024;

/// A server that can be stopped, with all of its connections.
#[derive(Debug)]
pub struct Stop {
    accepting: AbortHandle,
    connections: Arc<Mutex<Vec<AbortHandle>>>,
    accepted: Arc<AtomicUsize>,
}

impl Stop {
    /// Stops listening, and ends every connection.
    pub fn stop(self) {
        self.accepting.abort();
        self.disconnect();
    }

    /// How many connections there have been.
    pub fn connection_count(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    /// Ends every connection.
    pub fn disconnect(&self) {
        let mut connections = self
            .connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        connections.drain(..).for_each(|one| one.abort());
    }
}

/// Who answers at a socket.
#[derive(Clone, Copy, Debug)]
enum Role {
    Meta(usize),
    Node(usize),
}

/// Adds a meta server that listens at `port` of this machine, or at any for 0.
pub async fn add_meta(cluster: &Cluster, port: u16) -> std::io::Result<(SocketAddrV4, Stop)> {
    let (listener, address) = listen(port).await?;
    let number = {
        let mut state = cluster.state();
        state.metas.push(address);
        state.metas.len() - 1
    };
    Ok((address, serve(cluster, listener, Role::Meta(number))))
}

/// Adds a data server that listens at `port` of this machine, or at any for 0.
pub async fn add_node(cluster: &Cluster, port: u16) -> std::io::Result<(SocketAddrV4, Stop)> {
    let (listener, address) = listen(port).await?;
    let number = {
        let mut state = cluster.state();
        state.nodes.push(Node {
            address,
            fault: Fault::None,
            refuses: None,
        });
        state.nodes.len() - 1
    };
    Ok((address, serve(cluster, listener, Role::Node(number))))
}

async fn listen(port: u16) -> std::io::Result<(TcpListener, SocketAddrV4)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let port = listener.local_addr()?.port();
    Ok((listener, SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)))
}

fn serve(cluster: &Cluster, listener: TcpListener, role: Role) -> Stop {
    let cluster = cluster.clone();
    let connections: Arc<Mutex<Vec<AbortHandle>>> = Arc::default();
    let kept = Arc::clone(&connections);
    let accepted: Arc<AtomicUsize> = Arc::default();
    let counted = Arc::clone(&accepted);
    let accepting = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let task = tokio::spawn(serve_one(cluster.clone(), stream, role));
            counted.fetch_add(1, Ordering::SeqCst);
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.retain(|one| !one.is_finished());
            kept.push(task.abort_handle());
        }
    });
    Stop {
        accepting: accepting.abort_handle(),
        connections,
        accepted,
    }
}

/// Answers HTTP with a page on which nothing is.
async fn show_nothing(mut stream: TcpStream) {
    let mut request = [0; 1024];
    // Whoever asked may have gone; here and below.
    let _ = stream.read(&mut request).await;
    let page = b"HTTP/1.1 200 OK\r\n\r\n{\"total\":0,\"kept\":[],\"replicas\":[]}";
    // As above.
    let _ = stream.write_all(page).await;
}

/// Reads requests and answers them until the connection ends or talks nonsense.
async fn serve_one(cluster: Cluster, stream: TcpStream, role: Role) {
    let mut first = [0; 4];
    if stream.peek(&mut first).await.is_ok() && &first == b"GET " {
        return show_nothing(stream).await;
    }
    // Without it answers wait for one another; if it cannot be set, they wait.
    let _ = stream.set_nodelay(true);
    let (mut read_half, write_half) = stream.into_split();
    let (answers, queue) = mpsc::unbounded_channel();
    let writing = AbortOnDrop(tokio::spawn(write_all(write_half, queue)).abort_handle());
    let mut reader = RequestReader::new(WRITE_BODY_BYTES_MAX);
    loop {
        let buffer = reader.buffer();
        buffer.reserve(READ_BYTES);
        match read_half.read_buf(buffer).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let mut batch = Vec::new();
        loop {
            match reader.next() {
                Ok(Some(request)) => batch.push(request),
                Ok(None) => break,
                Err(_) => return,
            }
        }
        let fault = match role {
            Role::Node(node) => cluster.state().nodes[node].fault,
            Role::Meta(_) => match cluster.state().meta_delay {
                Duration::ZERO => Fault::None,
                delay => Fault::Late(delay),
            },
        };
        if fault == Fault::Closes && !batch.is_empty() {
            return;
        }
        let mut replies: Vec<Vec<u8>> = Vec::new();
        for request in &batch {
            replies.push(reply(&cluster, role, request));
        }
        if !send(fault, &batch, replies, &answers) {
            // What was cut is written before the connection ends.
            drop(answers);
            tokio::time::sleep(Duration::from_millis(50)).await;
            drop(writing);
            return;
        }
    }
}

struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn write_all(mut half: OwnedWriteHalf, mut queue: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(bytes) = queue.recv().await {
        if half.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

/// Sends the replies as `fault` has it; false if the connection is to end.
fn send(
    fault: Fault,
    batch: &[Request],
    mut replies: Vec<Vec<u8>>,
    answers: &mpsc::UnboundedSender<Vec<u8>>,
) -> bool {
    // A client that has gone takes no more.
    let send = |bytes: Vec<u8>| drop(answers.send(bytes));
    match fault {
        Fault::None | Fault::Closes => send(replies.concat()),
        Fault::Silent => {}
        Fault::Late(delay) => {
            let answers = answers.clone();
            tokio::spawn(async move {
                tokio::time::sleep(delay).await;
                drop(answers.send(replies.concat()));
            });
        }
        Fault::Reversed => {
            replies.reverse();
            send(replies.concat());
        }
        Fault::Rubbish => send(b"\0\0\0\x18 nobody knows what this is".to_vec()),
        Fault::Huge => send([&[0x7f, 0xff, 0xff, 0xff][..], &[b'x'; 4096]].concat()),
        Fault::CutsReplies => {
            let bytes = replies.concat();
            send(bytes[..bytes.len() / 2].to_vec());
            return false;
        }
        Fault::Repeats => {
            let mut stray = Vec::new();
            for request in batch {
                let named = (
                    request.name.as_str(),
                    request.sequence.wrapping_add(1 << 20),
                );
                put_refusal(&mut stray, named, &ErrorCode::Busy.into());
            }
            send([replies.concat(), stray, replies.concat()].concat());
        }
    }
    true
}

/// The bytes of the reply; none for a call that is never answered.
fn reply(cluster: &Cluster, role: Role, request: &Request) -> Vec<u8> {
    let mut out = Vec::new();
    let refused = match role {
        Role::Meta(meta) => reply_of_meta(cluster, meta, request, &mut out),
        Role::Node(node) => reply_of_node(cluster, node, request, &mut out),
    };
    if let Err(error) = refused {
        put_refusal(&mut out, (&request.name, request.sequence), &error);
    }
    out
}

fn reply_of_meta(
    cluster: &Cluster,
    meta: usize,
    request: &Request,
    out: &mut Vec<u8>,
) -> Result<(), ErrorName> {
    let call = MetaCall::read(&request.name, arguments(request)?)?;
    admin::answer(cluster, meta, &call).put(out, request.sequence);
    Ok(())
}

fn reply_of_node(
    cluster: &Cluster,
    node: usize,
    request: &Request,
    out: &mut Vec<u8>,
) -> Result<(), ErrorName> {
    let arguments = arguments(request)?;
    match KeyCall::read(&request.name, arguments) {
        Ok(call) => {
            let gpid = Gpid {
                app_id: request.head.app_id,
                partition_index: request.head.partition_index,
            };
            match cluster.answer(node, gpid, call) {
                Ok(answer) => answer.put(out, request.sequence),
                Err(error) => return Err(error),
            }
        }
        Err(Unreadable::NoSuchCall) => {
            let call = NodeCall::read(&request.name, arguments)?;
            admin::answer_node(cluster, &call).put(out, request.sequence);
        }
        Err(unreadable) => return Err(unreadable.into()),
    }
    Ok(())
}

fn arguments(request: &Request) -> Result<&[u8], ErrorName> {
    let arguments = request.arguments.as_deref();
    arguments.ok_or(ErrorCode::InvalidData.into())
}
