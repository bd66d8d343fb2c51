//! Codes of errors and warnings: stable names for programs, next to messages for people.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::fmt;

/// Kind of a code: an error, which stops a scenario, or a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The scenario does not run.
    Error,
    /// The result needs a check.
    Warning,
}

macro_rules! codes {
    ($($kind:ident { $($variant:ident $text:literal $doc:literal;)* })*) => {
        /// Code of a diagnostic or a warning. Names are stable; messages may change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code {
            $($(#[doc = $doc] $variant,)*)*
        }

        impl Code {
            /// Every code with its kind, its name and its meaning.
            pub const ALL: &[(Self, Kind, &str, &str)] = &[
                $($((Self::$variant, Kind::$kind, $text, $doc),)*)*
            ];

            /// Name of the code.
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
        Syntax "syntax" "The text is not valid TOML or JSON.";
        NotText "not-text" "The file is not UTF-8 text.";
        EmptyFile "empty-file" "The file is empty.";
        BadPath "bad-path" "The path of a `--set` option is invalid.";
        TooDeep "too-deep" "Tables or lists are nested too deeply.";
        TooLarge "too-large" "The file, the network or the number of flows exceeds a limit.";
        UnknownKey "unknown-key" "The key is unknown.";
        MissingKey "missing-key" "A required key is missing.";
        WrongType "wrong-type" "The value has the wrong type.";
        OutOfRange "out-of-range" "The number is out of range.";
        BadQuantity "bad-quantity" "The quantity is invalid, has the wrong unit, or is out of range.";
        UnknownValue "unknown-value" "The word is not one of the allowed values.";
        UnknownAlgorithm "unknown-algorithm" "The algorithm is unknown.";
        BadTc "bad-tc" "A queue in the notation of tc cannot be read.";
        OneAlgorithm "one-algorithm" "One algorithm is expected; none or several are given.";
        BadFile "bad-file" "A file that the scenario names cannot be read.";
        EmptyName "empty-name" "A name is empty.";
        ControlCharacter "control-character" "A name contains control characters.";
        NameTaken "name-taken" "Two things have the same name.";
        UnknownNode "unknown-node" "The node is unknown.";
        UnknownLink "unknown-link" "The link is unknown.";
        UnknownFlow "unknown-flow" "The flow is unknown.";
        WarmupTooLong "warmup-too-long" "The warm-up is not shorter than the run.";
        TooManyRows "too-many-rows" "The sampling step makes too many rows.";
        NoNetwork "no-network" "The scenario has no links and no topology builder.";
        TopologyUnfit "topology-unfit" "The parameters of a topology builder are inconsistent.";
        LinkIncomplete "link-incomplete" "A link lacks an end, its rate or its delay.";
        EndsDiffer "ends-differ" "A link of the builder is given another end.";
        EndsMeet "ends-meet" "A link or a flow starts and ends at the same node.";
        NoSuchList "no-such-list" "An option addresses a list that the queue does not have.";
        TwoRates "two-rates" "A link has both a rate and a trace.";
        WireUnfit "wire-unfit" "Impairments or rate changes of a link are inconsistent.";
        QueueUnfit "queue-unfit" "The parameters of a queue are inconsistent, or do not fit the link or the flows.";
        ChannelUnfit "channel-unfit" "The parameters or positions of a wireless channel are inconsistent, or do not fit its standard.";
        Island "island" "No other station reaches a wireless station.";
        NoFlows "no-flows" "There are no flows.";
        NoMembers "no-members" "A flow group starts no flow.";
        StartTooLate "start-too-late" "A flow starts after the end of the run.";
        StopTooEarly "stop-too-early" "A flow stops before it starts.";
        BadPlaceholder "bad-placeholder" "A node's name has a placeholder other than `{i}`.";
        PairsUnfit "pairs-unfit" "Pairs of nodes or their rates are inconsistent.";
        PermutationUnfit "permutation-unfit" "A permutation of a group's ends is impossible.";
        TwoTransports "two-transports" "A flow has two of tcp, udp and stack.";
        NoTransport "no-transport" "A flow has neither tcp nor udp nor a stack.";
        NoSource "no-source" "A flow over udp has no source.";
        SourceUnfit "source-unfit" "The parameters of a source are inconsistent, or do not fit the transport.";
        CarrierUnfit "carrier-unfit" "A rate-controlled source cannot carry the given source, or not over this transport.";
        TcpUnfit "tcp-unfit" "The parameters of TCP are inconsistent.";
        StackMissing "stack-missing" "A transport stack is not built into this program.";
        StackUnfit "stack-unfit" "The parameters of a transport stack are inconsistent.";
        NoRoute "no-route" "A flow has no route to its receiver, or none back.";
        ChangeUnfit "change-unfit" "A value cannot change while the network runs, or not at this time.";
        ControlUnfit "control-unfit" "The parameters of a control are inconsistent.";
        GovernsNothing "governs-nothing" "A control governs no flow.";
        GovernedTwice "governed-twice" "A flow is governed by two controls.";
        ClassNoPriority "class-no-priority" "The class of a governed flow is not a priority.";
        NoFlowThere "no-flow-there" "None of the selected flows starts at this node.";
        Unreadable "unreadable" "A scenario that passed the checks cannot be read: a defect of the simulator.";
        Remark "remark" "A file that is not a scenario, such as a study, has an error; see its message.";
    }
    Warning {
        CoarseSampling "coarse-sampling" "The sampling step is longer than a round-trip time, or longer than the run.";
        ShortMeasurement "short-measurement" "A flow is measured for less than fifty round-trip times.";
        WindowLimits "window-limits" "The largest window of a flow is below the bandwidth-delay product of its path.";
        ShortRun "short-run" "The run ends before a flow can complete its handshake and slow start, or its amount of data can arrive.";
        OtherBottleneck "other-bottleneck" "The studied link is not the bottleneck: links before or after it carry less.";
        QueueNeverFills "queue-never-fills" "A queue has room for the windows of all flows through it, so it never drops.";
        PhaseEffects "phase-effects" "Greedy flows with one round-trip time start together before a DropTail queue and synchronise (Floyd and Jacobson 1992).";
        EcnWithoutMarks "ecn-without-marks" "A flow offers ECN, but no queue on its path marks: packets are dropped instead.";
        ThresholdAboveLimit "threshold-above-limit" "The upper threshold of RED is above the limit of its buffer, so its early drops do not work as they should.";
        ConnectionLost "connection-lost" "The connection of a transport stack ended by an error.";
        SilentFlow "silent-flow" "A flow delivered no data after the warm-up.";
        SameRuns "same-runs" "All runs are identical: nothing is random, so intervals are meaningless.";
        NotModelled "not-modelled" "A word of a queue in the notation of tc is not modelled, or differs here.";
        Imported "imported" "A file of another program was read incompletely, or with changes.";
    }
}

impl Code {
    /// Code with this name.
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

/// A reason to check a result before trusting it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Code of the warning.
    pub code: Code,
    /// Text of the warning.
    pub text: String,
}

/// All codes as data, for the reference page.
pub fn codes_listing() -> Value {
    let kind = |k: Kind| if k == Kind::Error { "error" } else { "warning" };
    Code::ALL.iter().map(|&(_, k, name, doc)| json!({ "kind": kind(k), "name": name, "doc": doc })).collect()
}
