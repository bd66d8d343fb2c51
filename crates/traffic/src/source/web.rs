//! Web pages: a browser at the flow's receiver, a server at its sender, one persistent connection between them (RFC 9112 section 9.3).
//!
//! Models:
//! - `3gpp`: 3GPP TR 25.892 annex A and 3GPP2 C.R1002, the web-browsing model of IEEE 802.16m's and 802.20's evaluation documents too. A page is a main object and
//!   embedded objects. Sizes are lognormal, given by the mean and standard deviation of the law before it is truncated (mu = 8.35 and sigma = 1.37 for main,
//!   6.17 and 2.36 for embedded objects) and drawn again outside of their bounds. The number of embedded objects is Pareto, cut off with all that lies beyond at
//!   `objects_most`, less `objects_least`: 22 - 550 (2 / 55)^1.1 - 2 = 5.64 in the mean. The page is parsed before its objects are asked for, and read before
//!   the next is.
//! - `rfc7928`: a web user of RFC 7928's traffic mix (section 9) as one object of 700 kB again and again. The size is ours; pages of section 7.2 have 50 objects on six
//!   connections.
//!
//! Deviations: numbers of objects are rounded to the nearest, which keeps their mean. The models differ in the number and the life of their connections; here there
//! is one for all pages, on which objects are asked for one after another, or all at once with `pipelined`. The server takes no time. Of 3GPP's
//! two packet sizes the transport's is used instead.

use super::dialogue::Dialogue;
use super::{Source, Span};
use crate::draw::{Lognormal, Pareto, whole, within};
use fairlane_engine::Stream;
use fairlane_net::{App, AppCx, EpId, FlowId, Problem, Proto, Usage};
use fairlane_units::{Bytes, Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reading time of 3GPP's model (exponential mean).
const READING: Dur = Dur::from_secs(30);

/// Model of a page's size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum WebModel {
    /// A main object and embedded ones of random sizes (3GPP TR 25.892, 3GPP2 C.R1002).
    #[default]
    #[serde(rename = "3gpp")]
    ThreeGpp,
    /// One object of always the same size, again and again (RFC 7928).
    #[serde(rename = "rfc7928")]
    Rfc7928,
}

fairlane_units::params! {
    /// Web loads pages one after another over one persistent connection, from the flow's sender to its receiver, as 3GPP TR 25.892 or RFC 7928 describe them. A transaction
    /// is the loading of a page, from its first request to the last byte of its last object.
    pub struct WebParams {
        /// Model of a page's size.
        pub model: WebModel = WebModel::ThreeGpp,
        /// Size of a request: 350 bytes in IEEE 802.16m's evaluation methodology; ns-3 has 328.
        #[schemars(extend("x-min" = "1B", "x-max" = "1GB"))]
        pub request: Bytes = Bytes(350),
        /// `rfc7928`: size of a page; the default is ours.
        #[schemars(extend("x-min" = "1B", "x-max" = "1TB"))]
        pub page: Bytes = Bytes(700_000),
        /// `3gpp`: mean size of a main object, before truncation (TR 25.892 annex A).
        #[schemars(extend("x-min" = "1B", "x-max" = "1GB"))]
        pub main_mean: Bytes = Bytes(10_710),
        /// `3gpp`: standard deviation of the size of a main object, before truncation (TR 25.892 annex A).
        #[schemars(extend("x-max" = "1GB"))]
        pub main_std: Bytes = Bytes(25_032),
        /// `3gpp`: smallest main object (TR 25.892 annex A).
        #[schemars(extend("x-min" = "1B", "x-max" = "1GB"))]
        pub main_min: Bytes = Bytes(100),
        /// `3gpp`: largest main object (TR 25.892 annex A).
        #[schemars(extend("x-min" = "1B", "x-max" = "1TB"))]
        pub main_max: Bytes = Bytes(2_000_000),
        /// `3gpp`: mean size of an embedded object, before truncation (TR 25.892 annex A).
        #[schemars(extend("x-min" = "1B", "x-max" = "1GB"))]
        pub object_mean: Bytes = Bytes(7758),
        /// `3gpp`: standard deviation of the size of an embedded object, before truncation (TR 25.892 annex A).
        #[schemars(extend("x-max" = "1GB"))]
        pub object_std: Bytes = Bytes(126_168),
        /// `3gpp`: smallest embedded object (TR 25.892 annex A).
        #[schemars(extend("x-min" = "1B", "x-max" = "1GB"))]
        pub object_min: Bytes = Bytes(50),
        /// `3gpp`: largest embedded object (TR 25.892 annex A).
        #[schemars(extend("x-min" = "1B", "x-max" = "1TB"))]
        pub object_max: Bytes = Bytes(2_000_000),
        /// `3gpp`: shape of the Pareto law of the number of embedded objects (alpha of TR 25.892 annex A).
        #[schemars(range(min = 0.1, max = 100.0))]
        pub objects_shape: f64 = 1.1,
        /// `3gpp`: least value of that law, which is subtracted from what is drawn (k of TR 25.892 annex A).
        #[schemars(range(min = 1, max = 10_000))]
        pub objects_least: u32 = 2,
        /// `3gpp`: greatest value of that law (m of TR 25.892 annex A): a page has at most `objects_most - objects_least` embedded objects.
        #[schemars(range(min = 1, max = 10_000))]
        pub objects_most: u32 = 55,
        /// `3gpp`: mean of the exponential time from the main object to the requests of the embedded ones (TR 25.892 annex A).
        #[schemars(extend("x-max" = "1h"))]
        pub parsing: Dur = Dur::from_ms(130),
        /// Mean of the exponential time from the end of a page to the next. Absent: 30 s with `3gpp` (TR 25.892 annex A), none with `rfc7928`.
        #[schemars(extend("x-max" = "1h"))]
        pub reading: Option<Dur> = None,
        /// True if all embedded objects are asked for at once (RFC 9112 section 9.3.2) instead of each after the one before it.
        pub pipelined: bool = false,
        /// Pages after which the flow closes. Absent: no limit.
        #[schemars(range(min = 1))]
        pub pages: Option<u64> = None,
        /// Time after which what is missing of an object is asked for again. Absent: over UDP 5 s (RFC 1035 section 4.2.1); never over TCP, which repeats by itself.
        #[schemars(extend("x-min" = "1ms", "x-max" = "1h"))]
        pub timeout: Option<Dur> = None,
    }
}

impl Source for WebParams {
    type App = Web;

    fn check(&self, _: Proto) -> Result<(), Problem> {
        if self.main_min > self.main_max {
            return Err(Problem::new("main_min", format!("the smallest main object is larger than the largest, {}", self.main_max)));
        }
        if self.object_min > self.object_max {
            return Err(Problem::new(
                "object_min",
                format!("the smallest embedded object is larger than the largest, {}", self.object_max),
            ));
        }
        if self.objects_least > self.objects_most {
            return Err(Problem::new("objects_least", format!("the least number is above the greatest, {}", self.objects_most)));
        }
        Ok(())
    }

    fn fill(&mut self, over: Proto) {
        super::default_timeout(&mut self.timeout, over);
        let reading = if self.model == WebModel::ThreeGpp { READING } else { Dur::ZERO };
        self.reading.get_or_insert(reading);
    }

    fn build(&self, flow: FlowId, start: Time, stop: Option<Time>) -> Web {
        let law = |mean: Bytes, std: Bytes| Lognormal::of(mean.get() as f64, std.get() as f64 / mean.get().max(1) as f64);
        let mut own = self.clone();
        own.fill(Proto::Tcp);
        Web {
            span: Span::new(flow, start, stop),
            talk: Dialogue::new(flow, self.request.get(), self.timeout),
            main: law(self.main_mean, self.main_std),
            object: law(self.object_mean, self.object_std),
            reading: own.reading.unwrap_or_default(),
            left: self.pages.unwrap_or(u64::MAX),
            objects: 0,
            since: Time::ZERO,
            stage: Stage::Reading,
            next: start,
            params: Box::new(own),
        }
    }
}

/// State of the browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The last page is read, until `next`.
    Reading,
    /// The main object is on its way.
    Main,
    /// It is parsed, until `next`.
    Parsing,
    /// Embedded objects are on their way.
    Objects,
    /// There are no more pages.
    Closed,
}

/// A running browser with its server.
#[derive(Clone, Debug)]
pub struct Web {
    span: Span,
    talk: Dialogue,
    main: Lognormal,
    object: Lognormal,
    reading: Dur,
    /// Pages not begun yet.
    left: u64,
    /// Embedded objects not asked for yet.
    objects: u64,
    /// When the page was asked for.
    since: Time,
    stage: Stage,
    next: Time,
    params: Box<WebParams>,
}

impl Web {
    fn main_size(&self, rng: &mut Stream) -> u64 {
        let p = &*self.params;
        match p.model {
            WebModel::Rfc7928 => p.page.get(),
            WebModel::ThreeGpp => truncated(self.main, p.main_min, p.main_max, rng),
        }
    }

    fn object_count(&self, rng: &mut Stream) -> u64 {
        let p = &*self.params;
        if p.model == WebModel::Rfc7928 {
            return 0;
        }
        let (least, most) = (f64::from(p.objects_least), f64::from(p.objects_most));
        let drawn = Pareto { shape: p.objects_shape, least }.draw(rng).min(most);
        whole(drawn - least, 0, (p.objects_most - p.objects_least).into())
    }

    /// Asks for the next page.
    fn open_page(&mut self, cx: &mut AppCx<'_>) {
        self.left -= 1;
        self.since = cx.now;
        self.stage = Stage::Main;
        self.next = Time::MAX;
        let size = self.main_size(cx.rng);
        self.objects = self.object_count(cx.rng);
        self.talk.ask(size, self.left == 0 && self.objects == 0, cx);
    }

    /// Asks for the next embedded object, or for all that are left.
    fn ask_objects(&mut self, cx: &mut AppCx<'_>) {
        self.stage = Stage::Objects;
        self.next = Time::MAX;
        let now = if self.params.pipelined { self.objects } else { 1 };
        for _ in 0..now {
            self.objects -= 1;
            let size = truncated(self.object, self.params.object_min, self.params.object_max, cx.rng);
            self.talk.ask(size, self.left == 0 && self.objects == 0, cx);
        }
    }

    /// An object is there.
    fn loaded(&mut self, cx: &mut AppCx<'_>) {
        if self.stage == Stage::Main && self.objects > 0 {
            self.stage = Stage::Parsing;
            self.next = cx.now + cx.rng.exponential(self.params.parsing);
        } else if self.objects > 0 {
            self.ask_objects(cx);
        } else if self.talk.open() == 0 {
            cx.done(self.span.flow, self.since);
            if self.left == 0 {
                self.stage = Stage::Closed;
                cx.reply(self.span.flow, 0, true);
            } else {
                self.stage = Stage::Reading;
                self.next = cx.now + cx.rng.exponential(self.reading);
            }
        }
    }
}

impl App for Web {
    fn starts_at(&self) -> Time {
        self.span.start
    }

    fn on_wake(&mut self, cx: &mut AppCx<'_>) {
        if self.span.both_over(cx) {
            return;
        }
        self.talk.ask_again(cx);
        if self.next <= cx.now {
            match self.stage {
                Stage::Reading => self.open_page(cx),
                Stage::Parsing => self.ask_objects(cx),
                Stage::Main | Stage::Objects | Stage::Closed => {}
            }
        }
        cx.wake_at(self.next.min(self.talk.next_due()).min(self.span.stop));
    }

    fn on_delivered(&mut self, at: EpId, bytes: u64, cx: &mut AppCx<'_>) {
        if cx.now >= self.span.stop {
            return;
        }
        let mut bytes = self.talk.on_delivered(at, bytes, cx);
        while self.talk.take(&mut bytes).is_some() {
            self.loaded(cx);
        }
        cx.wake_at(self.next.min(self.talk.next_due()).min(self.span.stop));
    }

    fn listens(&self) -> bool {
        true
    }

    fn usage(&self) -> Usage {
        Usage { dialogue: true, amounts: true }
    }
}

/// A size of this law between bounds, both included.
fn truncated(law: Lognormal, min: Bytes, max: Bytes, rng: &mut Stream) -> u64 {
    whole(within(min.get() as f64, max.get() as f64, || law.draw(rng)), min.get(), max.get())
}

#[cfg(test)]
#[path = "web_tests.rs"]
mod tests;
