/**
 * Units of the bounds in this folder. The folder contains every named bound of the service. Each is one
 * constant with its arithmetic or its reason, in the file of the layer that owns it. Every quantity that can
 * grow with input, load or time has a bound. Pure data, read by all threads.
 */

export const KIB = 1024
export const MIB = 1024 * KIB
export const GIB = 1024 * MIB
