//! One end of a connection of QUIC, for the implementations with the interface of quinn.

use super::proto::{
    self, ClientConfig, Connection, ConnectionError, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint, EndpointConfig, Event,
    IdleTimeout, MtuDiscoveryConfig, ServerConfig, StreamEvent, StreamId, TransportConfig, VarInt, WriteError,
};
use super::{Path, frames, new_endpoint, path, receive, reset_key, set_cids, token_key, transmit, write};
use crate::instant::{instant, time};
use crate::meter::Meter;
use crate::spec::QuicParams;
use crate::stack::{Seat, Stack, StackState, Transmit};
use crate::tls;
use bytes::{Bytes, BytesMut};
use fairlane_engine::Stream;
use fairlane_net::{ENDLESS, Ecn, Limit};
use fairlane_units::{Dur, Time};
use proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Zeros, of which transfers consist.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];
/// Length of connection identifiers (that of quinn), and of the first one that a client chooses (RFC 9000 section 7.2: at least 8).
const CID: usize = 8;
const FIRST_CID: usize = 20;
/// Addresses of both ends. A connection has them, and nothing depends on them.
const CLIENT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 49_152);
const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)), 443);

/// Makes the configuration of the transport, with a writer for its log if one is wanted.
type MakeTransport = Box<dyn Fn(Option<Box<dyn Write + Send + Sync>>) -> TransportConfig + Send>;

/// Parameters that are not part of the configuration of the transport.
pub(super) struct Options {
    pub(super) ecn: bool,
    pub(super) version: u32,
    pub(super) server_version: u32,
}

/// Sets what all implementations have in common.
pub(super) fn common(t: &mut TransportConfig, p: &QuicParams) {
    let ns = |d: Dur| Duration::from_nanos(d.as_ps() / 1000);
    t.stream_receive_window(var(p.stream_window.get()))
        .receive_window(p.window.map_or(VarInt::MAX, |w| var(w.get())))
        .send_window(p.send_buffer.get())
        .max_concurrent_uni_streams(var(p.streams.into()))
        .initial_mtu(p.mtu.get() as u16)
        .initial_rtt(ns(p.initial_rtt))
        .max_idle_timeout(IdleTimeout::try_from(ns(p.idle_timeout)).ok())
        .enable_segmentation_offload(false);
    let mut search = MtuDiscoveryConfig::default();
    search.upper_bound(p.largest_mtu.get() as u16);
    t.mtu_discovery_config((p.largest_mtu > p.mtu).then_some(search));
}

/// Largest number of streams or bytes that a transport parameter can carry.
fn var(value: u64) -> VarInt {
    VarInt::from_u64(value).unwrap_or(VarInt::MAX)
}

/// Connection identifiers from the seed.
struct Cids(Stream);

impl proto::ConnectionIdGenerator for Cids {
    fn generate_cid(&mut self) -> proto::ConnectionId {
        let mut id = [0; CID];
        tls::fill(&mut self.0, &mut id);
        proto::ConnectionId::new(&id)
    }
    fn cid_len(&self) -> usize {
        CID
    }
    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

struct WallClock;

impl proto::TimeSource for WallClock {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + tls::WALL_CLOCK
    }
}

/// Writer of the log of one end.
struct Log(Seat);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.datagrams.log(self.0.receives, bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One end of a connection.
pub(super) struct Quic {
    seat: Seat,
    options: Options,
    meter: Arc<Meter>,
    transport: MakeTransport,
    random: Option<Stream>,
    endpoint: Option<Endpoint>,
    connection: Option<(ConnectionHandle, Connection)>,
    /// Answers of the endpoint without a connection, such as a version negotiation.
    answers: VecDeque<Vec<u8>>,
    /// Transfers that wait for a stream, and what is left of those that have one.
    waiting: VecDeque<u64>,
    open: BTreeMap<StreamId, u64>,
    /// Packets of the application that wait for the handshake.
    packets: VecDeque<u64>,
    /// True once the application has written its last byte.
    closing: bool,
    closed: bool,
    connected: bool,
    delivered: u64,
    /// Why the connection is over.
    ended: Option<String>,
    /// True if data were lost by that.
    failed: bool,
}

impl Quic {
    pub(super) fn new(seat: Seat, options: Options, meter: Arc<Meter>, transport: MakeTransport) -> Self {
        let random = Stream::new(seat.seed, "stack", &seat.flow, if seat.opens { "client" } else { "server" });
        Self {
            seat,
            options,
            meter,
            transport,
            random: Some(random),
            endpoint: None,
            connection: None,
            answers: VecDeque::new(),
            waiting: VecDeque::new(),
            open: BTreeMap::new(),
            packets: VecDeque::new(),
            closing: false,
            closed: false,
            connected: false,
            delivered: 0,
            ended: None,
            failed: false,
        }
    }

    /// Calls the stack with the random numbers of this end.
    fn seeded<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let mut random = self.random.take();
        let done = tls::with_random(&mut random, || work(self));
        self.random = random;
        done
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut out = [0; N];
        if let Some(random) = &mut self.random {
            tls::fill(random, &mut out);
        }
        out
    }

    fn transport(&self) -> Arc<TransportConfig> {
        let log: Option<Box<dyn Write + Send + Sync>> =
            if self.seat.datagrams.wants_logs() { Some(Box::new(Log(self.seat.clone()))) } else { None };
        Arc::new((self.transport)(log))
    }

    /// Makes the endpoint, at the first call of a flow.
    fn set_up(&mut self) -> Result<(), String> {
        if self.endpoint.is_some() {
            return Ok(());
        }
        let (key, seed) = (self.bytes::<64>(), self.bytes::<32>());
        let own = if self.seat.opens { self.options.version } else { self.options.server_version };
        let cids = Stream::new(self.seat.seed, "stack", &self.seat.flow, if self.seat.opens { "client ids" } else { "server ids" });
        let mut config = EndpointConfig::new(reset_key(&key));
        config.rng_seed(Some(seed)).supported_versions(vec![own]);
        set_cids(&mut config, move || Box::new(Cids(cids.clone())));
        let server = if self.seat.opens {
            None
        } else {
            let tls = tls::server(self.seat.seed, &self.seat.flow, &self.seat.datagrams)?;
            let crypto = QuicServerConfig::try_from(tls).map_err(|e| e.to_string())?;
            let mut server = ServerConfig::new(Arc::new(crypto), token_key(&self.bytes::<64>()));
            server.transport_config(self.transport()).time_source(Arc::new(WallClock));
            Some(Arc::new(server))
        };
        self.endpoint = Some(new_endpoint(Arc::new(config), server));
        Ok(())
    }

    fn open_connection(&mut self, now: Time) -> Result<(), String> {
        self.set_up()?;
        let tls = tls::client(self.seat.seed, &self.seat.flow)?;
        let crypto = QuicClientConfig::try_from(tls).map_err(|e| e.to_string())?;
        let mut config = ClientConfig::new(Arc::new(crypto));
        let first: [u8; FIRST_CID] = self.bytes();
        config
            .transport_config(self.transport())
            .version(self.options.version)
            .initial_dst_cid_provider(Arc::new(move || proto::ConnectionId::new(&first)));
        let Some(mut endpoint) = self.endpoint.take() else { return Ok(()) };
        let connection = self.seeded(|_| endpoint.connect(instant(now), config, SERVER, tls::SERVER));
        self.endpoint = Some(endpoint);
        self.connection = Some(connection.map_err(|e| e.to_string())?);
        Ok(())
    }

    fn fail(&mut self, why: String) {
        self.failed |= !self.is_done();
        self.ended.get_or_insert(why);
    }

    /// True if nothing that was written is still to be sent.
    fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.open.is_empty() && self.packets.is_empty() && (self.connected || !self.seat.opens)
    }

    /// Passes events between the endpoint and the connection, and to the application.
    fn process(&mut self, now: Time) {
        let (Some(endpoint), Some((handle, connection))) = (&mut self.endpoint, &mut self.connection) else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(answer) = endpoint.handle_event(*handle, event) {
                connection.handle_event(answer);
            }
        }
        loop {
            let Some((_, connection)) = &mut self.connection else { return };
            let Some(event) = connection.poll() else { break };
            match event {
                Event::Connected => {
                    self.connected = true;
                    self.send_waiting();
                }
                Event::ConnectionLost { reason } => self.lost(&reason),
                Event::DatagramReceived => {
                    while let Some(packet) = connection.datagrams().recv() {
                        self.delivered += packet.len() as u64;
                    }
                }
                Event::Stream(StreamEvent::Opened { dir: Dir::Uni }) => {
                    while let Some(id) = self.connection.as_mut().and_then(|(_, c)| c.streams().accept(Dir::Uni)) {
                        self.read(id);
                    }
                }
                Event::Stream(StreamEvent::Readable { id }) => self.read(id),
                Event::Stream(StreamEvent::Writable { id }) => self.fill(id),
                Event::Stream(StreamEvent::Available { dir: Dir::Uni }) => self.send_waiting(),
                Event::Stream(StreamEvent::Stopped { id, .. }) => {
                    self.open.remove(&id);
                }
                _ => {}
            }
        }
        self.close_if_done(now);
    }

    fn lost(&mut self, reason: &ConnectionError) {
        let by_application = matches!(reason, ConnectionError::ApplicationClosed(_) | ConnectionError::LocallyClosed);
        if by_application {
            self.ended.get_or_insert_with(|| "the connection is closed".to_owned());
        } else {
            self.fail(reason.to_string());
        }
    }

    /// Closes the connection once all data of a closed flow are acknowledged (RFC 9000 section 10.2).
    fn close_if_done(&mut self, now: Time) {
        if !self.closing || self.closed || !self.seat.streams || !self.seat.closes || !self.is_done() {
            return;
        }
        if let Some((_, connection)) = &mut self.connection
            && connection.streams().send_streams() == 0
        {
            self.closed = true;
            connection.close(instant(now), VarInt::from_u32(0), Bytes::new());
        }
    }

    fn read(&mut self, id: StreamId) {
        let Some((_, connection)) = &mut self.connection else { return };
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else { return };
        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
            self.delivered += chunk.bytes.len() as u64;
        }
        // What is to be sent is asked for after every call.
        let _ = chunks.finalize();
    }

    /// Opens streams for the transfers that wait for one, and sends the packets that wait for the handshake.
    fn send_waiting(&mut self) {
        while let Some(&bytes) = self.waiting.front() {
            let Some(id) = self.connection.as_mut().and_then(|(_, c)| c.streams().open(Dir::Uni)) else { break };
            self.waiting.pop_front();
            self.open.insert(id, bytes);
            self.fill(id);
        }
        while self.connected
            && let Some(bytes) = self.packets.pop_front()
        {
            self.send_packet(bytes);
        }
    }

    /// Sends a packet of the application as datagrams (RFC 9221): as one if it fits.
    fn send_packet(&mut self, mut bytes: u64) {
        let Some((_, connection)) = &mut self.connection else { return };
        let mut datagrams = connection.datagrams();
        let most = datagrams.max_size().unwrap_or(0).min(ZEROS.len()) as u64;
        while bytes > 0 && most > 0 {
            let len = bytes.min(most);
            // The oldest that wait make room.
            if datagrams.send(Bytes::from_static(&ZEROS[..len as usize]), true).is_err() {
                break;
            }
            bytes -= len;
        }
    }

    /// Writes to a stream as much as it takes.
    fn fill(&mut self, id: StreamId) {
        let Some((_, connection)) = &mut self.connection else { return };
        let Some(left) = self.open.get_mut(&id) else { return };
        let mut stream = connection.send_stream(id);
        while *left > 0 {
            let len = (*left).min(ZEROS.len() as u64) as usize;
            match write(&mut stream, Bytes::from_static(&ZEROS[..len])) {
                Ok(written) if *left < ENDLESS => *left -= written as u64,
                Ok(_) => {}
                Err(WriteError::Blocked) => return,
                Err(_) => break,
            }
        }
        // A stream that the peer has stopped is over, too.
        let _ = stream.finish();
        self.open.remove(&id);
    }
}

impl Stack for Quic {
    fn connect(&mut self, now: Time) {
        if let Err(why) = self.open_connection(now) {
            self.fail(why);
        }
    }

    fn handle(&mut self, now: Time, datagram: &[u8], ecn: Ecn) {
        if let Err(why) = self.set_up() {
            return self.fail(why);
        }
        let from = if self.seat.opens { SERVER } else { CLIENT };
        let ecn = EcnCodepoint::from_bits(ecn as u8);
        let data = BytesMut::from(datagram);
        self.seeded(|me| {
            let Some(endpoint) = &mut me.endpoint else { return };
            let mut answer = Vec::new();
            match receive(endpoint, instant(now), from, ecn, data, &mut answer) {
                Some(DatagramEvent::ConnectionEvent(_, event)) => {
                    if let Some((_, connection)) = &mut me.connection {
                        connection.handle_event(event);
                    }
                }
                Some(DatagramEvent::NewConnection(incoming)) => match endpoint.accept(incoming, instant(now), &mut answer, None) {
                    Ok(connection) => me.connection = Some(connection),
                    Err(refused) => {
                        if refused.response.is_some() {
                            me.answers.push_back(answer);
                        }
                        me.fail(refused.cause.to_string());
                    }
                },
                Some(DatagramEvent::Response(_)) => me.answers.push_back(answer),
                None => {}
            }
            me.process(now);
        });
    }

    fn poll_transmit(&mut self, now: Time, into: &mut Vec<u8>) -> Option<Transmit> {
        if let Some(answer) = self.answers.pop_front() {
            into.extend_from_slice(&answer);
            return Some(Transmit::default());
        }
        let (streams, marks) = (self.seat.streams, self.options.ecn);
        self.seeded(|me| {
            let (_, connection) = me.connection.as_mut()?;
            let before = frames(connection);
            let sent = transmit(connection, instant(now), into)?;
            let after = frames(connection);
            let number = (after.datagrams > before.datagrams && !streams).then(|| after.datagrams - 1);
            let ecn = match sent.ecn {
                Some(EcnCodepoint::Ect0) if marks => Ecn::Ect0,
                Some(EcnCodepoint::Ect1) if marks => Ecn::Ect1,
                _ => Ecn::NotEct,
            };
            Some(Transmit { ecn, data: after.streams > before.streams || number.is_some(), number })
        })
    }

    fn poll_timeout(&mut self) -> Option<Time> {
        self.connection.as_mut().and_then(|(_, c)| c.poll_timeout()).map(time)
    }

    fn on_timeout(&mut self, now: Time) {
        self.seeded(|me| {
            if let Some((_, connection)) = &mut me.connection {
                connection.handle_timeout(instant(now));
            }
            me.process(now);
        });
    }

    fn write(&mut self, now: Time, bytes: u64, fin: bool) {
        self.closing |= fin;
        if bytes > 0 {
            if self.ended.is_some() {
                self.failed = true;
                return;
            }
            if self.seat.streams { self.waiting.push_back(bytes) } else { self.packets.push_back(bytes) }
        }
        self.seeded(|me| {
            me.send_waiting();
            me.close_if_done(now);
        });
    }

    fn stop(&mut self, _: Time) {
        (self.waiting, self.packets) = Default::default();
        if let Some((_, connection)) = &mut self.connection {
            for id in std::mem::take(&mut self.open).into_keys() {
                // A stream that is over already cannot be reset.
                let _ = connection.send_stream(id).reset(VarInt::from_u32(0));
            }
        }
    }

    fn delivered(&mut self) -> u64 {
        std::mem::take(&mut self.delivered)
    }

    fn rtt(&mut self) -> Option<Dur> {
        self.meter.with(|r| r.rtt.take())
    }

    fn finished(&self) -> bool {
        self.closed
    }

    fn failure(&self) -> Option<String> {
        self.ended.clone().filter(|_| self.failed)
    }

    fn state(&self) -> StackState {
        let Some((_, connection)) = &self.connection else { return StackState::default() };
        let (Path { cwnd, mtu, srtt, lost }, reading) = (path(connection), self.meter.with(|r| *r));
        let (lost_packets, lost_bytes) = lost.unwrap_or((reading.lost_packets, reading.lost_bytes));
        let limit = match (self.connected, &self.ended) {
            (_, Some(_)) => Limit::Nothing,
            (false, _) => Limit::Handshake,
            _ => reading.limit(cwnd, mtu.into(), !self.open.is_empty() || !self.waiting.is_empty()),
        };
        StackState {
            connected: self.connected,
            lost_packets,
            lost_bytes,
            cuts: reading.cuts,
            ecn_cuts: reading.ecn_cuts,
            acked: reading.acked,
            cwnd,
            ssthresh: reading.ssthresh,
            in_flight: reading.in_flight,
            srtt: if reading.acked > 0 { Dur::from_ps(srtt.as_nanos() as u64 * 1000) } else { Dur::ZERO },
            mtu,
            rate: reading.pacing.map_or(0.0, |r| r as f64),
            target: 0.0,
            limit,
        }
    }
}
