//! Dictionaries of a part: texts and numbers by the order in which they come.

/// No place in a dictionary yet.
const NEW: u32 = u32::MAX;
/// Most different numbers in a dictionary.
const NUMBERS: usize = 255;

/// Which texts of a list a part has, in the order in which they come.
#[derive(Default)]
pub(super) struct Used {
    /// By the text's number, its place.
    places: Vec<u32>,
    /// By place, its number.
    pub(super) numbers: Vec<u32>,
}

impl Used {
    /// Makes numbers of texts places.
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

/// Which numbers a part has, while they are few.
pub(super) struct Few {
    /// By hash: the place of a number.
    slots: Box<[u16; 1024]>,
    numbers: Vec<i32>,
}

impl Few {
    pub(super) fn new() -> Self {
        Self { slots: Box::new([u16::MAX; 1024]), numbers: Vec::new() }
    }

    /// Makes numbers places; false, and nothing is made, if they are too many.
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
                            // One more than fits says that they are too many from here on.
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

    /// Those that pages name by place.
    pub(super) fn known(&self) -> &[i32] {
        &self.numbers[..self.numbers.len().min(NUMBERS)]
    }

    pub(super) fn clear(&mut self) {
        self.slots.fill(u16::MAX);
        self.numbers.clear();
    }
}
