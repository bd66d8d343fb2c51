//! Numbers of what a network is made of.

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
    /// The sender of a flow.
    pub const fn sender(flow: FlowId) -> Self {
        Self(flow.0 << 1)
    }
    /// The receiver of a flow.
    pub const fn receiver(flow: FlowId) -> Self {
        Self(flow.0 << 1 | 1)
    }
    /// The flow it belongs to.
    pub const fn flow(self) -> FlowId {
        FlowId(self.0 >> 1)
    }
    /// Whether it is the side that data flows to.
    pub const fn receives(self) -> bool {
        self.0 & 1 == 1
    }
}
