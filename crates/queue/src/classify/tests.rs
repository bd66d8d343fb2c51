use super::*;
use fairlane_net::{Class, FlowId, FlowInfo, LinkInfo, PacketRef};
use fairlane_testkit::packet::PACKET;
use fairlane_units::{Dur, Rate};

const NAMES: [&str; 6] = ["web.0", "web.1", "web.12", "voice", "a.b", "webcam"];

fn with_flows<R>(f: impl FnOnce(&BuildContext<'_>) -> R) -> R {
    let proto = |name: &str| if name == "voice" { Proto::Udp } else { Proto::Tcp };
    let flows = NAMES.map(|name| FlowInfo { name, from: 0, to: 1, proto: proto(name) });
    f(&BuildContext { link: LinkInfo { rate: Rate::from_mbps(10), delay: Dur::ZERO }, flows: &flows })
}

fn pkt(flow: &str) -> Packet {
    let number = NAMES.iter().position(|n| *n == flow).unwrap() as u32;
    let proto = if flow == "voice" { Proto::Udp } else { Proto::Tcp };
    let (id, flow) = (PacketRef(0), FlowId(number));
    Packet { id, flow, proto, ..PACKET }
}

fn fits(m: &str, p: &Packet) -> bool {
    with_flows(|context| Filter::new(&m.into(), context).fits(p))
}

/// The six bits as the documents print them: RFC 2474 section 4.2.2.2 (xxx000), RFC 2597 section 6, RFC 3246 section 2.7.
#[test]
fn code_points_of_rfc2474_rfc2597_rfc3246() {
    for (name, bits) in [("CS0", 0b000000), ("cs1", 0b001000), ("cs6", 0b110000), ("cs7", 0b111000), ("ef", 0b101110)] {
        assert_eq!(code_point(name), Ok(bits), "{name}");
    }
    // AF class c with drop precedence d: c in the upper three bits, d in the next two.
    for c in 1..=4 {
        for d in 1..=3 {
            assert_eq!(code_point(&format!("AF{c}{d}")), Ok(c << 3 | d << 1));
        }
    }
    assert_eq!(code_point("46"), Ok(46));
    assert_eq!(code_point("64"), Err("64 is not a code point: it has six bits, 0 to 63".into()));
    assert_eq!(code_point("af44"), Err("`af44` is not a code point: did you mean `af41`?".into()));
}

#[test]
fn flow_names_with_groups_and_stars() {
    let all = |m: &str| NAMES.into_iter().filter(|n| fits(m, &pkt(n))).collect::<Vec<_>>();
    assert_eq!(all("flow:web"), ["web.0", "web.1", "web.12"]);
    assert_eq!(all("flow:web.*"), ["web.0", "web.1", "web.12"]);
    assert_eq!(all("flow:web.1"), ["web.1"]);
    assert_eq!(all("flow:web.1*"), ["web.1", "web.12"]);
    assert_eq!(all("flow:web*"), ["web.0", "web.1", "web.12", "webcam"]);
    assert_eq!(all("flow:*e*"), ["web.0", "web.1", "web.12", "voice", "webcam"]);
    // A group of one member bears the group's bare name.
    assert_eq!(all("flow:voice.*"), ["voice"]);
    // `b` is no member's number, so `a.b` is a name, not a member of `a`.
    assert_eq!(all("flow:a"), Vec::<&str>::new());
    assert_eq!(all("flow:*.*"), ["web.0", "web.1", "web.12", "voice", "a.b", "webcam"]);
}

#[test]
fn header_fields() {
    let p = pkt("web.0");
    assert!(fits("tcp", &p) && !fits("udp", &p) && fits("ANY", &p) && fits("*", &p));
    let ef = Packet { class: Class(46), ..p };
    assert!(fits("dscp:ef", &ef) && fits("dscp:46", &ef) && fits("DSCP:EF", &ef) && !fits("dscp:ef", &p));
    for (text, ecn) in [("ecn:not-ect", Ecn::NotEct), ("ecn:ect0", Ecn::Ect0), ("ecn:ect1", Ecn::Ect1), ("ecn:ce", Ecn::Ce)] {
        for other in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
            assert_eq!(fits(text, &Packet { ecn: other, ..p }), ecn == other);
        }
    }
}

/// The first class that fits wins, whatever kind its match is of; what fits none goes to the last.
#[test]
fn first_match_wins_and_the_last_class_takes_the_rest() {
    let classes: Vec<Match> = vec!["dscp:ef".into(), "flow:web.1".into(), ["flow:voice", "ecn:ect1"].into(), "udp".into(), "tcp".into()];
    with_flows(|context| {
        let c = Classifier::new(&classes, context);
        assert_eq!(c.class_of(&pkt("web.1")), 1);
        assert_eq!(c.class_of(&Packet { class: Class(46), ..pkt("web.1") }), 0);
        assert_eq!(c.class_of(&pkt("voice")), 2);
        assert_eq!(c.class_of(&Packet { ecn: Ecn::Ect1, ..pkt("web.0") }), 2);
        assert_eq!(c.class_of(&Packet { ecn: Ecn::Ect1, ..pkt("web.1") }), 1);
        assert_eq!(c.class_of(&pkt("web.0")), 4);
        // A flow that came after the table was made still has its header.
        assert_eq!(c.class_of(&Packet { flow: FlowId(999), ..pkt("voice") }), 3);
        let only_udp = Classifier::new(&["udp".into(), "dscp:ef".into()], context);
        assert_eq!(only_udp.class_of(&pkt("web.0")), 1);
    });
}

#[test]
fn text_in_and_out() {
    let read = |s: &str| serde_json::from_str::<Match>(s);
    assert_eq!(serde_json::to_string(&read(r#""tcp""#).unwrap()).unwrap(), r#""tcp""#);
    assert_eq!(serde_json::to_string(&read(r#"["tcp","dscp:ef"]"#).unwrap()).unwrap(), r#"["tcp","dscp:ef"]"#);
    assert_eq!(serde_json::to_string(&read(r#"["tcp"]"#).unwrap()).unwrap(), r#"["tcp"]"#);
    assert_eq!(read(r#"["tcp"]"#).unwrap(), "tcp".into());
    assert!(read("5").unwrap_err().to_string().contains("a description of packets such as"));
}

#[test]
fn mistakes_come_with_a_suggestion() {
    with_flows(|context| {
        let e = |m: Match| m.check(context).unwrap_err();
        assert_eq!(e("flow:wbe".into()), "no flow is called `wbe`: did you mean `web`?");
        assert_eq!(e("flow:voise".into()), "no flow is called `voise`: did you mean `voice`?");
        assert_eq!(e("flow:x".into()), "no flow is called `x`: flows are web, voice, a.b, webcam, web.0, web.1, web.12");
        assert_eq!(e("tpc".into()), "`tpc` describes no packets: did you mean `tcp`?");
        assert!(e("port:80".into()).contains("write \"tcp\", \"udp\""));
        assert_eq!(e(["tcp", "dscp:af14"].into()), "`af14` is not a code point: did you mean `af11`?");
        assert!(e([].into()).contains("matches nothing"));
        // Without flows nothing can be said about their names.
        assert_eq!(Match::from("flow:wbe").check(&context.link.into()), Ok(()));
    });
}

#[test]
fn only_fields_that_may_change_split_flows() {
    for (m, splits) in [("tcp", false), ("flow:a", false), ("any", false), ("dscp:ef", true), ("ecn:ce", true)] {
        assert_eq!(Match::from(m).splits_flows(), splits, "{m}");
    }
    assert!(!Match::from(["any", "ecn:ce"]).splits_flows());
}
