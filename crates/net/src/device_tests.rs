//! A device in closed arithmetic: packets of one length, back to back.

use super::Device;
use fairlane_units::{Len, Time};

/// Sends packets that need `tx` each as soon as there is room. Returns when each left the queue, and when its transmission began.
fn run(room: Len, tx: u64, lens: &[u32]) -> Vec<(u64, u64)> {
    let mut device = Device::new(room).unwrap();
    let mut now = Time::ZERO;
    let mut out = Vec::new();
    for &len in lens {
        let begins = device.begins(now);
        let end = Time::from_ps(begins.as_ps() + tx);
        out.push((now.as_ps(), begins.as_ps()));
        now = device.take(now, end, len, 0);
    }
    out
}

#[test]
fn a_packet_leaves_the_queue_as_many_transmissions_early_as_the_device_holds() {
    // The k-th transmission begins at 10 k; its packet left the queue when the one n places ahead began.
    for n in 1..5 {
        let got = run(Len::Packets(n), 10, &[1500; 12]);
        let want: Vec<_> = (0..12).map(|k: u64| (10 * k.saturating_sub(n), 10 * k)).collect();
        assert_eq!(got, want, "{n}");
    }
}

#[test]
fn bytes_are_a_bound_that_one_packet_may_pass() {
    // 3000 bytes: a third packet waits while two of 1500 fill it. 3001: it takes that one, too.
    let left = |bytes| run(Len::Bytes(bytes), 10, &[1500; 6]).iter().map(|l| l.0).collect::<Vec<_>>();
    assert_eq!(left(3000), [0, 0, 0, 10, 20, 30]);
    assert_eq!(left(3001), [0, 0, 0, 0, 10, 20]);
    assert_eq!(left(1), [0, 0, 10, 20, 30, 40]);
    // A small packet leaves room for the next.
    let mixed: Vec<_> = run(Len::Bytes(1500), 10, &[1500, 100, 1500, 1500]).iter().map(|l| l.0).collect();
    assert_eq!(mixed, [0, 0, 0, 20]);
}

#[test]
fn nothing_is_no_device() {
    assert_eq!(Device::new(Len::Packets(0)), None);
    assert_eq!(Device::new(Len::Bytes(0)), None);
}

#[test]
fn an_idle_transmitter_takes_a_packet_at_once() {
    let mut device = Device::new(Len::Packets(1)).unwrap();
    let at = Time::from_ps;
    assert_eq!(device.take(at(0), at(10), 1, 0), at(0));
    assert_eq!(device.begins(at(50)), at(50));
    assert_eq!(device.take(at(50), at(60), 1, 0), at(50), "there is room while one is on the link alone");
    assert_eq!(device.take(at(50), at(70), 1, 0), at(60), "and none while one waits");
    assert_eq!([at(59), at(60)].map(|now| device.ahead(now)), [1, 0]);
}
