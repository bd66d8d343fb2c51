//! One end of a connection of quinn over a real UDP socket and the clock of the system: the stack that the simulator runs, outside of it.
//!
//! `udp_end send|receive LOCAL PEER CONTROL LEAD SECONDS` starts after LEAD seconds, sends without end, and stops after SECONDS. It prints what it has
//! counted every 10 ms as JSON: time in seconds, bytes delivered, smoothed round-trip time in microseconds, packets lost, congestion window in bytes.
//! `python -m validation.kernel.quic` runs both ends through a live link.

use fairlane_net::{ENDLESS, Ecn};
use fairlane_stacks::{Implementation, QuinnParams, Seat, Stack};
use fairlane_units::Time;
use std::error::Error;
use std::io::{self, Write};
use std::net::UdpSocket;
use std::time::{Duration, Instant};

/// Time between two rows.
const STEP: Duration = Duration::from_millis(10);
/// Longest sleep, as long as a datagram may wait in the socket.
const NAP: Duration = Duration::from_micros(50);

/// Sends all that the stack has to send. A datagram that the socket does not take is lost, as on a link.
fn send_all(stack: &mut dyn Stack, now: Time, socket: &UdpSocket, out: &mut Vec<u8>) {
    out.clear();
    while stack.poll_transmit(now, out).is_some() {
        let _ = socket.send(out);
        out.clear();
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let [role, local, peer, cc, lead, seconds] = given.as_slice() else {
        return Err("expected send|receive LOCAL PEER CONTROL LEAD SECONDS".into());
    };
    let receives = match role.as_str() {
        "send" => false,
        "receive" => true,
        _ => return Err(format!("{role} is neither send nor receive").into()),
    };
    // A socket of the standard library neither sets nor shows the ECN field.
    let params: QuinnParams = serde_json::from_value(serde_json::json!({ "cc": cc, "ecn": false }))?;
    let seat =
        Seat { seed: 1, flow: "f0".to_owned(), receives, opens: !receives, closes: true, streams: true, datagrams: Default::default() };
    let mut stack = params.build(&seat)?.ok_or("quinn is not built")?;
    let socket = UdpSocket::bind(local)?;
    socket.connect(peer)?;
    socket.set_nonblocking(true)?;
    std::thread::sleep(Duration::try_from_secs_f64(lead.parse()?)?);

    let (zero, end) = (Instant::now(), Duration::try_from_secs_f64(seconds.parse()?)?);
    let clock = || Time::from_ps(zero.elapsed().as_nanos() as u64 * 1000);
    let (mut room, mut out) = (vec![0; 1 << 16], Vec::new());
    let (mut rows, mut delivered, mut look) = (Vec::new(), 0, STEP);
    if !receives {
        stack.connect(clock());
        stack.write(clock(), ENDLESS, true);
        send_all(&mut *stack, clock(), &socket, &mut out);
    }
    while zero.elapsed() < end {
        let now = clock();
        let due = stack.poll_timeout().is_some_and(|t| t <= now);
        // An error is an empty socket, or the answer of a peer that has gone.
        let got = socket.recv(&mut room);
        match got {
            Ok(n) => stack.handle(clock(), &room[..n], Ecn::NotEct),
            Err(_) if due => stack.on_timeout(now),
            Err(_) => std::thread::sleep(NAP),
        }
        if got.is_ok() || due {
            send_all(&mut *stack, clock(), &socket, &mut out);
            delivered += stack.delivered();
        }
        if zero.elapsed() >= look {
            let s = stack.state();
            rows.push((look.as_secs_f64(), delivered, s.srtt.as_ps() / 1_000_000, s.lost_packets, s.cwnd));
            look += STEP;
        }
    }
    if let Some(why) = stack.failure() {
        return Err(why.into());
    }
    writeln!(io::stdout().lock(), "{}", serde_json::to_string(&rows)?)?;
    Ok(())
}
