//! Queue disciplines: a law decides which packets to drop or mark, a scheduler stores them.
//!
//! One file in `law/` is one law (an active queue management algorithm, or none), one file in `sched/` one
//! scheduler. [`Fifo`] holds the packets of one law; schedulers with many queues hold one `Fifo` for each.

mod classify;
mod discipline;
mod law;
mod limit;
mod sched;

pub use classify::{CODE_POINTS, Classifier, Filter, Match, code_point};
pub use discipline::{Capabilities, Discipline, Preset, Problem};
pub use law::afd::{Afd, AfdParams};
pub use law::ared::{Ared, AredParams};
pub use law::avq::{Avq, AvqParams};
pub use law::blue::{Blue, BlueParams};
pub use law::choke::{Choke, ChokeParams};
pub use law::cobalt::{Cobalt, CobaltParams};
pub use law::codel::{Codel, CodelFiner, CodelParams, CodelShared, CodelTimes, InvSqrt};
pub use law::docsis_pie::{DocsisPie, DocsisPieParams};
pub use law::droptail::{DropTail, DropTailParams};
pub use law::fred::{Fred, FredParams};
pub use law::green::{Green, GreenParams};
pub use law::headdrop::{HeadDrop, HeadDropParams};
pub use law::management::ManagementParams;
pub use law::modred::{ModRed, ModRedParams};
pub use law::pi::{Pi, PiParams};
pub use law::pi2::{Pi2, Pi2Params};
pub use law::pie::{DelayEstimate, Pie, PieControl, PieMarks, PieParams};
pub use law::randomdrop::{RandomDrop, RandomDropParams};
pub use law::red::{Measure, Red, RedParams, RedSetting, RedStart, RedThresholds, RedTuning};
pub use law::rem::{Rem, RemParams};
pub use law::rio::{Coupling, Rio, RioParams};
pub use law::sfb::{Sfb, SfbParams};
pub use law::wred::{CurveTuning, Wred, WredLevel, WredParams};
pub use law::{Law, LawCx, Verdict, Victim};
pub use limit::{Admit, Front, Limit};
pub use sched::bank::{ClassParams, ClassSpec, WeightedParams};
pub use sched::cake::{Cake, CakeAckFilter, CakeFraming, CakeIsolation, CakeParams, CakeTins};
pub use sched::drr::{Drr, DrrClassParams, DrrParams};
pub use sched::dualpi2::{DualPi2, DualPi2Params, DualScheduler};
pub use sched::fifo::Fifo;
pub use sched::fq::{Fq, FqClock, FqParams};
pub use sched::fq_codel::FqCodelParams;
pub use sched::fq_law::{FqFlows, FqScheduler};
pub use sched::fq_pie::FqPieParams;
pub use sched::hfsc::{Hfsc, HfscClassParams, HfscParams, ServiceCurve};
pub use sched::htb::{Htb, HtbClassParams, HtbParams};
pub use sched::link_layer::{LinkLayer, LinkLayerKind};
pub use sched::mark::policer::{Policer, PolicerParams};
pub use sched::mark::srtcm::{Srtcm, SrtcmParams};
pub use sched::mark::trtcm::{Trtcm, TrtcmParams};
pub use sched::mark::{Colour, Marker, Meter, MeterMode, MeterPer};
pub use sched::prio::{Prio, PrioParams};
pub use sched::sfq::{Sfq, SfqParams};
pub use sched::tbf::{Tbf, TbfParams};
pub use sched::waiting::Waiting;
pub use sched::wf2q::{Wf2q, Wf2qParams};
pub use sched::wfq::{Wfq, WfqClock, WfqParams};
pub use sched::wrr::{RrParams, TurnUnit, Wrr, WrrParams};
pub use sched::{DropFrom, HashBy};
