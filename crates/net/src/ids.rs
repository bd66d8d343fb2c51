//! Numbers of nodes, ports, flows and endpoints.

/// Number of a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

/// Number of a port: one direction of a link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PortId(pub u32);

/// Number of a flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FlowId(pub u32);

/// Number of an endpoint: `2 f` is the sender of flow `f`, `2 f + 1` its receiver.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EpId(pub u32);

impl EpId {
    /// Returns the sender of a flow.
    pub const fn sender(flow: FlowId) -> Self {
        Self(flow.0 << 1)
    }
    /// Returns the receiver of a flow.
    pub const fn receiver(flow: FlowId) -> Self {
        Self(flow.0 << 1 | 1)
    }
    /// Returns its flow.
    pub const fn flow(self) -> FlowId {
        FlowId(self.0 >> 1)
    }
    /// True for a receiver.
    pub const fn receives(self) -> bool {
        self.0 & 1 == 1
    }
}
