//! Real transport implementations as endpoints in simulated time.
//!
//! An implementation that does no input and output of its own ("sans-IO") is a [`Stack`]: datagrams and the time go in, datagrams and a deadline come
//! out. [`StackEndpoint`] makes an endpoint of the network of it. Its datagrams lie in [`Datagrams`], which both ends of a flow share; a packet in the
//! network carries the number of its datagram, and the length that it has on the wire.
//!
//! A stack never reads a clock and never asks the system for random numbers: its time is the simulated time, and its keys, certificates and identifiers
//! follow from the seed of the run and the name of the flow. Each built-in stack is a file and a feature of the crate.
//!
//! Not modelled: the time that a stack computes, and the buffers of a socket. A datagram is sent at the instant at which the stack yields it.

mod datagrams;
mod endpoint;
#[cfg(any(feature = "quinn", feature = "noq"))]
mod entropy;
mod implementation;
mod instant;
#[cfg(any(feature = "quinn", feature = "noq"))]
mod meter;
#[cfg(feature = "noq")]
mod noq;
mod plugin;
#[cfg(feature = "quinn")]
mod quinn;
mod spec;
mod stack;
#[cfg(feature = "str0m")]
mod str0m;
#[cfg(feature = "tls")]
mod tls;

pub use datagrams::Datagrams;
pub use endpoint::{StackEndpoint, StackFault, datagram_of};
pub use implementation::Implementation;
pub use instant::{instant, time};
pub use plugin::{PluginStack, StackPlugin, Stacks, register_stack, stack_plugins};
pub use spec::{NoqCc, NoqParams, QuicParams, QuicVersion, QuinnCc, QuinnParams, Str0mParams};
pub use stack::{Seat, Stack, StackState, Transmit};
