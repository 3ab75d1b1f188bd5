/**
 * Units of bounds. Every quantity that can grow with input, load or time has a bound: a constant with its
 * arithmetic or its reason, beside its only reader, else in this folder by area (`npm run bounds` lists all).
 * Pure data, read by all threads.
 */

export const KIB = 1024
export const MIB = 1024 * KIB
export const GIB = 1024 * MIB
