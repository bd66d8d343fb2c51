//! What kind of mistake a diagnostic, and what kind of doubt a warning, tells of: stable names for programs, beside messages for people.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::fmt;

/// Whether a code is of an error, which stops a scenario, or of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing runs.
    Error,
    /// Check this before you trust the result.
    Warning,
}

macro_rules! codes {
    ($($kind:ident { $($variant:ident $text:literal $doc:literal;)* })*) => {
        /// The kind of a diagnostic or a warning. Names stay; messages may be worded better.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code {
            $($(#[doc = $doc] $variant,)*)*
        }

        impl Code {
            /// Every code with its kind, its name and what it means.
            pub const ALL: &[(Self, Kind, &str, &str)] = &[
                $($((Self::$variant, Kind::$kind, $text, $doc),)*)*
            ];

            /// The name.
            pub fn name(self) -> &'static str {
                match self {
                    $($(Self::$variant => $text,)*)*
                }
            }
        }
    };
}

codes! {
    Error {
        Syntax "syntax" "The text is not TOML, or not JSON.";
        NotText "not-text" "The file is not UTF-8 text.";
        EmptyFile "empty-file" "The file has nothing in it.";
        BadPath "bad-path" "The path of a `--set` option cannot be read.";
        TooDeep "too-deep" "Tables or lists are nested without end.";
        TooLarge "too-large" "The file, the network or the number of flows is above what can be run.";
        UnknownKey "unknown-key" "Nothing here has this key.";
        MissingKey "missing-key" "A key that has no default is missing.";
        WrongType "wrong-type" "The value is of another kind than what is wanted here.";
        OutOfRange "out-of-range" "The number is outside of its range.";
        BadQuantity "bad-quantity" "The quantity cannot be read, has the wrong unit, or is outside of its range.";
        UnknownValue "unknown-value" "The word is none of those allowed.";
        UnknownAlgorithm "unknown-algorithm" "No algorithm of this kind has this name.";
        OneAlgorithm "one-algorithm" "One algorithm is wanted; none or several are named.";
        BadFile "bad-file" "A file that the scenario names cannot be read.";
        EmptyName "empty-name" "A name has no characters.";
        ControlCharacter "control-character" "A name has a character that cannot be printed.";
        NameTaken "name-taken" "Two things have the same name.";
        UnknownNode "unknown-node" "There is no node of this name.";
        UnknownLink "unknown-link" "There is no link of this name.";
        UnknownFlow "unknown-flow" "There is no flow of this name.";
        WarmupTooLong "warmup-too-long" "The warm-up leaves nothing of the run.";
        TooManyRows "too-many-rows" "The sampling step makes more rows than a table holds.";
        NoNetwork "no-network" "There are no links and no builder.";
        TopologyUnfit "topology-unfit" "The parameters of a topology builder do not fit one another.";
        LinkIncomplete "link-incomplete" "A link lacks an end, its rate or its delay.";
        EndsDiffer "ends-differ" "A link of the builder is given another end.";
        EndsMeet "ends-meet" "A link or a flow begins and ends at the same node.";
        NoSuchList "no-such-list" "A setting reaches into a list that the queue does not have.";
        TwoRates "two-rates" "A link has both a rate and a trace.";
        WireUnfit "wire-unfit" "What a link does to packets, or how its rate changes, does not fit together.";
        QueueUnfit "queue-unfit" "The parameters of a queue do not fit one another, the link or the flows.";
        ChannelUnfit "channel-unfit" "The parameters or the places of a wireless channel do not fit one another, or its standard.";
        Island "island" "A wireless station that nobody else reaches.";
        NoFlows "no-flows" "There are no flows.";
        NoMembers "no-members" "No member of a group of flows would take part.";
        StartTooLate "start-too-late" "A flow starts after the end of the run.";
        StopTooEarly "stop-too-early" "A flow stops before it starts.";
        BadPlaceholder "bad-placeholder" "A node's name has a placeholder other than `{i}`.";
        PairsUnfit "pairs-unfit" "Pairs of nodes, or how much they send, do not fit together.";
        PermutationUnfit "permutation-unfit" "A permutation of a group's ends is impossible.";
        TwoTransports "two-transports" "A flow has both tcp and udp.";
        NoTransport "no-transport" "A flow has neither tcp nor udp.";
        NoSource "no-source" "A flow over udp has no source.";
        SourceUnfit "source-unfit" "The parameters of a source do not fit one another or the transport.";
        CarrierUnfit "carrier-unfit" "A source that controls its rate cannot carry what it is given, or not over this transport.";
        TcpUnfit "tcp-unfit" "The parameters of TCP do not fit one another.";
        NoRoute "no-route" "Packets of a flow cannot get there, or not back.";
        ChangeUnfit "change-unfit" "Something cannot change while the network runs, or not at this time.";
        ControlUnfit "control-unfit" "The parameters of a control do not fit one another.";
        GovernsNothing "governs-nothing" "A control governs no flow.";
        GovernedTwice "governed-twice" "A flow is governed by two controls.";
        ClassNoPriority "class-no-priority" "The class of a governed flow is not a priority.";
        NoFlowThere "no-flow-there" "No flow that is meant begins at this node.";
        Unreadable "unreadable" "A scenario that passed the checks cannot be read: a defect of the simulator.";
        Remark "remark" "Something about a file that is no scenario, such as a study; its message says it.";
    }
    Warning {
        CoarseSampling "coarse-sampling" "The sampling step hides what happens within a round trip, or is longer than the run.";
        ShortMeasurement "short-measurement" "A flow is measured for less than fifty of its round trips.";
        WindowLimits "window-limits" "The largest window of a flow is less than what its path holds.";
        ShortRun "short-run" "The run ends before a flow has got through its handshake and slow start, or before its amount of data can have arrived.";
        OtherBottleneck "other-bottleneck" "The link whose queue is studied is not the bottleneck: links before or behind it carry less.";
        QueueNeverFills "queue-never-fills" "A queue has room for the windows of all flows through it, so that it never drops.";
        PhaseEffects "phase-effects" "Greedy flows of one round trip start together before a droptail queue and lose packets in step (Floyd and Jacobson 1992).";
        SilentFlow "silent-flow" "A flow delivered nothing in the measured span.";
        SameRuns "same-runs" "All runs are the same: nothing is left to chance, so intervals say nothing.";
        Imported "imported" "What was read of another program's file is not all of it, or not as it stands there.";
    }
}

impl Code {
    /// The code with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|c| c.2 == name).map(|c| c.0)
    }
}

// Not derived: the variants come from the table.
#[allow(clippy::derivable_impls)]
impl Default for Code {
    fn default() -> Self {
        Self::Remark
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.name())
    }
}

/// What to check before a result is trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What kind of doubt it is.
    pub code: Code,
    /// The doubt in words.
    pub text: String,
}

/// All codes as data, for the docs page.
pub fn codes_listing() -> Value {
    let kind = |k: Kind| if k == Kind::Error { "error" } else { "warning" };
    Code::ALL.iter().map(|&(_, k, name, doc)| json!({ "kind": kind(k), "name": name, "doc": doc })).collect()
}
