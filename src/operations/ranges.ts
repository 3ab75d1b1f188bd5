/** `rangeMeta` as requests carry it: the rows of operations declare it, the domain reads it. Pure data. */

export const RANGE_BOUNDS = ['gte', 'lte', 'gt', 'lt'] as const
export type RangeBoundName = (typeof RANGE_BOUNDS)[number]
export type RangeBound = string | number

export type RangeInput = Readonly<Partial<Record<RangeBoundName, RangeBound>>> & { readonly field?: string }

/** A list of ranges with their fields, or a map from fields to bounds. */
export type RangesInput = readonly RangeInput[] | Readonly<Record<string, RangeInput>>
