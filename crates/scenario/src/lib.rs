//! Scenarios: file format, validation, registry of algorithms, topology builders, and the world built from them.
//!
//! [`resolve()`] reads a text into a tree with source places, checks it against the schema of the parameter structs, expands it and
//! checks it as a whole. The result is [`Resolved`], with every parameter written out.

mod arrow;
mod base;
mod bench;
mod build;
mod capture;
mod changes;
mod channel;
mod check;
mod clock;
mod code;
mod components;
mod diag;
mod document;
mod dynamic;
mod endpoint;
mod event_queues;
mod expand;
mod limits;
mod listing;
mod live_link;
mod long_table;
mod metrics;
mod mobility;
mod output;
mod parallel;
mod plugin;
mod points;
mod probes;
mod progress;
mod registry;
mod registry_entry;
mod registry_macros;
mod resolve;
mod resolved;
mod run;
mod run_error;
mod schema;
mod semantics;
mod series;
mod series_table;
mod session;
mod source;
mod spec;
mod stack_logs;
mod tasks;
mod tc;
mod timeline;
mod topology;
mod trace;
mod traffic_matrix;

pub use arrow::arrow_table;
pub use base::Base;
pub use bench::{QueueCost, bench_queue};
pub use build::{watched, world};
pub use capture::{CaptureError, CaptureRequest, Captures};
pub use channel::{ChannelAt, StationAt, WayAt};
#[doc(hidden)]
pub use check::parse_file;
pub use code::{Code, Kind, Warning, codes_listing};
pub use components::BuiltIn;
pub use diag::{Diagnostic, Diagnostics, MOST_REPORTED, Sources, Span};
pub use document::{Remark, read_document, remarks};
pub use dynamic::{DynApp, DynEndpoint, DynQdisc};
pub use endpoint::AnyEndpoint;
pub use expand::{ControlAt, Expanded, Group, Hop, LinkDir, Member, Positions, Shared, Transport};
pub use fairlane_net::Waiting;
pub use fairlane_trace::ArrowStream;
pub use fairlane_trace::capture_import;
pub use fairlane_trace::events::{Format as TraceFormat, columns as event_columns};
pub use fairlane_trace::pcapng::Style;
pub use fairlane_trace::scene::SeekTarget;
pub use listing::{PresetListed, presets_listing, registry_listing};
pub use live_link::{LiveCounters, LiveLink};
pub use long_table::{Wanted, long_table};
pub use metrics::*;
pub use output::{RunOutput, Table};
pub use parallel::{Parallel, partition};
pub use plugin::{
    Fault, PluginParams, QueuePlugin, RegisterError, around_runs, fail, plugins, register, register_queue, register_stack, take_fault,
};
pub use points::{PointError, PointMetric, PointRun, PointValues, WholePoint, run_points, run_points_whole};
pub use progress::Progress;
pub use registry::{AnyApp, AnyControl, AnyQdisc, BoxedQdisc, ControlSpec, QueueSpec, SourceSpec, StackSpec};
pub use registry_entry::Listed;
pub use resolve::{resolve, resolve_bytes};
pub use resolved::{Change, Resolved};
pub use run::{Options, run_all, run_number, run_traced, run_with, within_run};
pub use run_error::RunError;
pub use schema::schema;
pub use series::*;
pub use series_table::{SeriesRows, SeriesTable, SeriesWriter};
pub use session::{Action, Batch, OBSERVED, Row, Seek, SetError, Simulation, StateValue};
pub use source::{Format, decode};
pub use spec::{
    AfterTimeoutSpec, AtSpec, ChannelSpec, Classes, ControlTables, DemandSpec, Direction, ErrorsSpec, FixedRangeParams, FlowSpec,
    FreeSpaceParams, GravityPairs, GridPlaces, LinkSpec, LoadSpec, LogDistanceParams, MatrixPairs, OutageSpec, PairsSpec, Pipe, Point,
    PropagationSpec, QueueTable, RandomPairs, RandomWaypointSpec, RateControlSpec, RateStep, RingPlaces, RoutesSpec, RoutingSpec,
    ScatterPlaces, Scenario, SourceTable, StackTable, StandardName, TcpTable, TwoRayParams, WalkSpec, Waypoint, Wire,
};
pub use tc::{TcNotRead, TcRead, read_tc_with};
pub use topology::*;
pub use trace::{TraceRequest, Tracing};
