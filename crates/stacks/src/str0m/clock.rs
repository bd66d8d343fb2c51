//! Instants whose wall-clock time str0m sees as the same in every run.
//!
//! str0m writes wall-clock times into reports of RTCP (RFC 3550 section 6.4.1). It takes them from an instant and a reading of the system's clock, which it
//! does once a process (`util/time_tricks.rs`). The report of a call in memory, made before the first run, gives the difference of the two; with it the
//! start of every run is at the same wall-clock time.

use super::{Call, Identity};
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime};
use str0m::net::{Protocol, Receive};
use str0m::rtp::RawPacket;
use str0m::rtp::rtcp::Rtcp;
use str0m::{Event, Input, Output, Rtc, RtcError};

/// Wall-clock time of the start of every run: 2035-01-01T00:00:00Z. str0m counts no time before that of the process; NTP's ends in 2036.
const START: Duration = Duration::from_secs(2_051_222_400);
/// Steps of the call in memory, and their length.
const STEPS: u32 = 5000;
const STEP: Duration = Duration::from_millis(1);

/// Instant of the start of every run.
pub(super) fn start() -> Result<Instant, String> {
    static AT: OnceLock<Result<Instant, String>> = OnceLock::new();
    AT.get_or_init(|| {
        super::seeded(&mut Identity::new(0, "clock", false), |id| measure(id).map_err(|e| e.to_string())?.ok_or_else(missing))
    })
    .clone()
}

fn missing() -> String {
    "no report of RTCP in a call in memory".to_owned()
}

/// Makes a call in memory until its first report; `None` if it makes none.
fn measure(id: &Identity) -> Result<Option<Instant>, RtcError> {
    let begin = Instant::now() + Duration::from_secs(3600);
    let other = Identity::new(id.seed, &id.flow, true);
    let mut ends = [Call::rtc(id, begin, None, true), Call::rtc(&other, begin, None, true)].map(|r| r.ok());
    let mut wire: Vec<(usize, Vec<u8>)> = Vec::new();
    for now in (0..STEPS).map(|i| begin + STEP * i) {
        for (to, datagram) in std::mem::take(&mut wire) {
            let Some(rtc) = &mut ends[to] else { return Ok(None) };
            let (from, own) = (super::address(to == 0), super::address(to == 1));
            rtc.handle_input(Input::Receive(now, Receive::new(Protocol::Udp, from, own, &datagram)?))?;
        }
        for (end, rtc) in ends.iter_mut().enumerate() {
            let Some(rtc) = rtc else { return Ok(None) };
            rtc.handle_input(Input::Timeout(now))?;
            if let Some(wall) = poll(rtc, 1 - end, now, &mut wire)? {
                return Ok(if wall < START { now.checked_add(START - wall) } else { now.checked_sub(wall - START) });
            }
        }
    }
    Ok(None)
}

/// Polls one end; returns the wall-clock time of a report.
fn poll(rtc: &mut Rtc, peer: usize, now: Instant, wire: &mut Vec<(usize, Vec<u8>)>) -> Result<Option<Duration>, RtcError> {
    loop {
        match rtc.poll_output()? {
            Output::Timeout(_) => return Ok(None),
            Output::Transmit(t) => wire.push((peer, t.contents.to_vec())),
            Output::Event(Event::Connected) if peer == 1 => super::write(rtc, now, 0, super::encoder::Frame { bytes: 100, key: true })?,
            Output::Event(Event::RawPacket(raw)) => {
                if let RawPacket::RtcpTx(Rtcp::SenderReport(report)) = &*raw {
                    return Ok(report.sender_info.ntp_time.duration_since(SystemTime::UNIX_EPOCH).ok());
                }
            }
            Output::Event(_) => {}
        }
    }
}
