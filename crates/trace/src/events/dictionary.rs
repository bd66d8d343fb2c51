//! Dictionaries of a part: texts and numbers in order of appearance.

/// Marks a text without an index in the dictionary.
const NEW: u32 = u32::MAX;
/// Most different numbers in a dictionary.
const NUMBERS: usize = 255;

/// Texts of a list that a part uses, in order of appearance.
#[derive(Default)]
pub(super) struct Used {
    /// Index of each text.
    places: Vec<u32>,
    /// Text of each index.
    pub(super) numbers: Vec<u32>,
}

impl Used {
    /// Replaces text numbers by dictionary indices.
    pub(super) fn place(&mut self, values: &mut [u32]) {
        for value in values {
            let number = *value as usize;
            if number >= self.places.len() {
                self.places.resize(number + 1, NEW);
            }
            let place = &mut self.places[number];
            if *place == NEW {
                *place = self.numbers.len() as u32;
                self.numbers.push(*value);
            }
            *value = *place;
        }
    }

    pub(super) fn clear(&mut self) {
        for number in self.numbers.drain(..) {
            self.places[number as usize] = NEW;
        }
    }
}

/// Distinct numbers of a part, while they are few.
pub(super) struct Few {
    /// Hash table of dictionary indices.
    slots: Box<[u16; 1024]>,
    numbers: Vec<i32>,
}

impl Few {
    pub(super) fn new() -> Self {
        Self { slots: Box::new([u16::MAX; 1024]), numbers: Vec::new() }
    }

    /// Replaces numbers by dictionary indices; false without any change if there are too many numbers.
    pub(super) fn place(&mut self, values: &[u32], out: &mut Vec<u32>) -> bool {
        if self.numbers.len() > NUMBERS {
            return false;
        }
        out.clear();
        let mut last = (0, NEW);
        for &value in values {
            if (value, false) != (last.0, last.1 == NEW) {
                let mut slot = (value.wrapping_mul(0x9e37_79b1) >> 22) as usize;
                loop {
                    let place = self.slots[slot];
                    if place == u16::MAX {
                        if self.numbers.len() == NUMBERS {
                            // One number too many marks the dictionary as full.
                            self.numbers.push(0);
                            return false;
                        }
                        self.slots[slot] = self.numbers.len() as u16;
                        last = (value, self.numbers.len() as u32);
                        self.numbers.push(value as i32);
                        break;
                    }
                    if self.numbers[usize::from(place)] as u32 == value {
                        last = (value, place.into());
                        break;
                    }
                    slot = (slot + 1) & 1023;
                }
            }
            out.push(last.1);
        }
        true
    }

    /// Numbers of the dictionary.
    pub(super) fn known(&self) -> &[i32] {
        &self.numbers[..self.numbers.len().min(NUMBERS)]
    }

    pub(super) fn clear(&mut self) {
        self.slots.fill(u16::MAX);
        self.numbers.clear();
    }
}
