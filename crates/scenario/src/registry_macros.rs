//! Macros that expand the lines of the registry into the spec enum with its names, the runtime enum, and the trait implementations.
//! They hold no logic; `Dyn` variants carry algorithms that are not built in.

/// Defines the parameter enum of one kind of algorithm.
macro_rules! spec {
    ($(#[$doc:meta])* $spec:ident, $kind:literal, $about:literal;
     $($name:literal [$($alias:literal),*] => $variant:ident: $params:ty;)*
     $(unlisted $uname:literal => $uvariant:ident: $uparams:ty;)?) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[allow(clippy::large_enum_variant, reason = "read once, kept in small numbers")]
        pub enum $spec {
            $(#[doc = concat!("`", $name, "`")] #[serde(rename = $name)] $variant($params),)*
            $(#[doc = concat!("`", $uname, "`")] #[serde(rename = $uname)] $uvariant($uparams),)?
        }

        impl $spec {
            /// Names and aliases, in the order of the registry.
            pub const NAMES: &'static [(&'static str, &'static [&'static str])] = &[$(($name, &[$($alias),*])),*];
            /// Name in scenario files.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name,)* $(Self::$uvariant(_) => $uname,)? }
            }
            /// Every algorithm of this kind with default parameters.
            pub fn all() -> Vec<Self> {
                vec![$(Self::$variant(<$params>::default())),*]
            }
            pub(crate) fn listing() -> Vec<$crate::registry_entry::Listed> {
                vec![$($crate::registry_entry::Listed::new::<$params>($kind, $name, &[$($alias),*])),*]
            }
            pub(crate) const PARTS: &'static [$crate::registry_entry::Part] = &[
                $($crate::registry_entry::Part::new::<$params>($kind, $name),)*
                $($crate::registry_entry::Part::new::<$uparams>($kind, $uname),)?
            ];
            /// Schema of the parameters of each algorithm.
            pub(crate) fn schemas(g: &mut schemars::SchemaGenerator) -> Vec<(&'static str, schemars::Schema)> {
                vec![
                    $(($name, $crate::registry_entry::parameters::<$params>(g)),)*
                    $(($uname, $crate::registry_entry::parameters::<$uparams>(g)),)?
                ]
            }
        }

        impl schemars::JsonSchema for $spec {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($spec).into()
            }
            fn json_schema(g: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::registry_entry::registry_schema($kind, $about, Self::schemas(g), Self::NAMES)
            }
        }
    };
}

macro_rules! queues {
    (inline { $($iname:literal [$($ialias:literal),*] => $ivar:ident: $iparams:ty;)* }
     boxed { $($bname:literal [$($balias:literal),*] => $bvar:ident: $bparams:ty;)* }
     plugin $plugin:ty;) => {
        $crate::registry_macros::spec! {
            /// A queue discipline with its parameters.
            QueueSpec, "queue", "Queue discipline: its name, or a table of its parameters under its name.";
            $($iname [$($ialias),*] => $ivar: $iparams;)*
            $($bname [$($balias),*] => $bvar: $bparams;)*
            unlisted "plugin" => Plugin: $plugin;
        }

        /// A queue discipline at run time. The common ones lie in the port itself, the others behind a pointer.
        #[derive(Clone, Debug)]
        pub enum AnyQdisc {
            $(#[doc = concat!("`", $iname, "`")] $ivar(<$iparams as fairlane_queue::Discipline>::Queue),)*
            /// A queue behind a pointer.
            Boxed(BoxedQdisc),
        }

        /// A queue discipline behind a pointer, which keeps ports small and the choice among many out of the loop.
        #[derive(Clone, Debug)]
        pub enum BoxedQdisc {
            $(#[doc = concat!("`", $bname, "`")] $bvar(Box<<$bparams as fairlane_queue::Discipline>::Queue>),)*
            /// A plug-in queue.
            Dyn(Box<dyn $crate::dynamic::DynQdisc>),
        }

        impl fairlane_queue::Discipline for QueueSpec {
            type Queue = AnyQdisc;
            fn build(&self, context: &fairlane_net::BuildContext<'_>) -> AnyQdisc {
                match self {
                    $(Self::$ivar(p) => AnyQdisc::$ivar(fairlane_queue::Discipline::build(p, context)),)*
                    $(Self::$bvar(p) => AnyQdisc::Boxed(BoxedQdisc::$bvar(Box::new(fairlane_queue::Discipline::build(p, context)))),)*
                    // The check refuses a plug-in that is not loaded.
                    Self::Plugin(p) => match p.build_boxed(context) {
                        Some(queue) => AnyQdisc::Boxed(BoxedQdisc::Dyn(queue)),
                        None => Self::default().build(context),
                    },
                }
            }
            fn check(&self, context: &fairlane_net::BuildContext<'_>) -> Result<(), fairlane_queue::Problem> {
                let found = match self {
                    $(Self::$ivar(p) => fairlane_queue::Discipline::check(p, context),)*
                    $(Self::$bvar(p) => fairlane_queue::Discipline::check(p, context),)*
                    Self::Plugin(p) => p.check(context),
                };
                found.map_err(|problem| problem.within(self.name()))
            }
            fn remark(&self, context: &fairlane_net::BuildContext<'_>) -> Option<String> {
                match self {
                    $(Self::$ivar(p) => fairlane_queue::Discipline::remark(p, context),)*
                    $(Self::$bvar(p) => fairlane_queue::Discipline::remark(p, context),)*
                    Self::Plugin(_) => None,
                }
            }
            fn capabilities(&self) -> fairlane_queue::Capabilities {
                match self {
                    $(Self::$ivar(p) => fairlane_queue::Discipline::capabilities(p),)*
                    $(Self::$bvar(p) => fairlane_queue::Discipline::capabilities(p),)*
                    Self::Plugin(p) => p.capabilities(),
                }
            }
        }

        impl QueueSpec {
            /// Presets of the discipline with this name.
            pub fn presets(name: &str) -> &'static [fairlane_queue::Preset] {
                match name {
                    $($iname => <$iparams as fairlane_queue::Discipline>::PRESETS,)*
                    $($bname => <$bparams as fairlane_queue::Discipline>::PRESETS,)*
                    _ => &[],
                }
            }
        }

        $crate::registry_macros::forward_qdisc!(#[inline] AnyQdisc: $($ivar)* Boxed);
        $crate::registry_macros::forward_qdisc!(#[inline(never)] BoxedQdisc: $($bvar)* Dyn);
    };
}

macro_rules! forward_qdisc {
    (#[$inline:meta] $any:ident: $($variant:ident)*) => {
        impl fairlane_net::Qdisc for $any {
            #[$inline]
            fn enqueue(&mut self, p: fairlane_net::Packet, cx: &mut fairlane_net::QCx<'_>) {
                match self { $(Self::$variant(q) => q.enqueue(p, cx)),* }
            }
            #[$inline]
            fn dequeue(&mut self, cx: &mut fairlane_net::QCx<'_>) -> Option<fairlane_net::Packet> {
                match self { $(Self::$variant(q) => q.dequeue(cx)),* }
            }
            #[$inline]
            fn pass(&mut self, p: &mut fairlane_net::Packet, cx: &mut fairlane_net::QCx<'_>) -> bool {
                match self { $(Self::$variant(q) => q.pass(p, cx)),* }
            }
            #[$inline]
            fn backlog(&self) -> fairlane_net::Backlog {
                match self { $(Self::$variant(q) => q.backlog()),* }
            }
            #[$inline]
            fn head(&self) -> Option<&fairlane_net::Packet> {
                match self { $(Self::$variant(q) => q.head()),* }
            }
            #[$inline]
            fn ready_at(&self) -> Option<fairlane_units::Time> {
                match self { $(Self::$variant(q) => q.ready_at()),* }
            }
            fn on_timer(&mut self, cx: &mut fairlane_net::QCx<'_>) -> Option<fairlane_units::Time> {
                match self { $(Self::$variant(q) => q.on_timer(cx)),* }
            }
            fn has_timer(&self) -> bool {
                match self { $(Self::$variant(q) => q.has_timer()),* }
            }
            fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
                match self { $(Self::$variant(q) => q.gauges(out)),* }
            }
            fn tail(&self) -> Option<fairlane_net::Room> {
                match self { $(Self::$variant(q) => q.tail()),* }
            }
            fn give_back(&mut self) {
                match self { $(Self::$variant(q) => q.give_back()),* }
            }
            fn window_clamp(&self, flow: fairlane_net::FlowId) -> Option<u32> {
                match self { $(Self::$variant(q) => q.window_clamp(flow)),* }
            }
            fn clamps(&self) -> bool {
                match self { $(Self::$variant(q) => q.clamps()),* }
            }
            fn reads_headers(&self) -> bool {
                match self { $(Self::$variant(q) => q.reads_headers()),* }
            }
            fn on_header(&mut self, header: &fairlane_net::Segment) {
                match self { $(Self::$variant(q) => q.on_header(header)),* }
            }
            fn drops_late(&self) -> bool {
                match self { $(Self::$variant(q) => q.drops_late()),* }
            }
        }
    };
}

macro_rules! sources {
    ($($name:literal [$($alias:literal),*] => $variant:ident: $params:ty;)*
     carriers of $endpoint:ty { $($cname:literal [$($calias:literal),*] => $carrier:ident: $cparams:ty;)* }) => {
        $crate::registry_macros::spec! {
            /// A source of traffic with its parameters.
            SourceSpec, "source", "Source of traffic: its name, or a table of its parameters under its name.";
            $($name [$($alias),*] => $variant: $params;)*
            $($cname [$($calias),*] => $carrier: $cparams;)*
        }

        /// A source at run time, behind a pointer, because the most numerous sources are the smallest.
        #[derive(Clone, Debug)]
        pub enum AnyApp {
            $(#[doc = concat!("`", $name, "`")] $variant(Box<<$params as fairlane_traffic::Source>::App>),)*
            /// A source that is not built in.
            Dyn(Box<dyn $crate::dynamic::DynApp>),
        }

        impl fairlane_traffic::Source for SourceSpec {
            type App = AnyApp;
            fn check(&self, over: fairlane_net::Proto) -> Result<(), fairlane_net::Problem> {
                let found = match self {
                    $(Self::$variant(p) => fairlane_traffic::Source::check(p, over),)*
                    $(Self::$carrier(p) => fairlane_traffic::Source::check(p, over),)*
                };
                found.map_err(|problem| problem.within(self.name()))
            }
            fn fill(&mut self, over: fairlane_net::Proto) {
                match self {
                    $(Self::$variant(p) => fairlane_traffic::Source::fill(p, over),)*
                    $(Self::$carrier(p) => fairlane_traffic::Source::fill(p, over),)*
                }
            }
            fn build(&self, flow: fairlane_net::FlowId, start: fairlane_units::Time, stop: Option<fairlane_units::Time>) -> AnyApp {
                match self {
                    $(Self::$variant(p) => AnyApp::$variant(Box::new(fairlane_traffic::Source::build(p, flow, start, stop))),)*
                    $(Self::$carrier(p) => fairlane_traffic::Source::build(p, flow, start, stop),)*
                }
            }
        }

        impl SourceSpec {
            /// Returns the source with this mean rate, including `header` bytes per packet; none if its rate cannot be set.
            pub(crate) fn at(&self, rate: fairlane_units::Rate, header: u64) -> Option<Self> {
                match self {
                    $(Self::$variant(p) => fairlane_traffic::Source::at(p, rate, header).map(Self::$variant),)*
                    $(Self::$carrier(_) => None,)*
                }
            }
            /// Source whose data this source carries with its own endpoints, if it does.
            pub fn carried(&self) -> Option<&Self> {
                match self {
                    $(Self::$carrier(p) => Some(&p.source),)*
                    $(Self::$variant(_) => None,)*
                }
            }
            /// Endpoints of the source, which replace those of UDP.
            pub(crate) fn endpoints(
                &self,
                udp: &fairlane_traffic::UdpParams,
                class: fairlane_net::Class,
            ) -> Option<($endpoint, $endpoint)> {
                match self {
                    $(Self::$carrier(p) => {
                        let (sender, receiver) = p.endpoints(udp, class);
                        Some((sender.into(), receiver.into()))
                    })*
                    $(Self::$variant(_) => None,)*
                }
            }
        }

        $crate::registry_macros::forward_app!(AnyApp: $($variant)* Dyn);
    };
}

macro_rules! forward_app {
    ($any:ident: $($variant:ident)*) => {
        impl fairlane_net::App for $any {
            fn starts_at(&self) -> fairlane_units::Time {
                match self { $(Self::$variant(a) => a.starts_at()),* }
            }
            #[inline]
            fn on_wake(&mut self, cx: &mut fairlane_net::AppCx<'_>) {
                match self { $(Self::$variant(a) => a.on_wake(cx)),* }
            }
            #[inline]
            fn on_delivered(&mut self, at: fairlane_net::EpId, bytes: u64, cx: &mut fairlane_net::AppCx<'_>) {
                match self { $(Self::$variant(a) => a.on_delivered(at, bytes, cx)),* }
            }
            fn listens(&self) -> bool {
                match self { $(Self::$variant(a) => a.listens()),* }
            }
            fn usage(&self) -> fairlane_net::Usage {
                match self { $(Self::$variant(a) => a.usage()),* }
            }
        }
    };
}

macro_rules! controls {
    ($($name:literal [$($alias:literal),*] => $variant:ident: $params:ty;)*) => {
        $crate::registry_macros::spec! {
            /// A flow control at the source with its parameters.
            ControlSpec, "control", "Control of flows at their source: a table of its parameters under its name.";
            $($name [$($alias),*] => $variant: $params;)*
        }

        /// A flow control at run time.
        #[derive(Clone, Debug)]
        pub enum AnyControl {
            $(#[doc = concat!("`", $name, "`")] $variant(<$params as fairlane_traffic::Controller>::Control),)*
        }

        impl fairlane_traffic::Controller for ControlSpec {
            type Control = AnyControl;
            fn nodes(&self) -> Option<&[String]> {
                match self { $(Self::$variant(p) => p.nodes()),* }
            }
            fn flows(&self) -> Option<&[String]> {
                match self { $(Self::$variant(p) => p.flows()),* }
            }
            fn check(&self) -> Result<(), fairlane_net::Problem> {
                match self { $(Self::$variant(p) => p.check()),* }
            }
            fn build(&self, priorities: &[u8], numbers: &[u32]) -> AnyControl {
                match self { $(Self::$variant(p) => AnyControl::$variant(p.build(priorities, numbers))),* }
            }
        }

        impl fairlane_net::Control for AnyControl {
            fn begins_closed(&self) -> bool {
                match self { $(Self::$variant(c) => c.begins_closed()),* }
            }
            fn deaf(&self) -> bool {
                match self { $(Self::$variant(c) => c.deaf()),* }
            }
            fn on_begin(&mut self, flow: usize, cx: &mut fairlane_net::ControlCx<'_>) {
                match self { $(Self::$variant(c) => c.on_begin(flow, cx)),* }
            }
            fn on_finish(&mut self, flow: usize, cx: &mut fairlane_net::ControlCx<'_>) {
                match self { $(Self::$variant(c) => c.on_finish(flow, cx)),* }
            }
            fn on_signal(&mut self, flow: usize, sign: fairlane_net::SenderSignal, cx: &mut fairlane_net::ControlCx<'_>) {
                match self { $(Self::$variant(c) => c.on_signal(flow, sign, cx)),* }
            }
            fn on_wake(&mut self, cx: &mut fairlane_net::ControlCx<'_>) {
                match self { $(Self::$variant(c) => c.on_wake(cx)),* }
            }
        }
    };
}

macro_rules! stacks {
    ($($name:literal [$($alias:literal),*] => $variant:ident: $params:ty;)* plugin $plugin:ty;) => {
        $crate::registry_macros::spec! {
            /// A real transport stack with its parameters.
            StackSpec, "stack", "Real transport stack: its name, or a table of its parameters under its name.";
            $($name [$($alias),*] => $variant: $params;)*
            unlisted "plugin" => Plugin: $plugin;
        }

        impl StackSpec {
            /// Names and versions of all stacks.
            pub const VERSIONS: &'static [(&'static str, &'static str)] = &[$(($name, <$params as fairlane_stacks::Implementation>::VERSION)),*];
            /// Name of the stack in tables: that of a plug-in is its own.
            pub fn title(&self) -> &'static str {
                match self { Self::Plugin(p) => p.plugin().map_or("plugin", |p| p.name), other => other.name() }
            }
            /// True if the stack is built into this program.
            pub fn is_built(&self) -> bool {
                match self { $(Self::$variant(_) => <$params as fairlane_stacks::Implementation>::BUILT,)* Self::Plugin(_) => true }
            }
            /// Names of the stacks that are built into this program.
            pub fn built() -> Vec<&'static str> {
                [$(<$params as fairlane_stacks::Implementation>::BUILT.then_some($name)),*].into_iter().flatten().collect()
            }
            /// True if the stack has a source of its own, which runs as long as the flow.
            pub(crate) fn has_media(&self) -> bool {
                match self { $(Self::$variant(_) => <$params as fairlane_stacks::Implementation>::MEDIA,)* Self::Plugin(_) => false }
            }
            /// True if the stack writes a log of its own.
            pub(crate) fn writes_log(&self) -> bool {
                match self { $(Self::$variant(_) => <$params as fairlane_stacks::Implementation>::LOGS,)* Self::Plugin(_) => false }
            }
            /// Header bytes of a datagram on the wire.
            pub(crate) fn header(&self) -> u64 {
                match self { $(Self::$variant(p) => fairlane_stacks::Implementation::header(p),)* Self::Plugin(p) => fairlane_stacks::Implementation::header(p) }
            }
            pub(crate) fn check(&self) -> Result<(), fairlane_net::Problem> {
                match self { $(Self::$variant(p) => fairlane_stacks::Implementation::check(p),)* Self::Plugin(p) => fairlane_stacks::Implementation::check(p) }
            }
            /// Builds the stack of one end of a flow.
            pub(crate) fn build(&self, seat: &fairlane_stacks::Seat) -> Result<Option<Box<dyn fairlane_stacks::Stack>>, String> {
                match self { $(Self::$variant(p) => fairlane_stacks::Implementation::build(p, seat),)* Self::Plugin(p) => fairlane_stacks::Implementation::build(p, seat) }
            }
        }
    };
}

macro_rules! topologies {
    ($($name:literal [$($alias:literal),*] => $module:ident::$variant:ident;)*) => {
        $(mod $module;)*
        $(pub use $module::$variant;)*

        $crate::registry_macros::spec! {
            /// A builder of a regular network with its parameters.
            TopologySpec, "topology", "Builder of a regular network: a table of its parameters under its name.";
            $($name [$($alias),*] => $variant: $variant;)*
        }

        impl Builder for TopologySpec {
            fn filled(&self) -> Self {
                match self { $(Self::$variant(b) => Self::$variant(b.filled())),* }
            }
            fn check(&self) -> Vec<InvalidParameter> {
                match self { $(Self::$variant(b) => b.check()),* }
            }
            fn graph(&self) -> Graph {
                match self { $(Self::$variant(b) => b.graph()),* }
            }
            fn hosts(&self) -> String {
                match self { $(Self::$variant(b) => b.hosts()),* }
            }
        }
    };
}

pub(crate) use {controls, forward_app, forward_qdisc, queues, sources, spec, stacks, topologies};
