/** `rangeMeta` in the form of requests: declared by the rows of operations, read by the domain. Pure data. */

export const RANGE_BOUNDS = ['gte', 'lte', 'gt', 'lt'] as const
export type RangeBoundName = (typeof RANGE_BOUNDS)[number]
export type RangeBound = string | number

export type RangeInput = Readonly<Partial<Record<RangeBoundName, RangeBound>>> & { readonly field?: string }

/** A list of ranges with their fields, or a map from fields to bounds. */
export type RangesInput = readonly RangeInput[] | Readonly<Record<string, RangeInput>>
