//! noq-proto: QUIC (RFC 9000).

use crate::instant::time;
use crate::meter::Meter;
use crate::spec::{NoqCc, NoqParams};
use crate::stack::{Seat, Stack};
use bytes::{Bytes, BytesMut};
use connection::Quic;
pub(crate) use noq_proto as proto;
use noq_proto::congestion::{Bbr3Config, Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig};
use noq_proto::crypto::{CryptoError, HandshakeTokenKey, HmacKey};
use noq_proto::{
    Connection, ConnectionId, ConnectionIdGenerator, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig, FourTuple, PathId, QlogConfig,
    QlogFactory, RttEstimator, Side, Transmit, TransportConfig,
};
use noq_proto::{SendStream, ServerConfig, WriteError};
use std::any::Any;
use std::io::Write;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

#[allow(clippy::duplicate_mod, reason = "it has the interface of quinn, with types of its own")]
#[path = "quic/connection.rs"]
mod connection;

/// Builds one end of a connection.
pub(crate) fn build(params: &NoqParams, seat: &Seat) -> Result<Box<dyn Stack>, String> {
    let meter = Arc::new(Meter::default());
    let options = connection::Options {
        ecn: params.quic.ecn,
        version: params.quic.version.number(),
        server_version: params.quic.server_version.unwrap_or(params.quic.version).number(),
    };
    let (params, known) = (params.clone(), meter.clone());
    let transport = move |log: Option<Box<dyn Write + Send + Sync>>| {
        let mut t = TransportConfig::default();
        connection::common(&mut t, &params.quic);
        let inner: Arc<dyn ControllerFactory + Send + Sync> = match params.cc {
            NoqCc::Cubic => {
                let mut cc = CubicConfig::default();
                params.quic.window_bytes().map(|w| cc.initial_window(w));
                Arc::new(cc)
            }
            NoqCc::Newreno => {
                let mut cc = NewRenoConfig::default();
                params.quic.window_bytes().map(|w| cc.initial_window(w));
                Arc::new(cc)
            }
            NoqCc::Bbr3 => {
                let mut cc = Bbr3Config::default();
                params.quic.window_bytes().map(|w| cc.initial_window(w));
                Arc::new(cc)
            }
        };
        t.congestion_controller_factory(Arc::new(Watching { inner, meter: known.clone() }));
        if let Some(writer) = log {
            t.qlog_factory(Arc::new(Log(Mutex::new(Some(writer)))));
        }
        t
    };
    Ok(Box::new(Quic::new(seat.clone(), options, meter, Box::new(transport))))
}

/// The log of one connection; there is no other.
struct Log(Mutex<Option<Box<dyn Write + Send + Sync>>>);

impl QlogFactory for Log {
    fn for_connection(&self, _: Side, _: SocketAddr, _: ConnectionId, _: Instant) -> Option<QlogConfig> {
        let writer = self.0.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let mut log = QlogConfig::new(writer);
        log.title(Some("noq-proto 1.4.0".to_owned())).start_time(crate::instant::instant(fairlane_units::Time::ZERO));
        Some(log)
    }
}

/// State of the path of a connection.
struct Path {
    cwnd: u64,
    mtu: u32,
    srtt: Duration,
    /// Packets and bytes lost, if the stack counts them.
    lost: Option<(u64, u64)>,
}

fn path(connection: &Connection) -> Path {
    let cwnd = connection.congestion_state(PathId::ZERO).map_or(0, |cc| cc.window());
    let srtt = connection.rtt(PathId::ZERO).unwrap_or_default();
    Path { cwnd, mtu: connection.current_mtu().into(), srtt, lost: None }
}

/// Frames sent that carry data of the application.
struct Frames {
    streams: u64,
    datagrams: u64,
}

fn frames(connection: &mut Connection) -> Frames {
    let sent = connection.stats().frame_tx;
    Frames { streams: sent.stream, datagrams: sent.datagram }
}

fn set_cids(config: &mut EndpointConfig, make: impl Fn() -> Box<dyn ConnectionIdGenerator> + Send + Sync + 'static) {
    config.cid_generator(Arc::new(make));
}

fn new_endpoint(config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
    Endpoint::new(config, server, true)
}

fn write(stream: &mut SendStream<'_>, data: Bytes) -> Result<usize, WriteError> {
    stream.write_chunks(&mut &mut [data][..])
}

fn receive(
    endpoint: &mut Endpoint,
    now: Instant,
    from: SocketAddr,
    ecn: Option<EcnCodepoint>,
    data: BytesMut,
    answer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, FourTuple::from_remote(from), ecn, data, answer)
}

fn transmit(connection: &mut Connection, now: Instant, into: &mut Vec<u8>) -> Option<Transmit> {
    connection.poll_transmit(now, NonZeroUsize::MIN, into)
}

fn reset_key(key: &[u8]) -> Arc<dyn HmacKey> {
    Arc::new(ring::hmac::Key::new(ring::hmac::HMAC_SHA256, key))
}

fn token_key(_: &[u8]) -> Arc<dyn HandshakeTokenKey> {
    Arc::new(NoTokens)
}

/// Servers here neither retry nor issue tokens (RFC 9000 section 8.1).
struct NoTokens;

impl HandshakeTokenKey for NoTokens {
    fn seal(&self, _: u128, _: &mut Vec<u8>) -> Result<(), CryptoError> {
        Err(CryptoError)
    }
    fn open<'a>(&self, _: u128, _: &'a mut [u8]) -> Result<&'a [u8], CryptoError> {
        Err(CryptoError)
    }
}

/// Factory of congestion controls whose calls go to the meter as well.
struct Watching {
    inner: Arc<dyn ControllerFactory + Send + Sync>,
    meter: Arc<Meter>,
}

impl ControllerFactory for Watching {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let inner = crate::entropy::fresh(|| self.inner.clone().build(now, mtu));
        Box::new(Watched { inner, meter: self.meter.clone() })
    }
}

/// A congestion control of the stack, unchanged; its calls go to the meter as well.
#[derive(Debug)]
struct Watched {
    inner: Box<dyn Controller>,
    meter: Arc<Meter>,
}

impl Controller for Watched {
    fn on_sent(&mut self, now: Instant, bytes: u64, last: u64) {
        self.inner.on_sent(now, bytes, last);
        self.meter.sent(bytes);
    }
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, number: u64) {
        self.inner.on_packet_sent(now, bytes, number);
    }
    fn on_cwnd_limited(&mut self) {
        self.inner.on_cwnd_limited();
    }
    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, number: u64, app_limited: bool, rtt: &RttEstimator) {
        self.inner.on_ack(now, sent, bytes, number, app_limited, rtt);
        self.meter.acked(time(now), time(sent), bytes);
    }
    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
        let m = self.inner.metrics();
        self.meter.acks_end(in_flight, app_limited, m.ssthresh, m.pacing_rate.map(|bytes| 8 * bytes));
    }
    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, ecn: bool, lost: u64, largest: u64) {
        self.inner.on_congestion_event(now, sent, persistent, ecn, lost, largest);
        self.meter.congested(time(now), time(sent), lost, self.inner.metrics().ssthresh);
    }
    fn on_packet_lost(&mut self, bytes: u16, number: u64, now: Instant) {
        self.inner.on_packet_lost(bytes, number, now);
        self.meter.lost(bytes.into());
    }
    fn on_spurious_congestion_event(&mut self) {
        self.inner.on_spurious_congestion_event();
    }
    fn on_ack_frequency_update(&mut self, threshold: u64, delay: Duration) {
        self.inner.on_ack_frequency_update(threshold, delay);
    }
    fn on_mtu_update(&mut self, mtu: u16) {
        self.inner.on_mtu_update(mtu);
    }
    fn window(&self) -> u64 {
        self.inner.window()
    }
    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }
    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self { inner: self.inner.clone_box(), meter: self.meter.clone() })
    }
    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}
