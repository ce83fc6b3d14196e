/** A parser that throws for a wrong value, or the values that there are. `before`: the value of the same flag before. */
type Values = ((text: string, before: never) => unknown) | readonly string[];

/** A flag as commander reads it, `--name <value>`, and its help; without help it is hidden. */
export type Flag = readonly [flag: string, about?: string, values?: Values];

/** An argument as commander reads it, `<name>` or `[name...]`. */
export type Word = readonly [word: string, about: string, choices?: readonly string[]];

type Name<F> = F extends `--no-${infer N}`
  ? N
  : F extends `--${infer N} ${string}`
    ? N
    : F extends `--${infer N}`
      ? N
      : never;
type Camel<S> = S extends `${infer First}-${infer Rest}` ? `${First}${Capitalize<Camel<Rest>>}` : S;
type Value<F extends Flag> = F[0] extends `${string} [${string}`
  ? Text<F[2]> | true
  : F[0] extends `${string} <${string}`
    ? Text<F[2]>
    : boolean;
type Text<V> = V extends (text: string, before: never) => infer R ? R : V extends readonly (infer C)[] ? C : string;

/** The values of these flags, by their names. */
export type Given<Flags extends readonly Flag[]> = {
  readonly [F in Flags[number] as Camel<Name<F[0]>> & string]?: Value<F>;
};

/** `--max-usd <n>` → `max-usd`, `[run]` → `run`. */
export function nameOf([text]: Flag | Word): string {
  return /[a-z][\w-]*/.exec(text)?.[0] ?? '';
}

/** Arguments that give another process of squad these values. A value is part of its flag, so that none is taken for a flag. */
export function argumentsOf(flags: readonly Flag[], given: object): string[] {
  return flags.flatMap((flag) => {
    const name = nameOf(flag);
    const key = name.replace(/^no-/, '').replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    const value = (given as Readonly<Record<string, string | number | boolean | object | undefined>>)[key];
    if (typeof value === 'boolean') return value === !name.startsWith('no-') ? [`--${name}`] : [];
    if (value === undefined || name.startsWith('no-')) return [];
    if (typeof value === 'object') return Object.entries(value).map(([of, one]) => `--${name}=${of}=${String(one)}`);
    return [`--${name}=${String(value)}`];
  });
}
