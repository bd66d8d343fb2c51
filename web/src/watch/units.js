// Rates and times as text.

import { digits } from "../text.js";

export const rateText = (v) => (v >= 1e9 ? `${digits(v / 1e9)} Gbit/s` : v >= 1e6 ? `${digits(v / 1e6)} Mbit/s` : v >= 1e3 ? `${digits(v / 1e3)} kbit/s` : `${digits(v)} bit/s`);
export const spanText = (ns) => (ns >= 1e9 ? `${digits(ns / 1e9)} s` : ns >= 1e6 ? `${digits(ns / 1e6)} ms` : ns >= 1e3 ? `${digits(ns / 1e3)} µs` : `${digits(ns)} ns`);
