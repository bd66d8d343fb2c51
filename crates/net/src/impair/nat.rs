//! NAT and stateful firewalls: a flow that is idle for too long loses its mapping, and packets from outside are then lost (RFC 4787, RFC 5382).

use super::{At, Finding, Impairment, Work};
use crate::ids::PortId;
use crate::packet::{Packet, Proto};
use fairlane_units::{Dur, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Mappings of a NAT or a stateful firewall at the far end of the link, and how long they last.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NatParams {
    /// Which end of the link is inside.
    pub inside: NatInside,
    /// One timeout for all flows, instead of the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1ms", "x-max" = "1000h"))]
    pub timeout: Option<Dur>,
    /// Timeout of flows that are not TCP (RFC 4787 REQ-5: at least 2 minutes, 5 by default).
    #[schemars(extend("x-min" = "1ms", "x-max" = "1000h"))]
    pub udp: Dur,
    /// Timeout of a connection that is established (RFC 5382 REQ-5: at least 2 hours and 4 minutes).
    #[schemars(extend("x-min" = "1ms", "x-max" = "1000h"))]
    pub tcp: Dur,
    /// Timeout of a connection that opens or closes (RFC 5382 REQ-5: at least 4 minutes).
    #[schemars(extend("x-min" = "1ms", "x-max" = "1000h"))]
    pub tcp_transitory: Dur,
    /// True if packets from outside keep a mapping alive as well; those from inside always do (RFC 4787 REQ-6).
    pub inbound_refresh: bool,
    /// True if the first packet of a connection makes its mapping from outside as well, instead of the request from inside that is not simulated.
    pub open: bool,
}

/// End of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NatInside {
    /// The one that the link comes from.
    #[default]
    From,
    /// The one that the link leads to.
    To,
}

impl Default for NatParams {
    fn default() -> Self {
        Self {
            inside: NatInside::From,
            timeout: None,
            udp: Dur::from_secs(5 * 60),
            tcp: Dur::from_secs(124 * 60),
            tcp_transitory: Dur::from_secs(4 * 60),
            inbound_refresh: true,
            open: true,
        }
    }
}

/// [`NatParams`], or one timeout for all flows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NatSpec(pub NatParams);

impl JsonSchema for NatSpec {
    fn schema_name() -> Cow<'static, str> {
        "Nat".into()
    }
    fn json_schema(g: &mut SchemaGenerator) -> Schema {
        let params = g.subschema_for::<NatParams>();
        json_schema!({
            "description": "Mappings of a NAT or a stateful firewall: one timeout for all, or a table of parameters.",
            "x-shorthand": "timeout",
            "anyOf": [{ "type": "string", "format": "fl-dur" }, params],
        })
    }
}

impl Impairment for NatSpec {
    type Working = Nat;

    fn check(&self, _: Dur) -> Option<Finding> {
        let NatParams { timeout, udp, tcp, tcp_transitory, .. } = self.0;
        let zero = [timeout.unwrap_or(udp), udp, tcp, tcp_transitory].contains(&Dur::ZERO);
        zero.then(|| Finding {
            key: "nat",
            message: "a mapping that lasts no time lets no packet back in".to_owned(),
            help: "write for instance nat = \"30s\"".to_owned(),
        })
    }
    fn begin(&self, _: &At<'_>) -> Option<Nat> {
        Some(Nat { what: self.0, mappings: vec![] })
    }
}

/// The NAT that packets of a direction pass: the port that holds it, and whether they come from inside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guard {
    pub(crate) port: PortId,
    pub(crate) outward: bool,
}

/// Parts of a packet that a NAT looks at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    /// It comes from inside.
    pub(crate) outward: bool,
    /// It has SYN.
    pub(crate) begins: bool,
    /// It has FIN or RST.
    pub(crate) ends: bool,
}

/// State of a connection (RFC 5382 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// No packet was seen.
    #[default]
    Unseen,
    /// Its handshake is not over.
    Opening,
    Established,
    Closing,
}

/// Mapping of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Mapping {
    conn: u16,
    phase: Phase,
    /// Packets of both sides were seen.
    both: bool,
    outward: bool,
    last: Time,
}

/// The mappings of a link, by flow.
#[derive(Clone, Debug)]
pub struct Nat {
    what: NatParams,
    mappings: Vec<Mapping>,
}

impl Work for Nat {}

impl Nat {
    fn timeout(&self, proto: Proto, phase: Phase) -> Dur {
        self.what.timeout.unwrap_or(match (proto, phase) {
            (Proto::Tcp, Phase::Established) => self.what.tcp,
            (Proto::Tcp, _) => self.what.tcp_transitory,
            _ => self.what.udp,
        })
    }

    /// True if a packet passes; notes it in the mapping of its flow.
    pub(crate) fn passes(&mut self, p: &Packet, header: Header, now: Time) -> bool {
        let i = p.flow.0 as usize;
        if self.mappings.len() <= i {
            self.mappings.resize(i + 1, Mapping::default());
        }
        let known = self.mappings[i];
        let first = known.phase == Phase::Unseen || known.conn != p.conn;
        let Header { outward, begins, ends } = header;
        if first || now.since(known.last) > self.timeout(p.proto, known.phase) {
            let made = outward || (first && self.what.open);
            if made {
                // After a loss of the mapping a connection continues without a handshake.
                let phase = if first { Phase::Opening } else { known.phase };
                self.mappings[i] = Mapping { conn: p.conn, phase, both: !first, outward, last: now };
            }
            return made;
        }
        let m = &mut self.mappings[i];
        if outward || self.what.inbound_refresh {
            m.last = now;
        }
        m.both |= outward != m.outward;
        if ends {
            m.phase = Phase::Closing;
        } else if m.phase == Phase::Opening && m.both && !begins {
            m.phase = Phase::Established;
        }
        true
    }
}
