//! Cryptography of WebRTC whose keys, certificates and random numbers follow from the seed: DTLS 1.3 of dimpl, SRTP with AES-256-GCM.

use crate::tls::{Seeded, fill};
use aes::cipher::{BlockEncrypt, KeyInit};
use dimpl::crypto::{ActiveKeyExchange, Buf, SecureRandom, SupportedKxGroup};
use dimpl::{Config, CryptoError as DtlsCryptoError, Dtls, DtlsCertificate, NamedGroup};
use fairlane_engine::Stream;
use p256::ecdsa::signature::Signer;
use p256::ecdsa::{DerSignature, SigningKey};
use p256::pkcs8::EncodePrivateKey;
use rcgen::{CertificateParams, PKCS_ECDSA_P256_SHA256, PublicKeyData, SerialNumber, SignatureAlgorithm};
use ring::aead::{AES_128_GCM, AES_256_GCM, Aad, Algorithm, LessSafeKey, Nonce, UnboundKey};
use ring::{digest, hmac};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use str0m::crypto::dtls::{DtlsCert, DtlsImplError, DtlsInstance, DtlsOutput, DtlsProvider, DtlsVersion, ProtocolVersion};
use str0m::crypto::{AeadAes128GcmCipher, AeadAes256GcmCipher, Aes128CmSha1_80Cipher, CryptoError, CryptoProvider, Fingerprint};
use str0m::crypto::{
    Sha1HmacProvider, Sha256Provider, SrtpProvider, SupportedAeadAes128Gcm, SupportedAeadAes256Gcm, SupportedAes128CmSha1_80,
};
use x25519_dalek::{PublicKey, StaticSecret};

/// Limit of a handshake as a whole. dimpl 0.7.6 never stops this timer in a client of DTLS 1.3: an acknowledgment stops that of the flight alone
/// (`dtls13/engine.rs` lines 1405 and 1406), so that every call would end after 40 s. The number of repeated flights still bounds a handshake.
const NO_LIMIT: Duration = Duration::from_secs(1 << 30);

/// Provider of all cryptography of a call.
pub(super) fn provider() -> Arc<CryptoProvider> {
    Arc::new(CryptoProvider { srtp_provider: &Srtp, sha1_hmac_provider: &Hashes, sha256_provider: &Hashes, dtls_provider: &SeededDtls })
}

/// Certificate of one end of a flow, signed by itself with ECDSA (the nonce of RFC 6979), and its fingerprint.
pub(super) fn certificate(seed: u64, flow: &str, end: &str) -> Result<(DtlsCert, Fingerprint), String> {
    struct Key(SigningKey, Vec<u8>);
    impl PublicKeyData for Key {
        fn der_bytes(&self) -> &[u8] {
            &self.1
        }
        fn algorithm(&self) -> &'static SignatureAlgorithm {
            &PKCS_ECDSA_P256_SHA256
        }
    }
    impl rcgen::SigningKey for Key {
        fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
            let signature: DerSignature = self.0.sign(message);
            Ok(signature.as_bytes().to_vec())
        }
    }
    let mut stream = Stream::new(seed, "stack", flow, &format!("certificate {end}"));
    let (mut secret, mut serial) = ([0; 32], [0; 8]);
    fill(&mut stream, &mut secret);
    fill(&mut stream, &mut serial);
    // Below the order of the curve, and a positive serial number (RFC 5280 section 4.1.2.2).
    secret[0] &= 0x7f;
    serial[0] = serial[0] & 0x3f | 0x40;
    let key = SigningKey::from_slice(&secret).map_err(|e| e.to_string())?;
    let private_key = key.to_pkcs8_der().map_err(|e| e.to_string())?.as_bytes().to_vec();
    let public = key.verifying_key().to_encoded_point(false).as_bytes().to_vec();
    let mut params = CertificateParams::new(vec![crate::tls::SERVER.to_owned()]).map_err(|e| e.to_string())?;
    params.serial_number = Some(SerialNumber::from_slice(&serial));
    let certificate = params.self_signed(&Key(key, public)).map_err(|e| e.to_string())?.der().to_vec();
    let print = Fingerprint { hash_func: "sha-256".to_owned(), bytes: Hashes.sha256(&certificate).to_vec() };
    Ok((DtlsCert { certificate, private_key }, print))
}

/// Makes endpoints of DTLS.
#[derive(Debug)]
struct SeededDtls;

impl DtlsProvider for SeededDtls {
    fn generate_certificate(&self) -> Option<DtlsCert> {
        None
    }
    fn new_dtls(
        &self,
        cert: &DtlsCert,
        now: Instant,
        version: DtlsVersion,
        mtu: Option<usize>,
    ) -> Result<Box<dyn DtlsInstance>, CryptoError> {
        let wrong = |e: String| CryptoError::Other(e);
        let provider = dimpl::crypto::CryptoProvider {
            kx_groups: &[&SeededX25519],
            secure_random: &Seeded,
            ..dimpl::crypto::rust_crypto::default_provider()
        };
        let mut seed = [0; 8];
        rustls::crypto::SecureRandom::fill(&Seeded, &mut seed).map_err(|_| wrong("no random numbers".to_owned()))?;
        // ICE has verified the address of the peer, so a cookie would only take a round trip.
        let mut config = Config::builder().use_server_cookie(false).with_crypto_provider(provider);
        config = config.dangerously_set_rng_seed(u64::from_le_bytes(seed)).handshake_timeout(NO_LIMIT);
        if let Some(mtu) = mtu {
            config = config.mtu(mtu);
        }
        let config = Arc::new(config.build().map_err(|e| wrong(e.to_string()))?);
        let cert = DtlsCertificate { certificate: cert.certificate.clone(), private_key: cert.private_key.clone() };
        if version != DtlsVersion::Dtls13 {
            // The hello of DTLS 1.2 has the time of the system's clock in it.
            return Err(wrong(format!("{version} is not used here")));
        }
        Ok(Box::new(Instance(Dtls::new_13(config, cert, now))))
    }
}

struct Instance(Dtls);

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Dtls")
    }
}

impl DtlsInstance for Instance {
    fn set_active(&mut self, active: bool) {
        self.0.set_active(active);
    }
    fn handle_packet(&mut self, packet: &[u8]) -> Result<(), DtlsImplError> {
        self.0.handle_packet(packet)
    }
    fn poll_output<'a>(&mut self, buf: &'a mut [u8]) -> DtlsOutput<'a> {
        self.0.poll_output(buf)
    }
    fn handle_timeout(&mut self, now: Instant) -> Result<(), DtlsImplError> {
        self.0.handle_timeout(now)
    }
    fn send_application_data(&mut self, data: &[u8]) -> Result<(), DtlsImplError> {
        self.0.send_application_data(data)
    }
    fn is_active(&self) -> bool {
        self.0.is_active()
    }
    fn protocol_version(&self) -> Option<ProtocolVersion> {
        self.0.protocol_version()
    }
    fn is_closing(&self) -> bool {
        self.0.is_closing()
    }
    fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
    fn close(&mut self) -> Result<(), DtlsImplError> {
        self.0.close()
    }
}

impl SecureRandom for Seeded {
    fn fill(&self, buf: &mut [u8]) -> Result<(), DtlsCryptoError> {
        rustls::crypto::SecureRandom::fill(self, buf).map_err(|_| DtlsCryptoError::OperationFailed(dimpl::CryptoOperation::FillRandom))
    }
}

/// Key exchange by X25519 (RFC 7748), with keys from the stream.
#[derive(Debug)]
struct SeededX25519;

struct Exchange(StaticSecret, PublicKey);

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("X25519")
    }
}

impl SupportedKxGroup for SeededX25519 {
    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }
    fn start_exchange(&self, _: Buf) -> Result<Box<dyn ActiveKeyExchange>, DtlsCryptoError> {
        let mut secret = [0; 32];
        SecureRandom::fill(&Seeded, &mut secret)?;
        let secret = StaticSecret::from(secret);
        let public = PublicKey::from(&secret);
        Ok(Box::new(Exchange(secret, public)))
    }
}

impl ActiveKeyExchange for Exchange {
    fn pub_key(&self) -> &[u8] {
        self.1.as_bytes()
    }
    fn complete(self: Box<Self>, peer: &[u8], out: &mut Buf) -> Result<(), DtlsCryptoError> {
        let peer: [u8; 32] = peer.try_into().map_err(|_| DtlsCryptoError::InvalidPublicKey(NamedGroup::X25519))?;
        out.clear();
        out.extend_from_slice(self.0.diffie_hellman(&PublicKey::from(peer)).as_bytes());
        Ok(())
    }
    fn group(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

/// HMAC-SHA-1 of STUN (RFC 8489) and SHA-256 of fingerprints.
#[derive(Debug)]
struct Hashes;

impl Sha1HmacProvider for Hashes {
    fn sha1_hmac(&self, key: &[u8], payloads: &[&[u8]]) -> [u8; 20] {
        let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, key));
        payloads.iter().for_each(|p| context.update(p));
        let mut out = [0; 20];
        out.copy_from_slice(context.sign().as_ref());
        out
    }
}

impl Sha256Provider for Hashes {
    fn sha256(&self, data: &[u8]) -> [u8; 32] {
        let mut out = [0; 32];
        out.copy_from_slice(digest::digest(&digest::SHA256, data).as_ref());
        out
    }
}

/// Ciphers of SRTP (RFC 7714).
#[derive(Debug)]
struct Srtp;

impl SrtpProvider for Srtp {
    fn aes_128_cm_sha1_80(&self) -> &'static dyn SupportedAes128CmSha1_80 {
        &Srtp
    }
    fn aead_aes_128_gcm(&self) -> &'static dyn SupportedAeadAes128Gcm {
        &Srtp
    }
    fn aead_aes_256_gcm(&self) -> &'static dyn SupportedAeadAes256Gcm {
        &Srtp
    }
    fn srtp_aes_128_ecb_round(&self, key: &[u8], input: &[u8], output: &mut [u8]) {
        ecb(&aes::Aes128::new(key.into()), input, output);
    }
    fn srtp_aes_256_ecb_round(&self, key: &[u8], input: &[u8], output: &mut [u8]) {
        ecb(&aes::Aes256::new(key.into()), input, output);
    }
}

/// Encrypts a block, and the block of padding after it (RFC 5652 section 6.3).
fn ecb(cipher: &impl BlockEncrypt<BlockSize = aes::cipher::consts::U16>, input: &[u8], output: &mut [u8]) {
    let mut blocks = [0x10; 32];
    blocks[..16].copy_from_slice(&input[..16]);
    for block in blocks.chunks_exact_mut(16) {
        cipher.encrypt_block(block.into());
    }
    output[..32].copy_from_slice(&blocks);
}

impl SupportedAes128CmSha1_80 for Srtp {
    fn create_cipher(&self, _: [u8; 16], _: bool) -> Box<dyn Aes128CmSha1_80Cipher> {
        Box::new(Unused)
    }
}

/// The cipher of RFC 3711, which two ends that prefer RFC 7714 never agree upon.
#[derive(Debug)]
struct Unused;

impl Aes128CmSha1_80Cipher for Unused {
    fn encrypt(&mut self, _: &[u8; 16], _: &[u8], _: &mut [u8]) -> Result<(), CryptoError> {
        Err(CryptoError::Other("AES-CM is not used here".to_owned()))
    }
    fn decrypt(&mut self, _: &[u8; 16], _: &[u8], _: &mut [u8]) -> Result<(), CryptoError> {
        Err(CryptoError::Other("AES-CM is not used here".to_owned()))
    }
}

/// AES-GCM with one key. `None`: the key has a wrong length, which the types of its callers exclude.
struct Gcm(Option<LessSafeKey>);

impl fmt::Debug for Gcm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AES-GCM")
    }
}

impl Gcm {
    fn new(algorithm: &'static Algorithm, key: &[u8]) -> Box<Self> {
        Box::new(Self(UnboundKey::new(algorithm, key).ok().map(LessSafeKey::new)))
    }

    fn key(&self) -> Result<&LessSafeKey, CryptoError> {
        self.0.as_ref().ok_or_else(|| CryptoError::Other("wrong length of a key".to_owned()))
    }

    fn seal(&self, iv: &[u8; 12], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), CryptoError> {
        let (text, tag) = output.split_at_mut(input.len());
        text.copy_from_slice(input);
        let made = self.key()?.seal_in_place_separate_tag(Nonce::assume_unique_for_key(*iv), Aad::from(aad), text);
        let made = made.map_err(|_| CryptoError::Other("AES-GCM cannot encrypt".to_owned()))?;
        tag[..made.as_ref().len()].copy_from_slice(made.as_ref());
        Ok(())
    }

    fn open(&self, iv: &[u8; 12], aads: &[&[u8]], input: &[u8], output: &mut [u8]) -> Result<usize, CryptoError> {
        let mut text = input.to_vec();
        let opened = self.key()?.open_in_place(Nonce::assume_unique_for_key(*iv), Aad::from(aads.concat()), &mut text);
        let plain = opened.map_err(|_| CryptoError::Other("AES-GCM cannot decrypt".to_owned()))?;
        output[..plain.len()].copy_from_slice(plain);
        Ok(plain.len())
    }
}

macro_rules! gcm {
    ($supported:ident, $cipher:ident, $key:literal, $algorithm:ident) => {
        impl $supported for Srtp {
            fn create_cipher(&self, key: [u8; $key], _: bool) -> Box<dyn $cipher> {
                Gcm::new(&$algorithm, &key)
            }
        }
        impl $cipher for Gcm {
            fn encrypt(&mut self, iv: &[u8; 12], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), CryptoError> {
                self.seal(iv, aad, input, output)
            }
            fn decrypt(&mut self, iv: &[u8; 12], aads: &[&[u8]], input: &[u8], output: &mut [u8]) -> Result<usize, CryptoError> {
                self.open(iv, aads, input, output)
            }
        }
    };
}

gcm!(SupportedAeadAes128Gcm, AeadAes128GcmCipher, 16, AES_128_GCM);
gcm!(SupportedAeadAes256Gcm, AeadAes256GcmCipher, 32, AES_256_GCM);
