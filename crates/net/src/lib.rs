//! The network: packets, ports and links, routes, endpoints' surroundings, and the loop that moves simulated time.
//!
//! A packet's way: an [`App`] writes, an [`Endpoint`] sends a [`Segment`], the [`World`] stores it in the [`Arena`] and
//! hands a [`Packet`] from [`Port`] to port along its route, until the endpoint at the far side receives it.

mod air;
mod app;
mod builder;
mod control;
mod cookie;
mod counters;
mod device;
mod endpoint;
mod flow;
mod govern;
mod hist;
mod hop;
mod ids;
mod impair;
mod late;
mod limit;
mod link;
mod lists;
mod maze;
mod observe;
mod order;
mod outage;
mod packet;
mod parts;
mod path;
mod port;
mod prefetch;
mod problem;
mod qdisc;
mod recording;
mod reroute;
mod ring;
mod route;
mod rows;
mod sample;
mod schedule;
mod shelf;
mod side;
mod slots;
mod together;
mod world;

pub use air::{AirDef, Channel};
pub use app::{Action, App, AppCx, Usage};
pub use builder::{BuildError, FlowDef, WorldBuilder};
pub use control::{Control, ControlCx, SenderSignal};
pub use cookie::{Cookie, FastOpen};
pub use counters::{FlowCounters, Initial, Occupancy, PortCounters, RareCounters, RareFlowCounters, Reasons};
pub use device::Device;
pub use endpoint::{Cx, ENDLESS, Endpoint, FlowView, Out, SenderSample, SenderState, TIMERS, TimerId, Timers};
pub use flow::Flow;
pub use hist::{Histogram, Summary};
pub use ids::{EpId, FlowId, NodeId, PortId};
pub use impair::*;
pub use limit::Limit;
pub use link::{LinkDef, LinkInfo};
pub use lists::Lists;
pub use observe::{
    DequeueEvent, DropEvent, EnqueueEvent, FrameEvent, GaugeEvent, HopEvent, Inside, LimitEvent, MomentEvent, Observer, ReceiveEvent,
    SendEvent, TurnEvent,
};
pub use packet::{Arena, Block, Class, Ecn, Packet, PacketRef, Proto, Segment, flag, fold, unfold};
#[doc(hidden)]
pub use parts::Ledger;
pub use parts::{Cut, Map, NotPartitioned, Outside, Parts, Portion};
pub use path::{Stuck, Waiting};
pub use port::Port;
pub use problem::Problem;
pub use qdisc::{Backlog, BuildContext, DropReason, Drops, FlowInfo, QCx, Qdisc, Room};
pub use recording::{Place, Recording, Stretch};
pub use ring::Ring;
pub use route::Routing;
pub use sample::{Column, Fill, FlowSample, PortSample, Sampler, Sampling, Series};
pub use schedule::{OPPORTUNITY, Opportunities, Schedule, Steps};
pub use together::LossesTogether;
pub use world::{Components, Standstill, World};
