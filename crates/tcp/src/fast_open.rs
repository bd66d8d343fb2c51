//! State of TCP Fast Open at one end of a connection.

use fairlane_net::FastOpen;

/// State of Fast Open at one end.
#[derive(Clone, Debug, Default)]
pub(crate) struct FastOpenState {
    /// The cookie that a server demands, or that a client has.
    pub(crate) cookie: Option<FastOpen>,
    /// Cookie from the server's answer (client), or for the answer (server).
    pub(crate) news: Option<FastOpen>,
    /// Payload that the SYN may carry, if other than configured: the server's MSS may differ.
    pub(crate) limit: Option<u32>,
    /// The SYN waits for the first write.
    pub(crate) waits: bool,
    /// The first write has come.
    pub(crate) written: bool,
    /// Payload of the SYN.
    pub(crate) sent: u32,
    /// The server takes part before the handshake ends.
    pub(crate) early: bool,
    /// Data of the SYN was taken, or acknowledged whole by its answer.
    pub(crate) taken: bool,
    /// True if the SYN was too long for the path and was sent again without data.
    pub(crate) short: bool,
}
