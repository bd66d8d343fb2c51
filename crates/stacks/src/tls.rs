//! TLS 1.3 whose keys, certificates and random numbers follow from the seed.

use crate::datagrams::Datagrams;
use fairlane_engine::Stream;
use rcgen::{CertificateParams, KeyPair, PKCS_ED25519, SerialNumber};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{ActiveKeyExchange, CryptoProvider, GetRandomFailed, SecureRandom, SharedSecret, SupportedKxGroup, ring};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::time_provider::TimeProvider;
use rustls::{ClientConfig, DigitallySignedStruct, KeyLog, NamedGroup, ServerConfig, SignatureScheme};
use std::cell::RefCell;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;
use x25519_dalek::{PublicKey, StaticSecret};

/// Name of every server in its certificate.
pub(crate) const SERVER: &str = "server.example";
/// Private key of Ed25519 in the form of RFC 8410 section 7, without its 32 bytes.
const PKCS8_ED25519: [u8; 16] = [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
/// Wall-clock time of every run: 2020-01-01T00:00:00Z.
pub(crate) const WALL_CLOCK: Duration = Duration::from_secs(1_577_836_800);

thread_local! {
    /// Random stream of the stack that runs on this thread.
    static RANDOM: RefCell<Option<Stream>> = const { RefCell::new(None) };
}

/// Calls `work` with `stream` as the source of all random numbers of TLS.
pub(crate) fn with_random<T>(stream: &mut Option<Stream>, work: impl FnOnce() -> T) -> T {
    RANDOM.with_borrow_mut(|r| std::mem::swap(r, stream));
    let done = work();
    RANDOM.with_borrow_mut(|r| std::mem::swap(r, stream));
    done
}

/// Fills bytes from a stream.
pub(crate) fn fill(stream: &mut Stream, bytes: &mut [u8]) {
    for piece in bytes.chunks_mut(8) {
        let word = stream.next_u64().to_le_bytes();
        piece.copy_from_slice(&word[..piece.len()]);
    }
}

/// Fills bytes from the stream of the stack that runs on this thread; zeros where none does.
#[cfg(getrandom_backend = "custom")]
pub(crate) fn fill_random(bytes: &mut [u8]) {
    RANDOM.with_borrow_mut(|r| {
        if let Some(r) = r.as_mut() {
            fill(r, bytes);
        }
    });
}

/// Random numbers of the stack that runs on this thread.
#[derive(Debug)]
pub(crate) struct Seeded;

impl SecureRandom for Seeded {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), GetRandomFailed> {
        RANDOM.with_borrow_mut(|r| r.as_mut().map(|r| fill(r, bytes))).ok_or(GetRandomFailed)
    }
}

/// Key exchange by X25519 (RFC 7748), with keys from the stream.
#[derive(Debug)]
struct SeededX25519;

struct Exchange(StaticSecret, PublicKey);

impl SupportedKxGroup for SeededX25519 {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, rustls::Error> {
        let mut secret = [0; 32];
        Seeded.fill(&mut secret)?;
        let secret = StaticSecret::from(secret);
        let public = PublicKey::from(&secret);
        Ok(Box::new(Exchange(secret, public)))
    }
    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

impl ActiveKeyExchange for Exchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, rustls::Error> {
        let peer: [u8; 32] = peer.try_into().map_err(|_| rustls::PeerMisbehaved::InvalidKeyShare)?;
        let shared = self.0.diffie_hellman(&PublicKey::from(peer));
        Ok(SharedSecret::from(&shared.as_bytes()[..]))
    }
    fn pub_key(&self) -> &[u8] {
        self.1.as_bytes()
    }
    fn group(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

#[derive(Debug)]
struct Clock;

impl TimeProvider for Clock {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(WALL_CLOCK))
    }
}

/// Secrets of the connection, by which a captured packet can be decrypted.
#[derive(Debug)]
struct Keys(Arc<Datagrams>);

impl KeyLog for Keys {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        let mut line = format!("{label} ");
        client_random.iter().for_each(|b| _ = write!(line, "{b:02x}"));
        line.push(' ');
        secret.iter().for_each(|b| _ = write!(line, "{b:02x}"));
        self.0.log_key(&line);
    }
}

/// Accepts the certificate of the flow, and verifies by its key that the handshake is signed.
#[derive(Debug)]
struct Known(CertificateDer<'static>, Arc<CryptoProvider>);

impl ServerCertVerifier for Known {
    fn verify_server_cert(
        &self,
        end: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if *end == self.0 { Ok(ServerCertVerified::assertion()) } else { Err(rustls::CertificateError::UnknownIssuer.into()) }
    }
    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("QUIC has TLS 1.3 only".to_owned()))
    }
    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, cert, dss, &self.1.signature_verification_algorithms)
    }
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}

fn provider() -> Arc<CryptoProvider> {
    // The order of suites is that of the library on every machine: AES-256 first.
    Arc::new(CryptoProvider { kx_groups: vec![&SeededX25519], secure_random: &Seeded, ..ring::default_provider() })
}

/// Certificate and key of the server of a flow, signed by itself.
fn certificate(seed: u64, flow: &str) -> Result<(CertificateDer<'static>, PrivateKeyDer<'static>), String> {
    let mut stream = Stream::new(seed, "stack", flow, "certificate");
    let (mut key, mut serial) = ([0; 32], [0; 8]);
    fill(&mut stream, &mut key);
    fill(&mut stream, &mut serial);
    // A serial number is positive (RFC 5280 section 4.1.2.2), and of the same length for all.
    serial[0] = serial[0] & 0x3f | 0x40;
    let key = PrivatePkcs8KeyDer::from([&PKCS8_ED25519[..], &key[..]].concat());
    let pair = KeyPair::from_pkcs8_der_and_sign_algo(&key, &PKCS_ED25519).map_err(|e| e.to_string())?;
    let mut params = CertificateParams::new(vec![SERVER.to_owned()]).map_err(|e| e.to_string())?;
    params.serial_number = Some(SerialNumber::from_slice(&serial));
    let cert = params.self_signed(&pair).map_err(|e| e.to_string())?;
    Ok((cert.der().clone(), PrivateKeyDer::Pkcs8(key)))
}

/// TLS configuration of the client of a flow; its protocol is `h3`, as of most connections of QUIC.
pub(crate) fn client(seed: u64, flow: &str) -> Result<ClientConfig, String> {
    let (cert, _) = certificate(seed, flow)?;
    let provider = provider();
    let builder = ClientConfig::builder_with_details(provider.clone(), Arc::new(Clock));
    let builder = builder.with_protocol_versions(&[&rustls::version::TLS13]).map_err(|e| e.to_string())?;
    let mut config = builder.dangerous().with_custom_certificate_verifier(Arc::new(Known(cert, provider))).with_no_client_auth();
    config.alpn_protocols = vec![b"h3".to_vec()];
    Ok(config)
}

/// TLS configuration of the server of a flow. It logs its secrets: it has each one before a packet is encrypted by it.
pub(crate) fn server(seed: u64, flow: &str, datagrams: &Arc<Datagrams>) -> Result<ServerConfig, String> {
    let (cert, key) = certificate(seed, flow)?;
    let builder = ServerConfig::builder_with_details(provider(), Arc::new(Clock));
    let builder = builder.with_protocol_versions(&[&rustls::version::TLS13]).map_err(|e| e.to_string())?;
    let mut config = builder.with_no_client_auth().with_single_cert(vec![cert], key).map_err(|e| e.to_string())?;
    config.key_log = Arc::new(Keys(datagrams.clone()));
    config.alpn_protocols = vec![b"h3".to_vec()];
    Ok(config)
}
