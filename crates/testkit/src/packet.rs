//! A packet for tests of what handles packets: they say what is different about theirs.

use fairlane_net::{Class, Ecn, FlowId, Packet, PacketRef, Proto};
use fairlane_units::Time;

/// Data of the first flow, 1000 bytes, of TCP without ECN, at time zero.
pub const PACKET: Packet = Packet {
    id: PacketRef(0),
    len: 1000,
    flow: FlowId(0),
    hop: 0,
    at: Time::ZERO,
    class: Class(0),
    ecn: Ecn::NotEct,
    proto: Proto::Tcp,
    data: true,
    back: false,
    conn: 0,
};
