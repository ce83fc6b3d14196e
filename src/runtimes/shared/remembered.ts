/**
 * Limit on entries of one kind (open tools, denials) in a translator or a watchdog. Each line creates a new state, so without a
 * limit a program that names millions of them would cost quadratic time.
 */
export const MOST_REMEMBERED = 200;

/** The list with one more item, unless it is full. Pure. */
export function remembered<Item>(list: readonly Item[], item: Item): readonly Item[] {
  return list.length >= MOST_REMEMBERED ? list : [...list, item];
}

/** The map with one more entry, unless it is full. Pure. */
export function rememberedAs<Value>(
  map: ReadonlyMap<string, Value>,
  key: string,
  value: Value,
): ReadonlyMap<string, Value> {
  return map.size >= MOST_REMEMBERED && !map.has(key) ? map : new Map(map).set(key, value);
}
