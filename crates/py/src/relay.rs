//! `relay`: live links between devices in real time, for a kernel's TCP. The only code that reads a clock and devices.

use crate::live::LiveLink;
use fairlane_net::Summary;
use fairlane_units::Time;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

const PS_PER_NS: u64 = 1000;
const NS_PER_SEC: u64 = 1_000_000_000;
/// Time before a deadline in which the thread polls the clock instead of sleeping: waking up a processor may take this long.
const SPIN_NS: u64 = 50_000;
/// Delay after which the standby thread checks for an unsent packet.
const BEHIND_NS: u64 = 25_000;
/// Longest interval between its checks.
const LOOK_NS: u64 = 250_000;
/// Interval of checks for Ctrl-C.
const SIGNALS_NS: u64 = 100_000_000;
/// Packets read from one device before the next device.
const TURN: usize = 32;
/// Longest IP packet.
const LONGEST: usize = 1 << 16;
/// Bytes kept per captured packet: both headers with all their options.
const SNAPLEN: usize = 120;
/// Version 2.4 of the pcap format (draft-ietf-opsawg-pcap), nanoseconds, raw IP.
const PCAP: [u32; 6] = [0xa1b2_3c4d, 4 << 16 | 2, 0, 0, SNAPLEN as u32, 101];

/// Reason to stop a relay.
enum Stop {
    Device(&'static str, Errno),
    Signal(PyErr),
}

impl From<Stop> for PyErr {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Device(what, e) => PyOSError::new_err((e.raw_os_error(), format!("cannot {what} the device: {e}"))),
            Stop::Signal(e) => e,
        }
    }
}

/// A link and the devices at its ends, by index in the list of devices.
struct Way {
    link: Py<LiveLink>,
    from: usize,
    to: usize,
}

/// Results so far.
#[derive(Default)]
struct Carried {
    late: Summary,
    refused: u64,
    /// One pcap file per device.
    captures: Vec<Vec<u8>>,
    /// Buffer between device and link.
    buffer: Vec<u8>,
}

impl Carried {
    /// Captures a packet of `len` bytes at device `i`, `ns` after the links' time zero.
    fn capture(&mut self, i: usize, ns: u64, kept: &[u8], len: usize) {
        let Some(file) = self.captures.get_mut(i) else { return };
        for word in [(ns / NS_PER_SEC) as u32, (ns % NS_PER_SEC) as u32, kept.len() as u32, len as u32] {
            file.extend_from_slice(&word.to_le_bytes());
        }
        file.extend_from_slice(kept);
    }
}

/// Nanoseconds of Python's `time.monotonic`.
fn clock() -> u64 {
    let t = clock_gettime(ClockId::Monotonic);
    t.tv_sec as u64 * NS_PER_SEC + t.tv_nsec as u64
}

/// Carries packets over live links between devices until `time.monotonic() == until`, and returns their lateness.
///
/// `ways`: for each link the file descriptors to read packets from and to write them to; they must be non-blocking.
/// `since`: time zero of the links.
#[pyfunction]
#[pyo3(signature = (ways, since, until, capture=false))]
pub(crate) fn relay<'py>(
    py: Python<'py>,
    ways: Vec<(Py<LiveLink>, i32, i32)>,
    since: f64,
    until: f64,
    capture: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let mut fds: Vec<i32> = Vec::new();
    let mut place = |fd: i32| {
        fds.iter().position(|&f| f == fd).unwrap_or_else(|| {
            fds.push(fd);
            fds.len() - 1
        })
    };
    let ways: Vec<Way> = ways.into_iter().map(|(link, from, to)| Way { link, from: place(from), to: place(to) }).collect();
    if fds.iter().any(|&fd| fd < 0) || !(since >= 0.0 && until < 1e9) {
        return Err(PyValueError::new_err("a relay needs open devices, and times of time.monotonic()"));
    }
    let zero = (since * NS_PER_SEC as f64) as u64;
    let finish = (until * NS_PER_SEC as f64) as u64;
    let carried = py.detach(|| carry(&ways, &fds, zero, finish, capture))?;
    let out = PyDict::new(py);
    out.set_item("packets", carried.late.n)?;
    out.set_item("refused", carried.refused)?;
    let us = |ps: f64| ps / 1e6;
    out.set_item("late_p50_us", us(carried.late.quantile(0.5)))?;
    out.set_item("late_p99_us", us(carried.late.quantile(0.99)))?;
    out.set_item("late_p90_us", us(carried.late.quantile(0.9)))?;
    out.set_item("late_max_us", us(carried.late.max as f64))?;
    out.set_item("captures", PyList::new(py, carried.captures.iter().map(|file| PyBytes::new(py, file)))?)?;
    Ok(out)
}

/// Borrows the descriptors for the duration of the relay.
#[allow(unsafe_code)]
fn borrow(fds: &[i32]) -> Vec<BorrowedFd<'_>> {
    // SAFETY: they are not negative; the caller owns them and waits for the relay. A descriptor closed meanwhile is an error of the read, not of memory.
    fds.iter().map(|&fd| unsafe { BorrowedFd::borrow_raw(fd) }).collect()
}

fn carry(ways: &[Way], fds: &[i32], zero: u64, finish: u64, capture: bool) -> Result<Carried, Stop> {
    let devices = borrow(fds);
    let mut carried = Carried { buffer: vec![0; LONGEST], ..Carried::default() };
    if capture {
        let head: Vec<u8> = PCAP.iter().flat_map(|word| word.to_le_bytes()).collect();
        carried.captures = vec![head; fds.len()];
    }
    let relay = Relay { ways, devices: &devices, zero, finish, carried: Mutex::new(carried), over: AtomicBool::new(false) };
    // A page fault costs as much as the transmission of a short packet.
    #[cfg(target_os = "linux")]
    let _ =
        rustix::mm::mlockall(rustix::mm::MlockAllFlags::CURRENT | rustix::mm::MlockAllFlags::FUTURE | rustix::mm::MlockAllFlags::ONFAULT);
    let mine = processors();
    let result = std::thread::scope(|scope| {
        let standby = (mine.len() > 1).then(|| {
            scope.spawn(|| {
                keep_to(&mine[1..]);
                relay.serve(&mut Standby)
            })
        });
        if standby.is_some() {
            keep_to(&mine[..1]);
        }
        let mut first = First { polled: devices.iter().map(|d| PollFd::new(d, PollFlags::IN)).collect(), ask: 0 };
        let served = relay.serve(&mut first);
        relay.over.store(true, Ordering::Relaxed);
        keep_to(&mine);
        served.and(standby.map_or(Ok(()), |s| s.join().unwrap_or(Ok(()))))
    });
    #[cfg(target_os = "linux")]
    let _ = rustix::mm::munlockall();
    result.map(|()| relay.carried.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Processors this thread may use, the current one first.
#[cfg(target_os = "linux")]
fn processors() -> Vec<usize> {
    let all = rustix::thread::sched_getaffinity(None).unwrap_or_default();
    let mut mine: Vec<usize> = (0..rustix::thread::CpuSet::MAX_CPU).filter(|&cpu| all.is_set(cpu)).collect();
    let here = rustix::thread::sched_getcpu();
    mine.sort_by_key(|&cpu| cpu != here);
    mine
}

#[cfg(not(target_os = "linux"))]
fn processors() -> Vec<usize> {
    Vec::new()
}

/// Restricts this thread to some processors, if allowed and if there are any.
fn keep_to(processors: &[usize]) {
    #[cfg(target_os = "linux")]
    if !processors.is_empty() {
        let mut set = rustix::thread::CpuSet::new();
        processors.iter().for_each(|&cpu| set.set(cpu));
        let _ = rustix::thread::sched_setaffinity(None, &set);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = processors;
}

/// Waiting strategy of a thread.
trait Wait {
    /// Waits at `now` for packets to read or for the time `due`.
    fn wait(&mut self, now: u64, due: u64) -> Result<(), Stop>;
}

/// Sleeps until a packet arrives or is due.
struct First<'a> {
    polled: Vec<PollFd<'a>>,
    ask: u64,
}

impl Wait for First<'_> {
    fn wait(&mut self, now: u64, due: u64) -> Result<(), Stop> {
        if now >= self.ask {
            Python::attach(|py| py.check_signals()).map_err(Stop::Signal)?;
            self.ask = now + SIGNALS_NS;
        }
        let Some(long) = due.min(self.ask).checked_sub(now + SPIN_NS) else { return Ok(()) };
        let wait = Timespec { tv_sec: (long / NS_PER_SEC) as i64, tv_nsec: (long % NS_PER_SEC) as i64 };
        match poll(&mut self.polled, Some(&wait)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(e) => Err(Stop::Device("wait for", e)),
        }
    }
}

/// Standby on another processor, slightly later: the first one may be taken by an overcommitted host, or by a kernel
/// section that cannot be interrupted.
struct Standby;

impl Wait for Standby {
    fn wait(&mut self, now: u64, due: u64) -> Result<(), Stop> {
        let until = (due + BEHIND_NS).min(now + LOOK_NS);
        std::thread::sleep(std::time::Duration::from_nanos(until.saturating_sub(now)));
        Ok(())
    }
}

/// Shared state of the threads.
struct Relay<'a> {
    ways: &'a [Way],
    devices: &'a [BorrowedFd<'a>],
    zero: u64,
    finish: u64,
    carried: Mutex<Carried>,
    over: AtomicBool,
}

impl Relay<'_> {
    fn serve(&self, wait: &mut impl Wait) -> Result<(), Stop> {
        while !self.over.load(Ordering::Relaxed) {
            let due = self.turn().inspect_err(|_| self.over.store(true, Ordering::Relaxed))?;
            let now = clock();
            if now >= self.finish {
                return Ok(());
            }
            if due > now {
                wait.wait(now, due.min(self.finish))?;
            }
        }
        Ok(())
    }

    /// Reads incoming packets, and writes one packet that is due; the receiver's answer to it is then read first.
    /// Returns the next due time.
    fn turn(&self) -> Result<u64, Stop> {
        let mut carried = self.carried.lock().unwrap_or_else(PoisonError::into_inner);
        for way in self.ways {
            self.read(way, &mut carried)?;
        }
        let next = self.ways.iter().map(|way| (way.link.get().inner().next(), way)).min_by_key(|&(at, _)| at);
        let Some((at, way)) = next else { return Ok(u64::MAX) };
        let due = self.zero.saturating_add(at.as_ps().div_ceil(PS_PER_NS));
        let now = clock();
        if due <= now {
            self.write(way, now, &mut carried)?;
        }
        Ok(due)
    }

    fn read(&self, way: &Way, carried: &mut Carried) -> Result<(), Stop> {
        for _ in 0..TURN {
            match rustix::io::read(self.devices[way.from], &mut *carried.buffer) {
                Ok(0) | Err(Errno::AGAIN | Errno::INTR) => break,
                Ok(n) => {
                    let ns = clock().saturating_sub(self.zero);
                    way.link.get().inner().offer(Time::from_ps(ns * PS_PER_NS), &carried.buffer[..n]);
                    if !carried.captures.is_empty() {
                        let packet = carried.buffer[..n.min(SNAPLEN)].to_vec();
                        carried.capture(way.from, ns, &packet, n);
                    }
                }
                Err(e) => return Err(Stop::Device("read", e)),
            }
        }
        Ok(())
    }

    /// Writes one due packet, if there is one.
    fn write(&self, way: &Way, now: u64, carried: &mut Carried) -> Result<(), Stop> {
        let at = Time::from_ps(now.saturating_sub(self.zero) * PS_PER_NS);
        let mut failed = None;
        way.link.get().inner().take_one(at, |due, packet| {
            let ns = clock().saturating_sub(self.zero);
            carried.late.add((ns * PS_PER_NS).saturating_sub(due.as_ps()));
            carried.capture(way.to, ns, &packet[..packet.len().min(SNAPLEN)], packet.len());
            match rustix::io::write(self.devices[way.to], packet) {
                Ok(_) => {}
                // Lost, as on a wire: the device is full, down, or does not support the protocol.
                Err(Errno::AGAIN | Errno::INTR | Errno::IO | Errno::INVAL | Errno::NOBUFS) => carried.refused += 1,
                Err(e) => failed = Some(e),
            }
        });
        failed.map_or(Ok(()), |e| Err(Stop::Device("write to", e)))
    }
}
