//! Parameters of the stacks. All are known to every build, so that a scenario can be checked where a stack is not built.

use fairlane_units::{Bytes, Dur, Len, Rate};

fairlane_units::params! {
    /// quinn, an implementation of QUIC (RFC 9000, RFC 9001, RFC 9002) in Rust: quinn-proto 0.11.19 with rustls and full TLS 1.3, unchanged. License MIT
    /// or Apache-2.0. Data of the application lie on one-way streams, one a transfer; packets of the application are datagrams of RFC 9221. It lacks
    /// 0-RTT, HTTP/3 and multipath here.
    pub struct QuinnParams {
        /// Congestion control.
        pub cc: QuinnCc = QuinnCc::Cubic,
        /// Parameters that all implementations of QUIC have in common.
        #[serde(flatten)]
        pub quic: QuicParams,
    }

    /// noq, an implementation of QUIC (RFC 9000, RFC 9001, RFC 9002) in Rust that began as a copy of quinn: noq-proto 1.4.0 with rustls and full TLS 1.3,
    /// unchanged. License MIT or Apache-2.0. Transfers and packets as with quinn. It lacks 0-RTT, HTTP/3 and multipath here.
    pub struct NoqParams {
        /// Congestion control.
        pub cc: NoqCc = NoqCc::Cubic,
        /// Parameters that all implementations of QUIC have in common.
        #[serde(flatten)]
        pub quic: QuicParams,
    }

    /// str0m, an implementation of WebRTC in Rust: str0m 0.24.1 with ICE, DTLS 1.3 and SRTP, unchanged. License MIT or Apache-2.0. The sender has a camera
    /// whose encoder follows Google congestion control over transport-wide feedback; packets that are lost are sent again (RFC 4585, RFC 4588). It lacks
    /// sound, several layers of a picture (simulcast, SVC), forward error correction, data channels, TURN and ECN here.
    pub struct Str0mParams {
        /// Rate at which congestion control and encoder start.
        #[schemars(extend("x-min" = "10kbit/s", "x-max" = "1Gbit/s"))]
        pub start: Rate = Rate::from_bps(300_000),
        /// Least rate of the encoder (RFC 8593: R_min).
        #[schemars(extend("x-min" = "1kbit/s", "x-max" = "1Gbit/s"))]
        pub least: Rate = Rate::from_bps(150_000),
        /// Largest rate of the encoder (RFC 8593: R_max), which the congestion control tries to reach.
        #[schemars(extend("x-min" = "10kbit/s", "x-max" = "1Gbit/s"))]
        pub most: Rate = Rate::from_bps(1_500_000),
        /// Frames a second.
        #[schemars(range(min = 1.0, max = 240.0))]
        pub fps: f64 = 30.0,
        /// Size of a key frame over that of the mean frame; the seven frames after it save the excess. The first frame is one, and each that the receiver
        /// asks for because it misses a frame.
        #[schemars(range(min = 1.0, max = 8.0))]
        pub key_frame: f64 = 4.0,
        /// Scale of the Laplace distribution of the relative deviation of sizes of frames; 0: none (RFC 8593: SCALE_B).
        #[schemars(range(min = 0.0, max = 0.5))]
        pub deviation: f64 = 0.15,
        /// Time after a change of its rate in which the encoder accepts no other (RFC 8593: tau_v).
        #[schemars(extend("x-min" = "0ms", "x-max" = "10s"))]
        pub reaction: Dur = Dur::from_ms(200),
        /// Header bytes that a datagram carries on the wire: 20 of IP (RFC 791) and 8 of UDP (RFC 768).
        #[schemars(extend("x-min" = "0B", "x-max" = "1000B"))]
        pub header: Bytes = Bytes(28),
    }

    /// Parameters of every implementation of QUIC.
    pub part QuicParams {
        /// Mark packets as ECN-capable, ECT(0), and react to marks (RFC 9000 section 13.4).
        pub ecn: bool = true,
        /// Initial congestion window. Absent: that of RFC 9002 section 7.2, at most 14,720 bytes; a number of packets is one of packets of 1200 bytes.
        /// At least two datagrams of `mtu`.
        #[schemars(extend("x-min" = "2p", "x-max" = "10000p"))]
        pub initial_window: Option<Len> = None,
        /// Data that the receiver accepts on one stream before the application reads them. quinn: 1.25 MB, 100 ms at 100 Mbit/s.
        #[schemars(extend("x-min" = "1kB", "x-max" = "4GB"))]
        pub stream_window: Bytes = Bytes(1_250_000),
        /// Data that the receiver accepts on all streams of the connection. Absent: without a limit, as in quinn.
        #[schemars(extend("x-min" = "1kB", "x-max" = "4GB"))]
        pub window: Option<Bytes> = None,
        /// Data that the sender holds, sent or not, until they are acknowledged. quinn: 10 MB.
        #[schemars(extend("x-min" = "1kB", "x-max" = "4GB"))]
        pub send_buffer: Bytes = Bytes(10_000_000),
        /// Streams that a peer may have open at the same time.
        #[schemars(range(min = 1, max = 1_000_000))]
        pub streams: u32 = 100,
        /// Payload of the first datagrams (RFC 9000 section 14: at least 1200 bytes).
        #[schemars(extend("x-min" = "1200B", "x-max" = "65507B"))]
        pub mtu: Bytes = Bytes(1200),
        /// Largest payload that path MTU discovery tries (RFC 8899). Equal to `mtu`: none is tried.
        #[schemars(extend("x-min" = "1200B", "x-max" = "65507B"))]
        pub largest_mtu: Bytes = Bytes(1452),
        /// Time without packets after which a connection ends (RFC 9000 section 10.1); the same at both ends.
        #[schemars(extend("x-min" = "1ms", "x-max" = "1h"))]
        pub idle_timeout: Dur = Dur::from_secs(30),
        /// Round-trip time that is assumed before there is a sample (RFC 9002 section 6.2.2).
        #[schemars(extend("x-min" = "1us", "x-max" = "10s"))]
        pub initial_rtt: Dur = Dur::from_ms(333),
        /// Version of QUIC that the end which opens the connection speaks.
        pub version: QuicVersion = QuicVersion::V1,
        /// The only version that the other end knows, if it is to be another one: the connection then fails (RFC 9000 section 6).
        pub server_version: Option<QuicVersion> = None,
        /// Header bytes that a datagram carries on the wire: 20 of IP (RFC 791) and 8 of UDP (RFC 768).
        #[schemars(extend("x-min" = "0B", "x-max" = "1000B"))]
        pub header: Bytes = Bytes(28),
    }

    /// Congestion controls of quinn.
    pub enum QuinnCc {
        /// CUBIC (RFC 8312).
        #[default]
        Cubic,
        /// NewReno (RFC 9002 section 7).
        Newreno,
        /// BBR as in draft-cardwell-iccrg-bbr-congestion-control-00. It draws from the system's random numbers, so it needs a program that was built with
        /// `--cfg getrandom_backend="custom"`.
        Bbr,
    }

    /// Congestion controls of noq.
    pub enum NoqCc {
        /// CUBIC (RFC 9438).
        #[default]
        Cubic,
        /// NewReno (RFC 9002 section 7).
        Newreno,
        /// BBRv3 (draft-ietf-ccwg-bbr). It draws from the system's random numbers, so it needs a program that was built with
        /// `--cfg getrandom_backend="custom"`.
        Bbr3,
    }

    /// A version of QUIC.
    pub enum QuicVersion {
        /// Version 1 (RFC 9000).
        #[default]
        V1,
        /// draft-ietf-quic-transport-29.
        Draft29,
        /// draft-ietf-quic-transport-34.
        Draft34,
    }
}

impl QuicVersion {
    /// Number on the wire.
    pub const fn number(self) -> u32 {
        match self {
            Self::V1 => 1,
            Self::Draft29 => 0xff00_001d,
            Self::Draft34 => 0xff00_0022,
        }
    }
}
