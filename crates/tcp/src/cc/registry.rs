//! One line per congestion control algorithm; everything that lists them is made from these lines.

use super::bbr::{Bbr, BbrParams};
use super::bbr3::{Bbr3, Bbr3Params};
use super::bic::{Bic, BicParams};
use super::cubic::{Cubic, CubicParams};
use super::dctcp::{Dctcp, DctcpParams};
use super::highspeed::{HighSpeed, HighSpeedParams};
use super::htcp::{Htcp, HtcpParams};
use super::hybla::{Hybla, HyblaParams};
use super::illinois::{Illinois, IllinoisParams};
use super::ledbat::{Ledbat, LedbatParams};
use super::plugin::{self, CcSite, PluginCc};
use super::prague::{Prague, PragueParams};
use super::reno::{Reno, RenoParams};
use super::scalable::{Scalable, ScalableParams};
use super::vegas::{Vegas, VegasParams};
use super::veno::{Veno, VenoParams};
use super::westwood::{Westwood, WestwoodParams};
use super::yeah::{Yeah, YeahParams};
use super::{
    AckSample, CongestionControl, CongestionEvent, CustomCc, FineClock, LostSample, MarkSample, RecoveryExit, SampleSource, Wants,
};
use crate::choices::{EcnMode, Scheme};
use crate::config::TcpConfig;
use fairlane_units::{Dur, Rate, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// What is known of an algorithm.
#[derive(Clone, Debug)]
pub struct CcInfo {
    /// Its name in scenarios.
    pub name: &'static str,
    /// Other names it is known by, those of ns-2 among them.
    pub aliases: &'static [&'static str],
    /// One sentence with its source.
    pub doc: &'static str,
    /// The recovery scheme it implies.
    pub scheme: Scheme,
    /// Schema of its own parameters.
    pub schema: fn() -> Schema,
}

macro_rules! algorithms {
    (
        inline { $($state:ident),* $(,)? }
        boxed { $($large:ident),* $(,)? }
        $($variant:ident $name:literal $aliases:tt, $params:ty => $built:ident, $scheme:ident $(+ $ecn:ident)?, $doc:literal;)*
    ) => {
        /// The choice of an algorithm: its name, or its name with its own parameters (`cc.NAME = {...}`).
        #[derive(Clone, Debug, PartialEq)]
        pub enum CcParams {
            $(#[doc = $doc] $variant($params),)*
            /// One that is not built in.
            Plugin(PluginCc),
        }

        /// A built-in algorithm, or a user's own. What is common lies in the endpoint itself, the rest behind a pointer, so that
        /// endpoints stay small.
        #[derive(Clone)]
        pub enum AnyCc {
            $(#[doc = concat!("The window of [`", stringify!($state), "`].")] $state($state),)*
            /// One of the others.
            Boxed(Box<BoxedCc>),
        }

        /// The algorithms that lie behind a pointer.
        #[derive(Clone)]
        pub enum BoxedCc {
            /// Not built in.
            Custom(Box<dyn CustomCc>),
            $(#[doc = concat!("The state of [`", stringify!($large), "`].")] $large($large),)*
        }

        $(impl From<$state> for AnyCc {
            fn from(c: $state) -> Self {
                Self::$state(c)
            }
        })*
        $(impl From<$large> for AnyCc {
            fn from(c: $large) -> Self {
                Self::Boxed(Box::new(BoxedCc::$large(c)))
            }
        })*

        impl CcParams {
            /// All algorithms.
            pub const ALL: &'static [CcInfo] = &[
                $(CcInfo { name: $name, aliases: &$aliases, doc: $doc, scheme: Scheme::$scheme, schema: || schemars::schema_for!($params) },)*
            ];
            /// Its name.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name,)* Self::Plugin(p) => p.known().unwrap_or(plugin::KEY) }
            }
            /// The recovery scheme it implies.
            pub fn implied_scheme(&self) -> Scheme {
                match self { $(Self::$variant(_) => Scheme::$scheme,)* Self::Plugin(p) => p.scheme() }
            }
            /// What it needs of ECN.
            pub fn implied_ecn(&self) -> EcnMode {
                match self { $(Self::$variant(_) => {
                    let _mode = EcnMode::Off;
                    $(let _mode = EcnMode::$ecn;)?
                    _mode
                },)* Self::Plugin(p) => p.ecn() }
            }
            /// The algorithm in its first state, outside of any network.
            pub fn build(&self, config: &TcpConfig) -> AnyCc {
                self.build_at(&CcSite::of(config))
            }
            /// The algorithm in its first state.
            pub fn build_at(&self, site: &CcSite<'_>) -> AnyCc {
                match self { $(Self::$variant(p) => $built::new(p, site.config).into(),)* Self::Plugin(p) => p.build(site) }
            }
            /// The name that a name or alias stands for.
            pub fn canonical(name: &str) -> Option<&'static str> {
                $(if name == $name || $aliases.contains(&name) {
                    return Some($name);
                })*
                None
            }
            fn by_name(name: &str) -> Option<Self> {
                $(if name == $name || $aliases.contains(&name) {
                    return Some(Self::$variant(Default::default()));
                })*
                plugin::announced_cc(name).map(|(own, _)| Self::Plugin(PluginCc::new(own, serde_json::Map::new())))
            }
            fn from_table<'de, A: MapAccess<'de>>(name: &str, map: &mut A) -> Result<Option<Self>, A::Error> {
                $(if name == $name || $aliases.contains(&name) {
                    return map.next_value().map(|p| Some(Self::$variant(p)));
                })*
                if name == plugin::KEY {
                    return map.next_value().map(|p| Some(Self::Plugin(p)));
                }
                let Some((own, _)) = plugin::announced_cc(name) else { return Ok(None) };
                map.next_value().map(|params| Some(Self::Plugin(PluginCc::new(own, params))))
            }
        }

        impl Serialize for CcParams {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                match self { $(Self::$variant(p) => {
                    // An algorithm without parameters of its own is just its name.
                    if size_of::<$params>() == 0 {
                        return s.serialize_str($name);
                    }
                    let mut map = s.serialize_map(Some(1))?;
                    map.serialize_entry($name, p)?;
                    map.end()
                },)*
                Self::Plugin(p) => {
                    let mut map = s.serialize_map(Some(1))?;
                    map.serialize_entry(plugin::KEY, p)?;
                    map.end()
                } }
            }
        }

        impl JsonSchema for CcParams {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                "CongestionControl".into()
            }
            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let mut names = Vec::new();
                $(names.push($name); names.extend($aliases);)*
                json_schema!({ "anyOf": [
                    { "type": "string", "enum": names },
                    {
                        "type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": false,
                        "properties": { $($name: generator.subschema_for::<$params>(),)* "plugin": generator.subschema_for::<PluginCc>() },
                    },
                ] })
            }
        }

        /// What every acknowledgment asks, out of line: callers hold the code of the inline algorithms only.
        impl BoxedCc {
            #[inline(never)]
            fn on_ack(&mut self, s: &AckSample) {
                match self { Self::Custom(c) => c.on_ack(s), $(Self::$large(c) => c.on_ack(s),)* }
            }
            #[inline(never)]
            fn cwnd(&self) -> u64 {
                match self { Self::Custom(c) => c.cwnd(), $(Self::$large(c) => c.cwnd(),)* }
            }
            #[inline(never)]
            fn allows(&self, bytes: u64) -> bool {
                match self { Self::Custom(c) => c.allows(bytes), $(Self::$large(c) => c.allows(bytes),)* }
            }
        }

        macro_rules! fast {
            ($me:expr, $c:ident => $e:expr) => {
                match $me { $(AnyCc::$state($c) => $e,)* AnyCc::Boxed($c) => $e }
            };
        }

        macro_rules! each {
            ($me:expr, $c:ident => $e:expr) => {
                match $me {
                    $(AnyCc::$state($c) => $e,)*
                    AnyCc::Boxed(boxed) => match &mut **boxed { BoxedCc::Custom($c) => $e, $(BoxedCc::$large($c) => $e,)* },
                }
            };
        }

        macro_rules! each_ref {
            ($me:expr, $c:ident => $e:expr) => {
                match $me {
                    $(AnyCc::$state($c) => $e,)*
                    AnyCc::Boxed(boxed) => match &**boxed { BoxedCc::Custom($c) => $e, $(BoxedCc::$large($c) => $e,)* },
                }
            };
        }
    };
}

algorithms! {
    inline { Reno }
    boxed { Cubic, Vegas, Westwood, Bic, Htcp, Illinois, Scalable, HighSpeed, Hybla, Veno, Yeah, Ledbat, Dctcp, Bbr, Bbr3, Prague }
    Tahoe "tahoe" ["Tahoe", "Agent/TCP"], RenoParams => Reno, Tahoe,
        "Slow start, congestion avoidance and fast retransmit (Jacobson 1988): every loss restarts from one segment.";
    Reno "reno" ["Reno", "Agent/TCP/Reno"], RenoParams => Reno, Reno,
        "Additive increase, multiplicative decrease with fast recovery (RFC 5681).";
    Newreno "newreno" ["Newreno", "NewReno", "Agent/TCP/Newreno"], RenoParams => Reno, Newreno,
        "Reno whose fast recovery understands partial acknowledgments (RFC 6582).";
    Sack "sack" ["Sack", "Sack1", "Agent/TCP/Sack1"], RenoParams => Reno, Sack,
        "Reno with selective acknowledgments (RFC 2018) and the recovery of RFC 6675.";
    Fack "fack" ["Fack", "Agent/TCP/Fack"], RenoParams => Reno, Fack,
        "Reno with forward acknowledgment: the forward-most SACKed byte tells what is in flight (Mathis and Mahdavi 1996).";
    Vegas "vegas" ["Vegas", "Agent/TCP/Vegas", "TcpVegas"], VegasParams => Vegas, Vegas,
        "A few packets in the queue, told from the round-trip time (Brakmo and Peterson 1995).";
    Westwood "westwood" ["Westwood", "westwood+", "TcpWestwood", "TcpWestwoodPlus"], WestwoodParams => Westwood, Sack,
        "After a loss the window is what the path was seen to deliver (Westwood+, Grieco and Mascolo 2004).";
    Cubic "cubic" ["Cubic", "TcpCubic"], CubicParams => Cubic, Sack,
        "The window as a cubic function of the time since the last loss, with HyStart++ (RFC 9438).";
    Bic "bic" ["Bic", "TcpBic"], BicParams => Bic, Sack,
        "Binary search for the window of the last loss (Xu, Harfoush and Rhee 2004, constants of Linux).";
    Htcp "htcp" ["Htcp", "TcpHtcp", "h-tcp"], HtcpParams => Htcp, Sack,
        "Growth by the time since the last loss, reduction by the queue (H-TCP, draft-leith-tcp-htcp-06).";
    Illinois "illinois" ["Illinois", "TcpIllinois"], IllinoisParams => Illinois, Sack,
        "Delay says by how much the window changes, losses say when (Liu, Basar and Srikant 2008).";
    Scalable "scalable" ["Scalable", "TcpScalable"], ScalableParams => Scalable, Sack,
        "Growth in proportion to the window (Scalable TCP, Kelly 2003).";
    HighSpeed "highspeed" ["HighSpeed", "TcpHighSpeed", "hstcp"], HighSpeedParams => HighSpeed, Sack,
        "Growth and reduction that depend on the window (HighSpeed TCP, RFC 3649).";
    Hybla "hybla" ["Hybla", "TcpHybla"], HyblaParams => Hybla, Sack,
        "Growth as on a path of 25 ms (Caini and Firrincieli 2004).";
    Veno "veno" ["Veno", "TcpVeno"], VenoParams => Veno, Sack,
        "A loss while the queue is short is taken for one of the radio link (Fu and Liew 2003).";
    Yeah "yeah" ["YeAH", "YeAH-TCP", "TcpYeah"], YeahParams => Yeah, Sack,
        "Scalable TCP while the queue is short, else Reno, and it empties the queue (Baiocchi, Castellani and Vacirca 2007).";
    Ledbat "ledbat" ["LEDBAT", "TcpLedbat"], LedbatParams => Ledbat, Sack,
        "A background flow that holds the queueing delay at a target (RFC 6817).";
    Dctcp "dctcp" ["Dctcp", "DCTCP", "TcpDctcp"], DctcpParams => Dctcp, Sack + Dctcp,
        "A window cut in proportion to the share of marked data, for data centres (RFC 8257).";
    Bbr "bbr" ["Bbr", "TcpBbr", "bbr1"], BbrParams => Bbr, Sack,
        "A model of bandwidth and round-trip time paces the data (BBR version 1, draft-cardwell-iccrg-bbr-congestion-control-00, Linux).";
    Bbr3 "bbr3" ["BBRv3"], Bbr3Params => Bbr3, Sack,
        "BBR version 3: the model is bounded by what losses and marks say (draft-ietf-ccwg-bbr-06).";
    Prague "prague" ["Prague"], PragueParams => Prague, Sack + Accecn,
        "DCTCP for the Internet: L4S with pacing and little dependence on the round-trip time (draft-briscoe-iccrg-prague-congestion-control-04).";
}

impl CcParams {
    /// Whether an algorithm that is not built in is there, and its parameters are those it declares.
    pub(crate) fn check_schema(&self) -> Result<(), String> {
        if let Self::Plugin(p) = self { p.check_schema() } else { Ok(()) }
    }
    /// Whether the parameters of an algorithm that is not built in make sense together.
    pub(crate) fn check(&self, config: &TcpConfig) -> Result<(), String> {
        if let Self::Plugin(p) = self { p.check(config) } else { Ok(()) }
    }
    /// The algorithm of an end that has no data to send. One that is not built in need not exist twice, nor one that is large and asks
    /// no more of its sender than Reno does.
    pub fn build_passive(&self, config: &TcpConfig, active: &AnyCc) -> AnyCc {
        let like_reno = !matches!(active, AnyCc::Reno(_)) && active.wants() == Wants::default();
        if like_reno || matches!(self, Self::Plugin(_)) { AnyCc::Reno(Reno::idle(config)) } else { active.clone() }
    }
}

impl Default for CcParams {
    fn default() -> Self {
        Self::Newreno(RenoParams::default())
    }
}

fn unknown<E: Error>(name: &str) -> E {
    let own = plugin::cc_plugins();
    let known: Vec<&str> = CcParams::ALL.iter().map(|a| a.name).chain(own.iter().map(|p| p.0)).collect();
    E::custom(format!("congestion control \"{name}\" is not known; write one of {}", known.join(", ")))
}

impl<'de> Deserialize<'de> for CcParams {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = CcParams;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a congestion control algorithm such as \"newreno\", or a table with its name as the only key")
            }
            fn visit_str<E: Error>(self, v: &str) -> Result<CcParams, E> {
                CcParams::by_name(v).ok_or_else(|| unknown(v))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<CcParams, A::Error> {
                let Some(name) = map.next_key::<String>()? else {
                    return Err(A::Error::custom("the table is empty: write the name of an algorithm, for instance cc = \"newreno\""));
                };
                let cc = CcParams::from_table(&name, &mut map)?.ok_or_else(|| unknown::<A::Error>(&name))?;
                match map.next_key::<String>()? {
                    None => Ok(cc),
                    Some(more) => Err(A::Error::custom(format!("two algorithms, \"{name}\" and \"{more}\": write one"))),
                }
            }
        }
        d.deserialize_any(Reader)
    }
}

impl fmt::Debug for AnyCc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cwnd {} ssthresh {}", self.cwnd(), self.ssthresh())
    }
}

impl CongestionControl for AnyCc {
    fn seed(&mut self, seed: u64) {
        each!(self, c => c.seed(seed));
    }
    fn on_first_rtt(&mut self, now: Time, rtt: Dur) {
        each!(self, c => c.on_first_rtt(now, rtt));
    }
    fn on_established(&mut self, now: Time, window: u64) {
        each!(self, c => c.on_established(now, window));
    }
    #[inline]
    fn on_ack(&mut self, s: &AckSample) {
        fast!(self, c => c.on_ack(s));
    }
    #[inline(always)]
    fn on_ack_with(&mut self, source: &impl SampleSource) {
        match self {
            Self::Reno(c) if !c.watched() => c.on_ack(&source.brief()),
            Self::Reno(c) => c.on_watched_ack(&source.sample()),
            Self::Boxed(c) => c.on_ack(&source.sample()),
        }
    }
    fn on_congestion(&mut self, e: &CongestionEvent) {
        each!(self, c => c.on_congestion(e));
    }
    fn fine_clock(&mut self) -> Option<&mut dyn FineClock> {
        each!(self, c => c.fine_clock())
    }
    fn on_recovery_exit(&mut self, e: &RecoveryExit) {
        each!(self, c => c.on_recovery_exit(e));
    }
    fn on_idle_restart(&mut self, now: Time, window: u64) {
        each!(self, c => c.on_idle_restart(now, window));
    }
    fn on_syn_loss(&mut self, ssthresh: u64) {
        each!(self, c => c.on_syn_loss(ssthresh));
    }
    fn on_decay(&mut self, ssthresh: u64) {
        each!(self, c => c.on_decay(ssthresh));
    }
    fn on_validation(&mut self, now: Time, window: u64, ssthresh: u64) {
        each!(self, c => c.on_validation(now, window, ssthresh));
    }
    fn on_sent(&mut self, now: Time, bytes: u64, in_flight: u64) {
        each!(self, c => c.on_sent(now, bytes, in_flight));
    }
    fn on_lost(&mut self, l: &LostSample) {
        each!(self, c => c.on_lost(l));
    }
    fn on_marks(&mut self, m: &MarkSample) {
        each!(self, c => c.on_marks(m));
    }
    fn settle(&mut self) {
        each!(self, c => c.settle());
    }
    fn undo(&mut self) {
        each!(self, c => c.undo());
    }
    fn wants(&self) -> Wants {
        each_ref!(self, c => c.wants())
    }
    fn holds_back(&self) -> bool {
        each_ref!(self, c => c.holds_back())
    }
    #[inline]
    fn cwnd(&self) -> u64 {
        fast!(self, c => c.cwnd())
    }
    #[inline]
    fn allows(&self, bytes: u64) -> bool {
        fast!(self, c => c.allows(bytes))
    }
    fn ssthresh(&self) -> u64 {
        each_ref!(self, c => c.ssthresh())
    }
    #[inline]
    fn pacing_rate(&self) -> Option<Rate> {
        each_ref!(self, c => c.pacing_rate())
    }
    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        each_ref!(self, c => c.gauges(out));
    }
}
