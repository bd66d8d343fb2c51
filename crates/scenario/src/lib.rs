//! Scenarios: the file format, its validation, the registry of algorithms, topology builders, and the world made from them.
//!
//! Text goes through [`resolve()`]: read into a tree with places, checked against the schema that the parameter structs declare,
//! expanded and checked as a whole. What comes out is [`Resolved`], in which every parameter is written out.

mod apart;
mod bench;
mod build;
mod capture;
mod cell;
mod channel;
mod check;
mod code;
mod course;
mod diag;
mod document;
mod endpoint;
mod expand;
mod hand;
mod listing;
mod live;
mod load;
mod metrics;
mod plugin;
mod plugs;
mod probes;
mod progress;
mod registry;
mod resolve;
mod run;
mod run_error;
mod sampled;
mod schema;
mod semantics;
mod series;
mod source;
mod spec;
mod topology;
mod trace;
mod turns;
mod walks;
mod why;

pub use apart::{Apart, partition};
pub use bench::{QueueCost, bench_queue};
pub use build::{watched, world};
pub use capture::{CaptureError, CaptureRequest, Captures};
pub use cell::{Wanted, cell};
pub use channel::{ChannelAt, StationAt, WayAt};
#[doc(hidden)]
pub use check::parse_file;
pub use code::{Code, Kind, Warning, codes_listing};
pub use diag::{Diagnostic, Diagnostics, MOST_TOLD, Sources, Span};
pub use document::{Remark, read_document, remarks};
pub use endpoint::{AnyEndpoint, BuiltIn};
pub use expand::{ControlAt, Expanded, Group, Hop, LinkDir, Member, Positions, Shared, Transport};
pub use fairlane_net::Waiting;
pub use fairlane_trace::events::{Format as TraceFormat, columns as event_columns};
pub use fairlane_trace::pcapng::Style;
pub use fairlane_trace::reading;
pub use fairlane_trace::scene::Sought;
pub use hand::{Heard, Live, Row, Seek, SetError, Simulation};
pub use listing::{PresetListed, presets_listing, registry_listing};
pub use live::{LiveCounters, LiveLink};
pub use metrics::*;
pub use plugin::{Fault, PluginParams, QueuePlugin, RegisterError, around_runs, fail, plugins, register, register_queue, take_fault};
pub use plugs::{DynApp, DynEndpoint, DynQdisc, Listed};
pub use progress::Progress;
pub use registry::{AnyApp, AnyControl, AnyQdisc, BoxedQdisc, ControlSpec, QueueSpec, SourceSpec};
pub use resolve::{Resolved, resolve, resolve_bytes};
pub use run::{Options, RunOutput, Table, run_all, run_number, run_traced, run_with, within_run};
pub use run_error::RunError;
pub use sampled::{SeriesRows, SeriesTable, SeriesWriter};
pub use schema::schema;
pub use series::*;
pub use source::{Format, decode};
pub use spec::{
    AfterTimeoutSpec, AtSpec, ChannelSpec, Classes, ControlTables, DemandSpec, Direction, ErrorsSpec, FixedRangeParams, FlowSpec,
    FreeSpaceParams, GravityPairs, GridPlaces, LinkSpec, LoadSpec, LogDistanceParams, MatrixPairs, OutageSpec, PairsSpec, Pipe, Place,
    PropagationSpec, QueueTable, RandomPairs, RandomWaypointSpec, RateControlSpec, RateStep, RingPlaces, RoutesSpec, RoutingSpec,
    ScatterPlaces, Scenario, SourceTable, StandardName, TcpTable, TwoRayParams, WalkSpec, Waypoint, Wire,
};
pub use topology::*;
pub use trace::{TraceRequest, Tracing};
pub use turns::Turn;
