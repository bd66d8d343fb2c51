//! Timing of the physical layers: IEEE 802.11-2016 clauses 15 and 16 (DSSS and HR/DSSS: 802.11b), 17 (OFDM: a) and 18 (ERP: g).

use fairlane_units::Dur;

/// How bits are put on the air.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wave {
    /// DSSS and CCK behind the long preamble (clause 16.2.2.2: 144 + 48 us).
    DsssLong,
    /// CCK behind the short preamble (clause 16.2.2.3: 72 + 24 us); 1 Mbit/s has none of it.
    DsssShort,
    /// OFDM in channels of 20 MHz (clause 17.3).
    Ofdm,
    /// OFDM in the 2.4 GHz band, with its signal extension of 6 us (clause 18.3.2.4).
    ErpOfdm,
}

impl Wave {
    /// Preamble and header: what comes before the first bit of the frame. The header is what a receiver decodes first.
    pub const fn header(self) -> Dur {
        Dur::from_us(match self {
            Self::DsssLong => 192,
            Self::DsssShort => 96,
            Self::Ofdm | Self::ErpOfdm => 20,
        })
    }
    /// The preamble alone, by which a receiver finds the frame.
    pub const fn preamble(self) -> Dur {
        Dur::from_us(match self {
            Self::DsssLong => 144,
            Self::DsssShort => 72,
            Self::Ofdm | Self::ErpOfdm => 16,
        })
    }
    /// Returns the rate of the header.
    pub const fn header_tone(self) -> Tone {
        let kbps = match self {
            Self::DsssLong => 1_000,
            Self::DsssShort => 2_000,
            Self::Ofdm | Self::ErpOfdm => 6_000,
        };
        Tone { wave: self, kbps }
    }
    /// The rates of the waveform in kbit/s.
    pub const fn rates(self) -> &'static [u32] {
        match self {
            Self::DsssLong => &[1_000, 2_000, 5_500, 11_000],
            Self::DsssShort => &[2_000, 5_500, 11_000],
            Self::Ofdm | Self::ErpOfdm => &[6_000, 9_000, 12_000, 18_000, 24_000, 36_000, 48_000, 54_000],
        }
    }
}

/// A waveform at a rate: what a frame is sent with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tone {
    /// The waveform.
    pub wave: Wave,
    /// Its rate in kbit/s, one of [`Wave::rates`].
    pub kbps: u32,
}

/// Service and tail bits of an OFDM frame (clause 17.3.2).
const OFDM_EXTRA_BITS: u64 = 16 + 6;
/// Duration of an OFDM symbol (table 17-5).
const SYMBOL_US: u64 = 4;

impl Tone {
    /// A tone; `None` if the waveform has no such rate.
    pub fn new(wave: Wave, kbps: u32) -> Option<Self> {
        wave.rates().contains(&kbps).then_some(Self { wave, kbps })
    }
    /// Time on the air of a frame of `bytes`, FCS included: clause 16.3.4 (whole microseconds) and equation 17-29 (whole symbols).
    pub const fn airtime(self, bytes: u32) -> Dur {
        let bits = 8 * bytes as u64;
        let us = match self.wave {
            Wave::DsssLong | Wave::DsssShort => (bits * 1_000).div_ceil(self.kbps as u64),
            Wave::Ofdm => (bits + OFDM_EXTRA_BITS).div_ceil(self.kbps as u64 * SYMBOL_US / 1_000) * SYMBOL_US,
            Wave::ErpOfdm => (bits + OFDM_EXTRA_BITS).div_ceil(self.kbps as u64 * SYMBOL_US / 1_000) * SYMBOL_US + 6,
        };
        Dur::from_ps(self.wave.header().as_ps() + us * 1_000_000)
    }
}

/// A physical layer with the constants that medium access takes from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standard {
    /// Its name in files.
    pub name: &'static str,
    /// aSlotTime.
    pub slot: Dur,
    /// aSIFSTime.
    pub sifs: Dur,
    /// aCWmin.
    pub cw_min: u32,
    /// aCWmax.
    pub cw_max: u32,
    /// The waveform of data.
    pub wave: Wave,
    /// Rate of the CTS-to-self before each frame, for stations without OFDM (clause 10.3.2.7).
    pub protection: Option<Tone>,
    /// Rates that every station has: answers go at the highest of them that is not above the rate of what they answer (clause 10.7.6.5.2).
    pub basic: &'static [Tone],
}

const fn dsss(kbps: u32) -> Tone {
    Tone { wave: Wave::DsssLong, kbps }
}
const fn ofdm(wave: Wave, kbps: u32) -> Tone {
    Tone { wave, kbps }
}

/// All of them; one more is one more entry. Table 15-5, table 16-4, table 17-21, table 18-5.
pub const STANDARDS: &[Standard] = &[
    Standard {
        name: "802.11b",
        slot: Dur::from_us(20),
        sifs: Dur::from_us(10),
        cw_min: 31,
        cw_max: 1023,
        wave: Wave::DsssLong,
        protection: None,
        basic: &[dsss(1_000), dsss(2_000)],
    },
    Standard {
        name: "802.11b-short",
        slot: Dur::from_us(20),
        sifs: Dur::from_us(10),
        cw_min: 31,
        cw_max: 1023,
        wave: Wave::DsssShort,
        protection: None,
        basic: &[dsss(1_000), Tone { wave: Wave::DsssShort, kbps: 2_000 }],
    },
    Standard {
        name: "802.11a",
        slot: Dur::from_us(9),
        sifs: Dur::from_us(16),
        cw_min: 15,
        cw_max: 1023,
        wave: Wave::Ofdm,
        protection: None,
        basic: &[ofdm(Wave::Ofdm, 6_000), ofdm(Wave::Ofdm, 12_000), ofdm(Wave::Ofdm, 24_000)],
    },
    Standard {
        name: "802.11g",
        slot: Dur::from_us(9),
        sifs: Dur::from_us(10),
        cw_min: 15,
        cw_max: 1023,
        wave: Wave::ErpOfdm,
        protection: None,
        basic: &[ofdm(Wave::ErpOfdm, 6_000), ofdm(Wave::ErpOfdm, 12_000), ofdm(Wave::ErpOfdm, 24_000)],
    },
    Standard {
        name: "802.11g-long-slot",
        slot: Dur::from_us(20),
        sifs: Dur::from_us(10),
        cw_min: 15,
        cw_max: 1023,
        wave: Wave::ErpOfdm,
        protection: None,
        basic: &[ofdm(Wave::ErpOfdm, 6_000), ofdm(Wave::ErpOfdm, 12_000), ofdm(Wave::ErpOfdm, 24_000)],
    },
    Standard {
        name: "802.11g-protected",
        slot: Dur::from_us(20),
        sifs: Dur::from_us(10),
        cw_min: 15,
        cw_max: 1023,
        wave: Wave::ErpOfdm,
        protection: Some(dsss(1_000)),
        basic: &[dsss(1_000), dsss(2_000), ofdm(Wave::ErpOfdm, 6_000), ofdm(Wave::ErpOfdm, 12_000), ofdm(Wave::ErpOfdm, 24_000)],
    },
];

impl Standard {
    /// The standard of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        STANDARDS.iter().find(|s| s.name == name)
    }
    /// All that data can be sent with, slowest first.
    pub fn tones(&self) -> Vec<Tone> {
        // 1 Mbit/s has the long preamble only.
        let long = (self.wave == Wave::DsssShort).then(|| dsss(1_000));
        long.into_iter().chain(self.wave.rates().iter().map(|&kbps| Tone { wave: self.wave, kbps })).collect()
    }
    /// Returns the rate of the answer to a frame sent at `tone`.
    pub fn answer(&self, tone: Tone) -> Tone {
        self.basic.iter().rev().find(|b| b.kbps <= tone.kbps).or(self.basic.first()).copied().unwrap_or(tone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(tone: Tone, bytes: u32) -> u64 {
        tone.airtime(bytes).as_ps() / 1_000_000
    }

    /// Data of 1064 bytes, ACK or CTS of 14 and RTS of 20, as ns-3.37 prints them for its waveforms.
    #[test]
    fn durations_are_those_of_ns3() {
        let table = [
            (dsss(11_000), dsss(1_000), [966, 304, 352]),
            (dsss(2_000), dsss(1_000), [4448, 304, 352]),
            (ofdm(Wave::Ofdm, 54_000), ofdm(Wave::Ofdm, 6_000), [180, 44, 52]),
            (ofdm(Wave::Ofdm, 24_000), ofdm(Wave::Ofdm, 24_000), [376, 28, 28]),
            (ofdm(Wave::Ofdm, 6_000), ofdm(Wave::Ofdm, 6_000), [1444, 44, 52]),
            (ofdm(Wave::ErpOfdm, 54_000), ofdm(Wave::ErpOfdm, 6_000), [186, 50, 58]),
            (ofdm(Wave::ErpOfdm, 6_000), ofdm(Wave::ErpOfdm, 24_000), [1450, 34, 34]),
        ];
        for (data, control, [d, ack, rts]) in table {
            assert_eq!([us(data, 1064), us(control, 14), us(control, 20)], [d, ack, rts], "{data:?}");
        }
    }

    #[test]
    fn the_short_preamble_saves_96_us_and_1_mbps_has_none() {
        let short = Tone::new(Wave::DsssShort, 11_000).unwrap();
        assert_eq!(us(dsss(11_000), 1064) - us(short, 1064), 96);
        assert_eq!(Tone::new(Wave::DsssShort, 1_000), None);
        assert_eq!(Tone::new(Wave::Ofdm, 11_000), None);
    }

    /// Clause 10.7.6.5.2: the highest basic rate that is not above.
    #[test]
    fn answers_go_at_the_highest_basic_rate_not_above() {
        let a = Standard::named("802.11a").unwrap();
        let answers: Vec<u32> = a.wave.rates().iter().map(|&k| a.answer(ofdm(Wave::Ofdm, k)).kbps).collect();
        assert_eq!(answers, [6_000, 6_000, 12_000, 12_000, 24_000, 24_000, 24_000, 24_000]);
        assert_eq!(Standard::named("802.11b").unwrap().answer(dsss(11_000)).kbps, 2_000);
    }
}
