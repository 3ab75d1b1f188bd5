/**
 * Units of the bounds in this folder. The folder has every named bound of the service, one constant each with
 * its arithmetic or its reason, in the file of the layer that owns it. Nothing that can grow with input, load
 * or time is without one. Pure data, read by all threads.
 */

export const KIB = 1024
export const MIB = 1024 * KIB
export const GIB = 1024 * MIB
