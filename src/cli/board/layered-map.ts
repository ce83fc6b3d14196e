const MOST_CHANGES = 64;

/** An immutable map whose change does not copy all of it: a large part, and the few entries that changed since. Keeps the order. */
export class LayeredMap<V extends object> {
  readonly #base: ReadonlyMap<string, V>;
  readonly #changes: ReadonlyMap<string, V>;

  constructor(base: ReadonlyMap<string, V> = new Map(), changes: ReadonlyMap<string, V> = new Map()) {
    this.#base = base;
    this.#changes = changes;
  }

  get size(): number {
    return this.#base.size + this.#added().length;
  }

  get(key: string): V | undefined {
    return this.#changes.get(key) ?? this.#base.get(key);
  }

  with(key: string, value: V): LayeredMap<V> {
    const changes = new Map(this.#changes).set(key, value);
    return changes.size > MOST_CHANGES
      ? new LayeredMap(new Map([...this.#base, ...changes]))
      : new LayeredMap(this.#base, changes);
  }

  entries(): (readonly [string, V])[] {
    const base = [...this.#base].map(([key, value]) => [key, this.#changes.get(key) ?? value] as const);
    return [...base, ...this.#added()];
  }

  #added(): (readonly [string, V])[] {
    return [...this.#changes].filter(([key]) => !this.#base.has(key));
  }
}
