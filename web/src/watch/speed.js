// Speed of the animation: seconds of network per second of the clock on the wall.

const SLOWEST = 1e-6;
const FASTEST = 100;
const STEPS = 20; // of the slider per factor of ten
const FOLLOWED = 6; // seconds of the wall at a speed at which packets can be followed
const DOUBLES = 1.5; // seconds of the wall in which the speed then doubles
const CROSSED = 0.7; // seconds of the wall for a gap in which nothing happens
const CROSSING = 1.5; // seconds of the wall that a packet takes over the slowest link at first
const WHOLE = 60; // seconds of the wall for a whole run, in the end
const UNITS = [[1, "s"], [1e-3, "ms"], [1e-6, "\u00b5s"]];

/** Describes a speed: "16 ms of network a second". */
export function speedWords(speed) {
  let short = Number(speed.toPrecision(2));
  const [size, unit] = UNITS.find(([s]) => short >= s) ?? UNITS[2];
  short = Number((short / size).toPrecision(2));
  return `${short} ${unit} of network a second`;
}

/** Positions of the speed slider. */
export const MOST = STEPS * Math.log10(FASTEST / SLOWEST);
export const toSpeed = (position) => Math.min(FASTEST, SLOWEST * 10 ** (position / STEPS));
export const toPosition = (speed) => Math.round(STEPS * Math.log10(Math.max(SLOWEST, Math.min(FASTEST, speed)) / SLOWEST));

/** Rounds up to 1, 2 or 5 times a power of ten. */
function rounded(value) {
  const ten = 10 ** Math.floor(Math.log10(value));
  return ten * ([1, 2, 5].find((k) => k * ten >= value * 0.999) ?? 10);
}

/** Speed that begins slowly, so that packets can be followed, and grows until the whole run takes about a minute. */
export class Automatic {
  /** `pace`: longest time of a packet on a link in seconds; `span`: length of the run in seconds. */
  constructor(pace, span) {
    this.slow = Math.max(SLOWEST, pace / CROSSING);
    this.fast = Math.max(this.slow, rounded(Math.max(SLOWEST, span / WHOLE)));
    this.restart();
  }

  restart() {
    this.speed = this.slow;
    this.followed = 0;
  }

  /** Returns the speed for the next `seconds` of the wall; `quiet`: seconds of network until something happens, 0 if packets are in view. */
  next(seconds, quiet) {
    if (quiet > 0) return Math.min(FASTEST, Math.max(this.speed, quiet / CROSSED));
    this.followed += seconds;
    if (this.followed > FOLLOWED) this.speed = Math.min(this.fast, this.speed * 2 ** (seconds / DOUBLES));
    return this.speed;
  }
}
