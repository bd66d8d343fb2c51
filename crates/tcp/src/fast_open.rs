//! State of TCP Fast Open at one end of a connection.

use fairlane_net::FastOpen;

/// State of Fast Open at one end.
#[derive(Clone, Debug, Default)]
pub(crate) struct FastOpenState {
    /// Cookie that the server demands, or that the client has.
    pub(crate) cookie: Option<FastOpen>,
    /// Cookie from the server's answer (client), or for the answer (server).
    pub(crate) answer: Option<FastOpen>,
    /// Payload that the SYN may carry, if other than configured: the server's MSS may differ.
    pub(crate) payload_limit: Option<u32>,
    /// True if the SYN waits for the first write.
    pub(crate) awaiting_write: bool,
    /// True after the first write.
    pub(crate) written: bool,
    /// Payload of the SYN.
    pub(crate) syn_payload: u32,
    /// True if the server accepted the connection before the end of the handshake.
    pub(crate) early: bool,
    /// True if the data of the SYN was accepted, or acknowledged in full.
    pub(crate) data_accepted: bool,
    /// True if the SYN was too long for the path and was sent again without data.
    pub(crate) shortened: bool,
}
