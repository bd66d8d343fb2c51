//! The network: packets, ports and links, routes, endpoints' surroundings, and the loop that moves simulated time.
//!
//! A packet's way: an [`App`] writes, an [`Endpoint`] sends a [`Segment`], the [`World`] stores it in the [`Arena`] and
//! hands a [`Packet`] from [`Port`] to port along its route, until the endpoint at the far side receives it.

mod app;
mod build;
mod channel;
mod control;
mod controllers;
mod cookie;
mod device;
mod endpoint;
mod flow;
mod hop;
mod ids;
mod impair;
mod lifetime;
mod limit;
mod link;
mod lists;
mod observe;
mod order;
mod outage;
mod packet;
mod parallel;
mod path;
mod plugins;
mod port;
mod prefetch;
mod problem;
mod profile;
mod qdisc;
mod reorder_buffer;
mod ring;
mod route;
mod sample;
mod schedule;
mod side;
mod slots;
mod stats;
mod world;

pub use app::{Action, App, AppCx, Usage};
pub use build::{BuildError, FlowDef, WorldBuilder};
pub use channel::{AirDef, Channel};
pub use control::{Control, ControlCx, SenderSignal};
pub use cookie::{Cookie, FastOpen};
pub use device::Device;
pub use endpoint::{Cx, ENDLESS, Endpoint, FlowView, Out, SenderSample, SenderState, TIMERS, TimerId, Timers};
pub use flow::Flow;
pub use ids::{EpId, FlowId, NodeId, PortId};
pub use impair::*;
pub use lifetime::{EndedFlow, FlowEnds, FlowFactory, FlowSum, NewFlow};
pub use limit::Limit;
pub use link::{LinkDef, LinkInfo};
pub use lists::Lists;
pub use observe::{
    DequeueEvent, DropEvent, EnqueueEvent, FrameEvent, GaugeEvent, HopEvent, Inside, Interest, LimitEvent, Observer, ReceiveEvent,
    SendEvent, StateEvent, TurnEvent,
};
pub use packet::{Arena, Block, Class, Ecn, Packet, PacketRef, Proto, Segment, flag, fold, unfold};
pub use parallel::{NotPartitioned, ParallelWorld, Partition, Portion, Topology};
pub use path::{Stuck, Waiting};
pub use plugins::{Chosen, Plugin, PluginKind, Plugins, is_name};
pub use port::Port;
pub use problem::Problem;
pub use profile::{LINEAR, Profile, ProfileRate, Value};
pub use qdisc::{Backlog, BuildContext, DropReason, Drops, FlowInfo, FlowList, QCx, Qdisc, Room};
pub use ring::Ring;
pub use route::Routing;
pub use sample::{Column, Cursor, Fill, FlowSample, Instants, PortSample, Recording, Sampler, Sampling, Series};
pub use schedule::{OPPORTUNITY, Opportunities, Schedule, Steps};
pub use stats::{
    FlowCounters, Histogram, Initial, LossEvents, Occupancy, Playback, PortCounters, RareCounters, RareFlowCounters, Reasons, Summary,
};
pub use world::{Components, Standstill, World};
