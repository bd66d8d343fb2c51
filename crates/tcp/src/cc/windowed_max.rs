//! Windowed maximum in constant memory.
//!
//! Source: K. Nichols' windowed filter, as BBR uses it (draft-cardwell-iccrg-bbr-congestion-control-00 section 4.1.1.3; Linux 6.x
//! `lib/win_minmax.c`): the best value of the window, the best since it, and the best since that one. When the best becomes too old, the
//! next replaces it. A remembered value is never more than a window old; a value between the three may be forgotten.

/// A value with its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    at: u64,
    value: u64,
}

/// Running maximum over the last `window` units of an increasing clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowedMax {
    window: u64,
    best: [Seen; 3],
}

impl WindowedMax {
    /// Filter without a value: the maximum is 0.
    pub fn new(window: u64) -> Self {
        Self { window, best: [Seen::default(); 3] }
    }

    /// The maximum.
    #[inline]
    pub fn get(&self) -> u64 {
        self.best[0].value
    }

    /// Replaces all values by `value`.
    pub fn reset(&mut self, at: u64, value: u64) {
        self.best = [Seen { at, value }; 3];
    }

    /// Takes a value.
    pub fn update(&mut self, at: u64, value: u64) {
        let new = Seen { at, value };
        let [first, second, third] = &mut self.best;
        if value >= first.value || at - third.at > self.window {
            return self.reset(at, value);
        }
        if value >= second.value {
            (*second, *third) = (new, new);
        } else if value >= third.value {
            *third = new;
        }
        let age = at - first.at;
        if age > self.window {
            // The best is too old, and perhaps the second as well.
            (*first, *second, *third) = (*second, *third, new);
            if at - first.at > self.window {
                (*first, *second, *third) = (*second, *third, new);
            }
        } else if second.at == first.at && age > self.window / 4 {
            // A quarter of the window without a second choice: take this value, to have one when the best expires.
            (*second, *third) = (new, new);
        } else if third.at == second.at && age > self.window / 2 {
            *third = new;
        }
    }
}

#[cfg(test)]
#[path = "windowed_max_tests.rs"]
mod tests;
