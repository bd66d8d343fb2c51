//! Every algorithm, one line each: name in scenario files, aliases, type. Topology builders are in `topology/mod.rs`,
//! congestion controls in `tcp/src/cc/registry.rs`.
//!
//! Aliases are the names in ns-2 and tc. A new line adds an algorithm; validation, schema, `explain`, the reference
//! pages, the Python classes and the conformance suites follow from it.

use crate::endpoint::AnyEndpoint;
use crate::plugin::PluginParams;
use crate::registry_macros::{controls, queues, sources, stacks};
use fairlane_queue as q;
use fairlane_stacks as s;
use fairlane_traffic::{self as traffic, source};

queues! {
    inline {
        "droptail" ["DropTail", "Queue/DropTail", "FifoQueueDisc", "pfifo", "bfifo", "fifo", "taildrop"] => Droptail: q::DropTailParams;
        "red" ["RED", "Queue/RED", "RedQueueDisc"] => Red: q::RedParams;
    }
    boxed {
        "headdrop" ["HeadDrop", "pfifo_head_drop", "drop_front", "dropfront"] => HeadDrop: q::HeadDropParams;
        "randomdrop" ["RandomDrop", "random_drop"] => RandomDrop: q::RandomDropParams;
        "management" ["Management", "Queue/Management"] => Management: q::ManagementParams;
        "ared" ["ARED", "adaptive_red"] => Ared: q::AredParams;
        "wred" ["WRED", "gred"] => Wred: q::WredParams;
        "rio" ["RIO", "RED/RIO", "Queue/RED/RIO"] => Rio: q::RioParams;
        "modred" ["ModRED"] => ModRed: q::ModRedParams;
        "avq" ["AVQ", "Vq", "Queue/Vq"] => Avq: q::AvqParams;
        "rem" ["REM", "Queue/REM"] => Rem: q::RemParams;
        "pi" ["PI", "Queue/PI"] => Pi: q::PiParams;
        "blue" ["BLUE", "Blue"] => Blue: q::BlueParams;
        "sfb" ["SFB"] => Sfb: q::SfbParams;
        "choke" ["CHOKe", "xchoke"] => Choke: q::ChokeParams;
        "fred" ["FRED"] => Fred: q::FredParams;
        "afd" ["AFD", "approximate_fair_dropping"] => Afd: q::AfdParams;
        "green" ["GREEN"] => Green: q::GreenParams;
        "codel" ["CoDel", "CoDelQueueDisc"] => Codel: q::CodelParams;
        "cobalt" ["COBALT", "CobaltQueueDisc"] => Cobalt: q::CobaltParams;
        "pie" ["PIE", "PieQueueDisc"] => Pie: q::PieParams;
        "docsis_pie" ["docsis-pie", "DOCSIS-PIE"] => DocsisPie: q::DocsisPieParams;
        "pi2" ["PI2"] => Pi2: q::Pi2Params;
        "dualpi2" ["DualPI2"] => DualPi2: q::DualPi2Params;
        "prio" ["PRIO", "priority", "PrioQueueDisc"] => Prio: q::PrioParams<QueueSpec>;
        "rr" ["RR", "round_robin"] => Rr: q::RrParams<QueueSpec>;
        "wrr" ["WRR", "weighted_round_robin"] => Wrr: q::WrrParams<QueueSpec>;
        "drr" ["DRR", "Queue/DRR"] => Drr: q::DrrParams<QueueSpec>;
        "sfq" ["SFQ", "Queue/SFQ"] => Sfq: q::SfqParams;
        "fq" ["FQ", "Queue/FQ"] => Fq: q::FqParams;
        "wfq" ["WFQ", "pgps"] => Wfq: q::WfqParams<QueueSpec>;
        "wf2q" ["WF2Q", "wf2q+", "wf2qplus"] => Wf2q: q::Wf2qParams<QueueSpec>;
        "fq_codel" ["FqCoDel", "FQ_CoDel", "FqCoDelQueueDisc"] => FqCodel: q::FqCodelParams;
        "fq_pie" ["FqPIE", "FQ_PIE", "FqPieQueueDisc"] => FqPie: q::FqPieParams;
        "cake" ["CAKE", "sch_cake"] => Cake: q::CakeParams;
        "tbf" ["TBF", "TbfQueueDisc"] => Tbf: q::TbfParams<QueueSpec>;
        "htb" ["HTB", "sch_htb"] => Htb: q::HtbParams<QueueSpec>;
        "hfsc" ["HFSC", "sch_hfsc"] => Hfsc: q::HfscParams<QueueSpec>;
        "srtcm" ["srTCM"] => Srtcm: q::SrtcmParams<QueueSpec>;
        "trtcm" ["trTCM"] => Trtcm: q::TrtcmParams<QueueSpec>;
        "policer" ["police", "act_police"] => Policer: q::PolicerParams<QueueSpec>;
    }
    plugin PluginParams;
}

sources! {
    "bulk" ["FTP", "Application/FTP"] => Bulk: source::bulk::BulkParams;
    "file" [] => File: source::file::FileParams;
    "cbr" ["CBR", "Application/Traffic/CBR"] => Cbr: source::cbr::CbrParams;
    "poisson" [] => Poisson: source::poisson::PoissonParams;
    "on_off" ["on-off", "onoff", "Application/Traffic/Exponential"] => OnOff: source::on_off::OnOffParams;
    "mmpp" ["MMPP"] => Mmpp: source::mmpp::MmppParams;
    "video" ["mpeg"] => Video: source::video::VideoParams;
    "voip" ["VoIP"] => Voip: source::voip::VoipParams;
    "replay" ["tcpreplay", "Application/Traffic/Trace"] => Replay: source::replay::ReplayParams;
    "request_response" ["request-response", "rpc"] => RequestResponse: source::request_response::RequestResponseParams;
    "web" ["http"] => Web: source::web::WebParams;
    carriers of AnyEndpoint {
        "tfrc" ["TFRC", "Agent/TFRC"] => Tfrc: traffic::TfrcParams<SourceSpec>;
        "rap" ["RAP", "Agent/RAP"] => Rap: traffic::RapParams<SourceSpec>;
    }
}

controls! {
    "time_slots" [] => TimeSlots: traffic::TimeSlotsParams;
    "congestion_signal" [] => CongestionSignal: traffic::CongestionSignalParams;
}

stacks! {
    "quinn" [] => Quinn: s::QuinnParams;
    "noq" [] => Noq: s::NoqParams;
    "str0m" [] => Str0m: s::Str0mParams;
    plugin s::PluginStack;
}

impl Default for StackSpec {
    fn default() -> Self {
        Self::Quinn(s::QuinnParams::default())
    }
}

impl Default for QueueSpec {
    fn default() -> Self {
        Self::Droptail(q::DropTailParams::default())
    }
}

impl Default for SourceSpec {
    fn default() -> Self {
        Self::Bulk(source::bulk::BulkParams::default())
    }
}
