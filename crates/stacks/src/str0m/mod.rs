//! str0m: WebRTC media (RFC 8834) with Google congestion control over transport-wide feedback.
//!
//! The sender has a camera: its encoder makes frames at the rate that the congestion control allows. The receiver takes frames, and asks for a key frame
//! after one that is missing. Both ends find each other by ICE (RFC 8445), and take the keys of SRTP from DTLS (RFC 5764).

mod clock;
mod crypto;
mod encoder;
mod share;

use crate::instant::{instant_from, time_from};
use crate::spec::Str0mParams;
use crate::stack::{Seat, Stack, StackState, Transmit};
use crate::tls;
use encoder::{Encoder, Frame};
use fairlane_engine::Stream;
use fairlane_net::{Ecn, Limit};
use fairlane_units::{Dur, PS_PER_SEC, Rate, Time};
use share::{Bytes, Share};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};
use str0m::bwe::{Bitrate, BweKind};
use str0m::config::DtlsVersion;
use str0m::ice::IceCreds;
use str0m::media::{KeyframeRequestKind, MediaKind, MediaTime, Mid};
use str0m::net::{Protocol, Receive};
use str0m::rtp::Ssrc;
use str0m::{Candidate, Event, IceConnectionState, Input, Output, Rtc, RtcConfig, RtcError};

/// Time between readings of the statistics of a call.
const READINGS: Duration = Duration::from_millis(100);
/// Ticks a second of the clock of video (RFC 3551 section 5).
const CLOCK: u128 = 90_000;
/// Identifiers of the media and its two streams: frames, and packets that are sent again (RFC 4588).
const MEDIA: &str = "0";
const FRAMES: u32 = 0x5eed_0001;
const AGAIN: u32 = 0x5eed_0002;
/// Payload type of VP8 in str0m.
const VP8: u8 = 96;
/// First bytes of a frame of VP8 (RFC 6386 section 9.1): a key frame, and any other.
const KEY: u8 = 0;
const DELTA: u8 = 1;

/// Builds one end of a call.
pub(crate) fn build(params: &Str0mParams, seat: &Seat) -> Result<Box<dyn Stack>, String> {
    Ok(Box::new(Call::new(params.clone(), seat.clone(), clock::start()?)))
}

/// Address of the sender or the receiver. A call has them, and nothing depends on them.
fn address(receives: bool) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, if receives { 2 } else { 1 })), 49_152)
}

fn name(receives: bool) -> &'static str {
    if receives { "receiver" } else { "sender" }
}

/// One end of a flow, and the random numbers that it draws from.
struct Identity {
    seed: u64,
    flow: String,
    receives: bool,
    /// Random numbers of the cryptography.
    random: Option<Stream>,
    /// State of the generator of all others.
    others: u64,
}

impl Identity {
    fn new(seed: u64, flow: &str, receives: bool) -> Self {
        let mut random = Stream::new(seed, "stack", flow, name(receives));
        let others = random.next_u64();
        Self { seed, flow: flow.to_owned(), receives, random: Some(random), others }
    }

    /// Credentials of ICE of an end (RFC 8445 section 5.3).
    fn credentials(&self, receives: bool) -> IceCreds {
        let mut stream = Stream::new(self.seed, "stack", &self.flow, &format!("credentials {}", name(receives)));
        IceCreds { ufrag: format!("{:016x}", stream.next_u64()), pass: format!("{:016x}{:016x}", stream.next_u64(), stream.next_u64()) }
    }
}

/// Calls str0m with the random numbers of an end.
fn seeded<T>(id: &mut Identity, work: impl FnOnce(&mut Identity) -> T) -> T {
    let (mut random, before) = (id.random.take(), fastrand::get_seed());
    fastrand::seed(id.others);
    let done = tls::with_random(&mut random, || work(id));
    (id.random, id.others) = (random, fastrand::get_seed());
    fastrand::seed(before);
    done
}

/// Writes a frame, whose time is in ticks of the clock of video.
fn write(rtc: &mut Rtc, now: Instant, ticks: u64, frame: Frame) -> Result<(), RtcError> {
    let Some(writer) = rtc.writer(Mid::from(MEDIA)) else { return Ok(()) };
    let mut data = vec![0; frame.bytes];
    if let Some(first) = data.first_mut() {
        *first = if frame.key { KEY } else { DELTA };
    }
    writer.write(VP8.into(), now, MediaTime::from_90khz(ticks), data)
}

/// One end of a call.
struct Call {
    params: Str0mParams,
    id: Identity,
    /// Instant of the start of the run.
    start: Instant,
    rtc: Option<Rtc>,
    encoder: Encoder,
    /// True while the application wants a picture.
    on: bool,
    connected: bool,
    /// Number of the next frame, and when it is due.
    frames: u64,
    first: Option<Time>,
    /// Rate that the congestion control allows, bit/s.
    target: f64,
    deadline: Option<Time>,
    delivered: u64,
    /// Packets sent again, and the bytes of all.
    again: u64,
    sent: Bytes,
    share: Share,
    rtt: Option<Dur>,
    unread: Option<Dur>,
    closed: bool,
    /// Why the call ended, and why it may end.
    failure: Option<String>,
    lost: bool,
}

impl Call {
    fn new(params: Str0mParams, seat: Seat, start: Instant) -> Self {
        let sizes = Stream::new(seat.seed, "stack", &seat.flow, "frames");
        Self {
            encoder: Encoder::new(&params, sizes),
            target: params.start.as_bps() as f64,
            params,
            id: Identity::new(seat.seed, &seat.flow, seat.receives),
            start,
            rtc: None,
            on: false,
            connected: false,
            frames: 0,
            first: None,
            deadline: None,
            delivered: 0,
            again: 0,
            sent: Bytes::default(),
            share: Share::default(),
            rtt: None,
            unread: None,
            closed: false,
            failure: None,
            lost: false,
        }
    }

    /// Makes one end of a call. `rates`: those at which its congestion control starts, and that it is to reach. `raw`: every packet is an event.
    fn rtc(id: &Identity, now: Instant, rates: Option<(Bitrate, Bitrate)>, raw: bool) -> Result<Rtc, String> {
        let wrong = |e: RtcError| e.to_string();
        let (certificate, _) = crypto::certificate(id.seed, &id.flow, name(id.receives))?;
        let (_, print) = crypto::certificate(id.seed, &id.flow, name(!id.receives))?;
        let mut rtc = RtcConfig::new()
            .set_crypto_provider(crypto::provider())
            .set_dtls_cert(certificate)
            .set_dtls_version(DtlsVersion::Dtls13)
            .set_local_ice_credentials(id.credentials(id.receives))
            .set_stats_interval(Some(READINGS))
            .enable_bwe(rates.map(|r| r.0))
            .enable_raw_packets(raw)
            .clear_codecs()
            .enable_vp8(true)
            .build(now);
        let candidate = |receives| Candidate::host(address(receives), "udp").map_err(|e| e.to_string());
        rtc.add_local_candidate(candidate(id.receives)?);
        rtc.add_remote_candidate(candidate(!id.receives)?);
        let mut api = rtc.direct_api();
        api.set_remote_fingerprint(print);
        api.set_remote_ice_credentials(id.credentials(!id.receives));
        api.set_ice_controlling(!id.receives);
        api.start_dtls(!id.receives).map_err(wrong)?;
        let (media, frames, again) = (Mid::from(MEDIA), Ssrc::from(FRAMES), Some(Ssrc::from(AGAIN)));
        api.declare_media(media, MediaKind::Video);
        if id.receives {
            api.enable_twcc_feedback();
            api.expect_stream_rx(frames, again, media, None);
        } else {
            api.declare_stream_tx(frames, again, media, None);
        }
        if let Some((_, most)) = rates {
            rtc.bwe().set_desired_bitrate(most);
        }
        Ok(rtc)
    }

    /// Makes this end, at the first call of a flow.
    fn set_up(&mut self, now: Time) {
        if self.rtc.is_some() || self.closed || self.failure.is_some() {
            return;
        }
        let (at, rate) = (instant_from(self.start, now), |r: Rate| Bitrate::from(r.as_bps()));
        let rates = (!self.id.receives).then(|| (rate(self.params.start), rate(self.params.most)));
        match seeded(&mut self.id, |id| Self::rtc(id, at, rates, false)) {
            Ok(rtc) => self.rtc = Some(rtc),
            Err(why) => self.failure = Some(why),
        }
    }

    /// Calls str0m, and ends the call if that fails.
    fn with(&mut self, work: impl FnOnce(&mut Rtc) -> Result<(), RtcError>) {
        let Some(rtc) = &mut self.rtc else { return };
        if let Err(e) = seeded(&mut self.id, |_| work(rtc)) {
            self.failure.get_or_insert(e.to_string());
            (self.rtc, self.deadline) = (None, None);
        }
    }

    /// When the next frame is due.
    fn due(&self) -> Option<Time> {
        self.first.map(|t| t + self.encoder.interval() * self.frames)
    }

    fn begin(&mut self, now: Time) {
        if self.on && self.connected && self.first.is_none() {
            (self.first, self.frames) = (Some(now), 0);
        }
    }

    fn encode(&mut self, now: Time) {
        let Some(due) = self.due().filter(|t| *t <= now) else { return };
        let share = self.share.at(now, self.sent);
        let (frame, start) = (self.encoder.frame(now, self.target * share), self.start);
        self.sent.frames += frame.bytes as u64;
        let ticks = (u128::from(due.as_ps()) * CLOCK / u128::from(PS_PER_SEC)) as u64;
        self.frames += 1;
        self.with(|rtc| write(rtc, instant_from(start, now), ticks, frame));
    }

    fn event(&mut self, now: Time, event: Event) {
        match event {
            Event::Connected => {
                self.connected = true;
                self.begin(now);
            }
            Event::IceConnectionStateChange(state) => self.lost = state == IceConnectionState::Disconnected,
            Event::EgressBitrateEstimate(BweKind::Twcc { estimate, .. }) => self.target = estimate.as_f64(),
            Event::KeyframeRequest(_) => self.encoder.want_key(),
            Event::MediaData(frame) => {
                self.delivered += frame.data.len() as u64;
                if !frame.contiguous {
                    self.with(|rtc| {
                        if let Some(stream) = rtc.direct_api().stream_rx(&Ssrc::from(FRAMES)) {
                            stream.request_keyframe(KeyframeRequestKind::Pli);
                        }
                        Ok(())
                    });
                }
            }
            Event::PeerStats(read) => {
                if let Some(rtt) = read.rtt {
                    let rtt = Dur::from_ps(rtt.as_nanos() as u64 * 1000);
                    (self.rtt, self.unread) = (Some(rtt), Some(rtt));
                }
            }
            Event::Closed => self.closed = true,
            _ => {}
        }
    }

    /// Classifies a datagram that is sent (RFC 7983 section 7; RFC 5761 section 4): true if it carries media.
    fn note(&mut self, datagram: &[u8]) -> bool {
        let media = datagram.len() >= 12 && (128..192).contains(&datagram[0]) && !(64..96).contains(&(datagram[1] & 0x7f));
        if media && datagram[8..12] == AGAIN.to_be_bytes() {
            (self.again, self.sent.again) = (self.again + 1, self.sent.again + datagram.len() as u64);
        } else if media {
            self.sent.first += datagram.len() as u64;
        }
        media
    }

    fn close(&mut self) {
        (self.on, self.first) = (false, None);
        self.with(Rtc::close);
        self.closed = true;
    }
}

impl Stack for Call {
    fn connect(&mut self, now: Time) {
        self.set_up(now);
        self.on_timeout(now);
    }

    fn handle(&mut self, now: Time, datagram: &[u8], _: Ecn) {
        self.set_up(now);
        let (from, own, at) = (address(!self.id.receives), address(self.id.receives), instant_from(self.start, now));
        // What is no datagram of WebRTC is dropped (RFC 7983 section 7).
        let Ok(receive) = Receive::new(Protocol::Udp, from, own, datagram) else { return };
        self.with(|rtc| rtc.handle_input(Input::Receive(at, receive)));
    }

    fn poll_transmit(&mut self, now: Time, into: &mut Vec<u8>) -> Option<Transmit> {
        loop {
            let mut output = None;
            self.with(|rtc| {
                output = Some(rtc.poll_output()?);
                Ok(())
            });
            match output? {
                Output::Transmit(t) => {
                    into.extend_from_slice(&t.contents);
                    return Some(Transmit { ecn: Ecn::NotEct, data: self.note(into), number: None });
                }
                Output::Event(event) => self.event(now, event),
                Output::Timeout(at) => {
                    self.deadline = Some(time_from(self.start, at)).filter(|t| *t < Time::MAX);
                    return None;
                }
            }
        }
    }

    fn poll_timeout(&mut self) -> Option<Time> {
        [self.deadline, self.due()].into_iter().flatten().min()
    }

    fn on_timeout(&mut self, now: Time) {
        self.encode(now);
        let at = instant_from(self.start, now);
        self.with(|rtc| rtc.handle_input(Input::Timeout(at)));
    }

    fn write(&mut self, now: Time, bytes: u64, fin: bool) {
        self.on |= bytes > 0;
        self.begin(now);
        if fin && bytes == 0 {
            self.close();
        }
    }

    fn stop(&mut self, _: Time) {
        self.close();
    }

    fn delivered(&mut self) -> u64 {
        std::mem::take(&mut self.delivered)
    }

    fn rtt(&mut self) -> Option<Dur> {
        self.unread.take()
    }

    fn finished(&self) -> bool {
        self.closed
    }

    fn failure(&self) -> Option<String> {
        let lost = (self.lost && !self.closed).then(|| "no answer to the checks of ICE (RFC 7675)".to_owned());
        self.failure.clone().or(lost)
    }

    fn state(&self) -> StackState {
        let limit = match (self.connected, self.closed || self.failure.is_some()) {
            (_, true) => Limit::Nothing,
            (false, _) => Limit::Handshake,
            // The rate limits the encoder, or the most that it makes.
            _ if self.target < self.params.most.as_bps() as f64 => Limit::Pacing,
            _ => Limit::Application,
        };
        StackState {
            connected: self.connected,
            lost_packets: self.again,
            lost_bytes: self.sent.again,
            srtt: self.rtt.unwrap_or(Dur::ZERO),
            target: if self.id.receives { 0.0 } else { self.target },
            limit,
            ..StackState::default()
        }
    }
}
