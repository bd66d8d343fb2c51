//! The match language: which packets belong to a class, written as text and compiled into two table look-ups a packet.

use fairlane_net::{BuildContext, Ecn, Packet, Proto};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// Names of code points with their six bits: RFC 2474 section 4.2 (class selectors, default), RFC 2597 section 6 (assured
/// forwarding), RFC 3246 (expedited forwarding), RFC 5865 (voice-admit), RFC 8622 (lower effort).
pub const CODE_POINTS: [(&str, u8); 25] = [
    ("df", 0),
    ("be", 0),
    ("le", 1),
    ("cs0", 0),
    ("cs1", 8),
    ("cs2", 16),
    ("cs3", 24),
    ("cs4", 32),
    ("cs5", 40),
    ("cs6", 48),
    ("cs7", 56),
    ("af11", 10),
    ("af12", 12),
    ("af13", 14),
    ("af21", 18),
    ("af22", 20),
    ("af23", 22),
    ("af31", 26),
    ("af32", 28),
    ("af33", 30),
    ("af41", 34),
    ("af42", 36),
    ("af43", 38),
    ("va", 44),
    ("ef", 46),
];

const WORDS: [&str; 7] = ["any", "tcp", "udp", "ecn:not-ect", "ecn:ect0", "ecn:ect1", "ecn:ce"];

/// The six bits of a code point written as a number or a name.
pub fn code_point(text: &str) -> Result<u8, String> {
    let lower = text.trim().to_ascii_lowercase();
    if let Some(&(_, bits)) = CODE_POINTS.iter().find(|(name, _)| *name == lower) {
        return Ok(bits);
    }
    match lower.parse::<u64>() {
        Ok(n @ 0..=63) => Ok(n as u8),
        Ok(n) => Err(format!("{n} is not a code point: it has six bits, 0 to 63")),
        Err(_) => {
            let names = CODE_POINTS.iter().map(|c| c.0);
            Err(format!("`{text}` is not a code point: {}", hint(&lower, names, "write a number from 0 to 63 or a name such as `ef`")))
        }
    }
}

/// Packets by a description: `"tcp"`, `"udp"`, `"dscp:46"` or `"dscp:ef"`, `"flow:web.*"`, `"ecn:ect1"`, `"any"`, or a list of
/// these, of which one must fit.
///
/// It keeps the text; [`Match::check`] says what is wrong with it where the flows are known.
#[derive(Clone, Debug)]
pub struct Match {
    texts: Vec<String>,
    /// True if it was written as a list: it is given back as it came.
    list: bool,
}

impl PartialEq for Match {
    fn eq(&self, other: &Self) -> bool {
        self.texts == other.texts
    }
}

impl Eq for Match {}

/// One description, read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pattern<'a> {
    Any,
    Proto(Proto),
    Dscp(u8),
    Ecn(Ecn),
    Flow(&'a str),
}

impl Default for Match {
    fn default() -> Self {
        "any".into()
    }
}

impl From<&str> for Match {
    fn from(text: &str) -> Self {
        Self { texts: vec![text.to_owned()], list: false }
    }
}

impl<const N: usize> From<[&str; N]> for Match {
    fn from(texts: [&str; N]) -> Self {
        Self { texts: texts.map(str::to_owned).to_vec(), list: true }
    }
}

fn read(text: &str) -> Result<Pattern<'_>, String> {
    let text = text.trim();
    if let Some((kind, rest)) = text.split_once(':') {
        match kind.to_ascii_lowercase().as_str() {
            "dscp" => return code_point(rest).map(Pattern::Dscp),
            "flow" => return Ok(Pattern::Flow(rest)),
            _ => {}
        }
    }
    let lower = text.to_ascii_lowercase();
    Ok(match lower.as_str() {
        "any" | "*" => Pattern::Any,
        "tcp" => Pattern::Proto(Proto::Tcp),
        "udp" => Pattern::Proto(Proto::Udp),
        "ecn:not-ect" => Pattern::Ecn(Ecn::NotEct),
        "ecn:ect0" => Pattern::Ecn(Ecn::Ect0),
        "ecn:ect1" => Pattern::Ecn(Ecn::Ect1),
        "ecn:ce" => Pattern::Ecn(Ecn::Ce),
        _ => {
            let forms = "write \"tcp\", \"udp\", \"dscp:ef\", \"flow:NAME\", \"ecn:ect1\" or \"any\"";
            return Err(format!("`{text}` describes no packets: {}", hint(&lower, WORDS, forms)));
        }
    })
}

impl Match {
    /// The descriptions, as written.
    pub fn patterns(&self) -> &[String] {
        &self.texts
    }

    /// True if every description can be read and names flows that exist; a site without flows knows of none yet.
    pub fn check(&self, context: &BuildContext<'_>) -> Result<(), String> {
        if self.texts.is_empty() {
            return Err("an empty list matches nothing: write \"any\" to match every packet".into());
        }
        for text in &self.texts {
            let Pattern::Flow(name) = read(text)? else { continue };
            let flows = context.flows();
            if !flows.is_empty() && !flows.iter().any(|f| names_flow(name, f.name)) {
                let mut known: Vec<&str> = flows.iter().map(|f| group(f.name)).chain(flows.iter().map(|f| f.name)).collect();
                let mut seen = std::collections::BTreeSet::new();
                known.retain(|k| seen.insert(*k));
                let list = format!("flows are {}", listed(&known));
                return Err(format!("no flow is called `{name}`: {}", hint(name, known, &list)));
            }
        }
        Ok(())
    }

    /// True if packets of one flow can differ in it, because a queue on their way or their sender changes the field it reads.
    pub fn splits_flows(&self) -> bool {
        let patterns = || self.texts.iter().filter_map(|t| read(t).ok());
        !patterns().any(|p| p == Pattern::Any) && patterns().any(|p| matches!(p, Pattern::Dscp(_) | Pattern::Ecn(_)))
    }
}

/// The group of a flow: its name without the member's number.
fn group(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((group, member)) if !member.is_empty() && member.bytes().all(|b| b.is_ascii_digit()) => group,
        _ => name,
    }
}

/// True if `pattern` names the flow `name`: by its name, by its group's, or with `*` for any run of characters. `web.*` also
/// names the flow `web`, which is what a group of one member is called.
fn names_flow(pattern: &str, name: &str) -> bool {
    glob(pattern, name) || glob(pattern, group(name)) || pattern.strip_suffix(".*").is_some_and(|g| glob(g, name))
}

fn glob(pattern: &str, name: &str) -> bool {
    let (p, n) = (pattern.as_bytes(), name.as_bytes());
    let (mut i, mut k) = (0, 0);
    // Where the last star stands and how much of the name it has taken.
    let mut star: Option<(usize, usize)> = None;
    while k < n.len() {
        if i < p.len() && p[i] == b'*' {
            star = Some((i, k));
            i += 1;
        } else if i < p.len() && p[i] == n[k] {
            (i, k) = (i + 1, k + 1);
        } else if let Some((at, taken)) = star {
            star = Some((at, taken + 1));
            (i, k) = (at + 1, taken + 1);
        } else {
            return false;
        }
    }
    p[i..].iter().all(|&c| c == b'*')
}

pub(crate) fn listed(names: &[&str]) -> String {
    let mut text = names.iter().take(12).copied().collect::<Vec<_>>().join(", ");
    if names.len() > 12 {
        text.push_str(", ...");
    }
    text
}

/// The known word most like the one written, or else the general advice.
pub(crate) fn hint<'a>(word: &str, known: impl IntoIterator<Item = &'a str>, or_else: &str) -> String {
    let close =
        known.into_iter().map(|k| (distance(word, k), k)).min().filter(|&(d, k)| d <= 1 + word.len().max(k.len()) / 4 && d < k.len());
    close.map_or_else(|| or_else.to_owned(), |(_, k)| format!("did you mean `{k}`?"))
}

/// Edit distance with swaps of neighbours (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut d: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let mut least = (d[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1])).min(d[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(d[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        d.push(row);
    }
    d[a.len()][b.len()]
}

impl Serialize for Match {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self.texts.as_slice() {
            [one] if !self.list => s.serialize_str(one),
            list => list.serialize(s),
        }
    }
}

impl<'de> Deserialize<'de> for Match {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a description of packets such as \"tcp\", or a list of them")]
        enum Text {
            One(String),
            List(Vec<String>),
        }
        Ok(match Text::deserialize(d)? {
            Text::One(text) => text.as_str().into(),
            Text::List(texts) => Self { texts, list: true },
        })
    }
}

impl JsonSchema for Match {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Match".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "array", "items": { "type": "string" } }, { "type": "string" }] })
    }
}

/// Bits of DSCP, ECN field and protocol.
const HEADERS: usize = 64 * 4 * 2;

#[inline]
fn header(class: u8, ecn: u8, proto: Proto) -> usize {
    usize::from(class & 63) << 3 | usize::from(ecn) << 1 | usize::from(proto == Proto::Udp)
}

/// Matches compiled: the first one that fits a packet, or else the last. What depends on the flow is looked up by its number,
/// what depends on the header by its bits; the first match overall is the smaller of the two.
#[derive(Clone, Debug)]
pub struct Classifier {
    by_flow: Vec<u16>,
    by_header: Box<[u16; HEADERS]>,
}

impl Classifier {
    /// Most classes that a classifier can distinguish.
    pub const MOST: usize = u16::MAX as usize;

    /// Compiles the matches of as many classes, in order. What cannot be read matches nothing; see [`Match::check`].
    pub fn new<'a>(matches: impl IntoIterator<Item = &'a Match>, context: &BuildContext<'_>) -> Self {
        let matches: Vec<&Match> = matches.into_iter().take(Self::MOST).collect();
        let last = matches.len().saturating_sub(1) as u16;
        let mut by_header = Box::new([last; HEADERS]);
        let mut by_flow = Vec::new();
        for (class, m) in (0..=last).zip(&matches).rev() {
            for pattern in m.texts.iter().filter_map(|t| read(t).ok()) {
                if let Pattern::Flow(name) = pattern {
                    let flows = context.flows();
                    by_flow.resize(flows.len(), last);
                    let named = flows.iter().zip(&mut by_flow).filter(|(f, _)| names_flow(name, f.name));
                    named.for_each(|(_, c)| *c = class);
                    continue;
                }
                for (i, c) in by_header.iter_mut().enumerate() {
                    let (dscp, ecn, udp) = ((i >> 3) as u8, (i >> 1) as u8 & 3, i & 1 == 1);
                    let fits = match pattern {
                        Pattern::Any => true,
                        Pattern::Proto(p) => udp == (p == Proto::Udp),
                        Pattern::Dscp(d) => d == dscp,
                        Pattern::Ecn(e) => e as u8 == ecn,
                        Pattern::Flow(_) => false,
                    };
                    if fits {
                        *c = class;
                    }
                }
            }
        }
        Self { by_flow, by_header }
    }

    /// The class of a packet.
    #[inline]
    pub fn class_of(&self, p: &Packet) -> usize {
        let by_header = self.by_header[header(p.class.0, p.ecn as u8, p.proto)];
        let by_flow = self.by_flow.get(p.flow.0 as usize).copied().unwrap_or(u16::MAX);
        usize::from(by_header.min(by_flow))
    }
}

/// One match compiled: whether it fits a packet.
#[derive(Clone, Debug)]
pub struct Filter(Classifier);

impl Filter {
    /// Compiles a match.
    pub fn new(m: &Match, context: &BuildContext<'_>) -> Self {
        Self(Classifier::new([m, &Match::default()], context))
    }

    /// True if the packet fits.
    #[inline]
    pub fn fits(&self, p: &Packet) -> bool {
        self.0.class_of(p) == 0
    }
}

#[cfg(test)]
mod tests;
