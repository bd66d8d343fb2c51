//! Queues in the notation of tc: the registered reader makes them, wherever a queue is read.

use fairlane_scenario::{Code, Format, TcNotRead, TcRead, read_tc_with, resolve};
use serde_json::json;

const TEXT: &str = "duration = \"10s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"10Mbit/s\"\ndelay = \"20ms\"\n\
                    queue = \"tc: line 30\"\nreverse.queue.tbf.queue = \"tc: line 7\"\n\
                    [flows.f]\nfrom = \"a\"\nto = \"b\"\ntcp = \"newreno\"\n";

/// Reads `line N` as a DropTail of N packets.
fn reader(line: &str) -> Result<TcRead, TcNotRead> {
    match line.trim().strip_prefix("line ").map(str::parse::<u32>) {
        Some(Ok(n)) => Ok(TcRead { queue: json!({ "droptail": { "limit": format!("{n}p") } }), notes: vec![format!("{n} is read")] }),
        _ => Err(TcNotRead { word: "odd".to_owned(), message: "an odd word".to_owned(), help: "write line 3".to_owned() }),
    }
}

#[test]
fn lines_of_tc_are_read_by_the_registered_reader() {
    read_tc_with(reader);
    let sets = [("links.l.reverse.queue.tbf.limit".to_owned(), "9p".to_owned())];
    let resolved = resolve(TEXT, "x.toml", Format::Toml, &sets).unwrap();
    let links = &resolved.to_json()["links"]["l"];
    assert_eq!(links["queue"]["droptail"]["limit"], "30p");
    assert_eq!(links["reverse"]["queue"]["tbf"]["queue"]["droptail"]["limit"], "7p");
    let told: Vec<_> = resolved.warnings().iter().filter(|w| w.code == Code::NotModelled).map(|w| w.text.as_str()).collect();
    assert_eq!(told, ["30 is read", "7 is read"]);
}

#[test]
fn a_mistake_is_shown_at_its_word() {
    read_tc_with(reader);
    let found = resolve(&TEXT.replace("line 30", "an odd line"), "x.toml", Format::Toml, &[]).unwrap_err();
    assert_eq!(found.list.len(), 1, "{found}");
    let d = &found.list[0];
    assert_eq!((d.code, d.line, d.column, d.end_column), (Code::BadTc, Some(7), 17, 20), "{found}");
}
