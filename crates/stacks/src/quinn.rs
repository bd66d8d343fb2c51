//! quinn-proto: QUIC (RFC 9000).

use crate::instant::time;
use crate::meter::Meter;
use crate::spec::{QuinnCc, QuinnParams};
use crate::stack::{Seat, Stack};
use bytes::{Bytes, BytesMut};
use connection::Quic;
pub(crate) use quinn_proto as proto;
use quinn_proto::congestion::{BbrConfig, Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig};
use quinn_proto::crypto::{HandshakeTokenKey, HmacKey};
use quinn_proto::{Connection, DatagramEvent, EcnCodepoint, Endpoint, QlogConfig, QlogStream, RttEstimator, Transmit, TransportConfig};
use quinn_proto::{ConnectionIdGenerator, EndpointConfig, SendStream, ServerConfig, WriteError};
use std::any::Any;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[allow(clippy::duplicate_mod, reason = "noq has the interface of quinn, with types of its own")]
#[path = "quic/connection.rs"]
mod connection;

/// Builds one end of a connection.
pub(crate) fn build(params: &QuinnParams, seat: &Seat) -> Result<Box<dyn Stack>, String> {
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
            QuinnCc::Cubic => {
                let mut cc = CubicConfig::default();
                params.quic.window_bytes().map(|w| cc.initial_window(w));
                Arc::new(cc)
            }
            QuinnCc::Newreno => {
                let mut cc = NewRenoConfig::default();
                params.quic.window_bytes().map(|w| cc.initial_window(w));
                Arc::new(cc)
            }
            QuinnCc::Bbr => {
                let mut cc = BbrConfig::default();
                params.quic.window_bytes().map(|w| cc.initial_window(w));
                Arc::new(cc)
            }
        };
        t.congestion_controller_factory(Arc::new(Watching { inner, meter: known.clone() }));
        t.qlog_stream(log.and_then(qlog));
        t
    };
    Ok(Box::new(Quic::new(seat.clone(), options, meter, Box::new(transport))))
}

fn qlog(writer: Box<dyn Write + Send + Sync>) -> Option<QlogStream> {
    let mut log = QlogConfig::default();
    log.writer(writer).title(Some("quinn-proto 0.11.19".to_owned())).start_time(crate::instant::instant(fairlane_units::Time::ZERO));
    log.into_stream()
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
    let p = connection.stats().path;
    Path { cwnd: p.cwnd, mtu: p.current_mtu.into(), srtt: p.rtt, lost: Some((p.lost_packets, p.lost_bytes)) }
}

/// Frames sent that carry data of the application.
struct Frames {
    streams: u64,
    datagrams: u64,
}

fn frames(connection: &Connection) -> Frames {
    let sent = connection.stats().frame_tx;
    Frames { streams: sent.stream, datagrams: sent.datagram }
}

fn set_cids(config: &mut EndpointConfig, make: impl Fn() -> Box<dyn ConnectionIdGenerator> + Send + Sync + 'static) {
    config.cid_generator(make);
}

fn new_endpoint(config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
    Endpoint::new(config, server, true, None)
}

fn write(stream: &mut SendStream<'_>, data: Bytes) -> Result<usize, WriteError> {
    stream.write_chunks(&mut [data]).map(|w| w.bytes)
}

fn receive(
    endpoint: &mut Endpoint,
    now: Instant,
    from: SocketAddr,
    ecn: Option<EcnCodepoint>,
    data: BytesMut,
    answer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, from, None, ecn, data, answer)
}

fn transmit(connection: &mut Connection, now: Instant, into: &mut Vec<u8>) -> Option<Transmit> {
    connection.poll_transmit(now, 1, into)
}

fn reset_key(key: &[u8]) -> Arc<dyn HmacKey> {
    Arc::new(ring::hmac::Key::new(ring::hmac::HMAC_SHA256, key))
}

fn token_key(key: &[u8]) -> Arc<dyn HandshakeTokenKey> {
    Arc::new(ring::hkdf::Salt::new(ring::hkdf::HKDF_SHA256, &[]).extract(key))
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
struct Watched {
    inner: Box<dyn Controller>,
    meter: Arc<Meter>,
}

impl Controller for Watched {
    fn on_sent(&mut self, now: Instant, bytes: u64, last: u64) {
        self.inner.on_sent(now, bytes, last);
        self.meter.sent(bytes);
    }
    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
        self.meter.acked(time(now), time(sent), bytes);
    }
    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
        let m = self.inner.metrics();
        self.meter.acks_end(in_flight, app_limited, m.ssthresh, m.pacing_rate);
    }
    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost: u64) {
        self.inner.on_congestion_event(now, sent, persistent, lost);
        self.meter.congested(time(now), time(sent), lost, self.inner.metrics().ssthresh);
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
